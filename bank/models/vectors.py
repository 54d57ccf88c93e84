"""The embeddings of pages."""

from typing import ClassVar

from django.db import models

from bank.models.pages import Page


class PageVector(models.Model):
    """One embedding of one page of the bank by one model: little-endian float32 without a header.

    `text_sha` is that of the page's whole text when the vector was made.
    """

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    model = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    text_sha = models.CharField(max_length=64)
    indexed_at = models.DateTimeField()
    vector = models.BinaryField()  # last: a row's head is read without its pages

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["page", "model"], name="one_page_vector_a_model")
        ]
        # All that a vector's state depends on, so no count of states reads a vector.
        indexes: ClassVar = [
            models.Index(
                fields=["page", "model", "dimension", "text_sha"], name="page_vector_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.page_id} by {self.model}"
