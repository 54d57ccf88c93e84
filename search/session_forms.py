"""The forms of the session pages. They ask; what is allowed the writers decide."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from episodes.forms import Filters
from episodes.models import Context, Memory
from episodes.schemas import VECTOR_STATES, read
from episodes.session_schemas import (
    ContextFilter,
    ContextOrder,
    ContextPatch,
    MemoryFilter,
    MemoryIn,
    MemoryPatch,
    SessionIn,
)
from memoryweb.core.errors import Invalid
from memoryweb.core.forms import Text
from memoryweb.core.vectors import MAX_DIMENSION, Vector
from search import recall
from search.schemas import QUERY_CHARACTERS

ANY = ("", "any")
TYPES = [(value, value) for value in Memory.Type.values]
STATUSES = [(value, value) for value in Context.Status.values]
ORDERS = [
    ("-updated_at", "last changed first"),
    ("-created_at", "newest first"),
    ("created_at", "oldest first"),
]
SKIPS = {
    "no_vector": "no vector to compare",
    "dimension": "another width",
    "model": "another model only",
}
VECTOR_CHARACTERS = 400_000  # 8,192 numbers as JSON writes them


class ContextFilters(Filters):
    LATENT = ("order",)

    q = forms.CharField(required=False, max_length=1000, strip=False, label="Text")
    status = forms.ChoiceField(required=False, choices=[ANY, *STATUSES])
    type = forms.ChoiceField(required=False, choices=[ANY, *TYPES], label="Has a")
    order = forms.ChoiceField(required=False, choices=ORDERS)

    def wanted(self) -> ContextFilter:
        """The filter that was asked for; everything when the form is not valid."""
        if not self.is_valid():
            return ContextFilter()
        return read(ContextFilter, {k: v for k, v in self.given().items() if k != "order"})

    def order_of_list(self) -> ContextOrder:
        return (self.is_valid() and self.cleaned_data["order"]) or "-updated_at"


class MemoryFilters(Filters):
    LATENT = ("model", "dimension")

    q = forms.CharField(required=False, max_length=1000, strip=False, label="Text")
    type = forms.ChoiceField(required=False, choices=[ANY, *TYPES])
    vector = forms.ChoiceField(required=False, choices=[ANY, *VECTOR_STATES.items()])
    state = forms.ChoiceField(
        required=False,
        label="Kept",
        choices=[("", "served"), ("archived", "archived"), ("quarantined", "in quarantine")],
    )
    skipped = forms.ChoiceField(
        required=False, label="Skipped", choices=[ANY, *SKIPS.items()], widget=forms.HiddenInput
    )
    model = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    dimension = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_DIMENSION, widget=forms.HiddenInput
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("skipped") and not given.get("model"):
            self.add_error("skipped", "Name the model that was compared.")
        if given.get("skipped") == "dimension" and not given.get("dimension"):
            self.add_error("skipped", "Name the width that was compared.")
        return given

    def wanted(self) -> MemoryFilter:
        """What of it the API knows as well; everything when the form is not valid."""
        if not self.is_valid():
            return MemoryFilter()
        given = {k: v for k, v in self.given().items() if k in ("q", "type", "vector")}
        return read(MemoryFilter, given | {"archived": self.cleaned_data["state"] == "archived"})


class ContextForm(forms.Form):
    """What a person may say of a context. Only what was changed is sent to the writer."""

    name = forms.CharField(max_length=500)
    intent = Text(
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text="What the session is for. Without a query, recall goes by it.",
    )

    @classmethod
    def of(cls, context: Context, data: Any = None) -> "ContextForm":
        return cls(data, initial={"name": context.name, "intent": context.intent})

    def patch(self) -> ContextPatch:
        """What was changed. Raises Invalid."""
        return read(ContextPatch, {name: self.cleaned_data[name] for name in self.changed_data})


class NewContextForm(ContextForm):
    """A context to begin: what a person says of it, and the id that agents save under."""

    context_id = forms.CharField(
        label="Id",
        max_length=200,
        widget=forms.TextInput({"class": "mono", "spellcheck": "false"}),
        help_text="What agents save under: a branch, an issue, a project. It cannot be changed.",
    )
    field_order = ("name", "context_id", "intent")

    def session(self) -> SessionIn:
        """The context to save. Raises Invalid."""
        return read(SessionIn, self.cleaned_data)


class MemoryForm(forms.Form):
    """One memory, to add or to change."""

    content = Text(widget=forms.Textarea({"rows": 5}), label="What to remember")
    type = forms.ChoiceField(choices=TYPES, initial="note")
    importance = forms.FloatField(
        initial=0.5,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        widget=forms.NumberInput({"min": "0", "max": "1", "step": "any"}),
        help_text="0 to 1.",
    )
    source = forms.CharField(
        required=False, max_length=200, help_text="Where it is from: a file, a link, a person."
    )

    @classmethod
    def of(cls, memory: Memory, data: Any = None) -> "MemoryForm":
        return cls(data, initial={name: getattr(memory, name) for name in cls.base_fields})

    def memory(self) -> MemoryIn:
        """The memory to add. Raises Invalid."""
        return read(MemoryIn, self.cleaned_data)

    def patch(self) -> MemoryPatch:
        """What was changed. Raises Invalid."""
        return read(MemoryPatch, {name: self.cleaned_data[name] for name in self.changed_data})

    def changes(self) -> list[tuple[str, str, str]]:
        """Each field that was changed: its label, the text that is stored, the text sent."""
        return [
            (str(self[name].label), str(self[name].initial), str(self.cleaned_data[name]))
            for name in self.changed_data
        ]


def _most(limit: int, most: int) -> forms.IntegerField:
    return forms.IntegerField(
        required=False, min_value=1, max_value=most, initial=limit, label="Results"
    )


class RecallForm(forms.Form):
    """What to recall: words, or another memory whose vector is the query."""

    query = forms.CharField(required=False, max_length=QUERY_CHARACTERS, strip=False)
    like = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    limit = _most(5, 20)


class VectorForm(forms.Form):
    """A vector that was made outside, pasted as a JSON list or as base64 of float32."""

    embedding = forms.CharField(
        max_length=VECTOR_CHARACTERS,
        label="Vector",
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false"}),
        help_text="A JSON list of numbers, or base64 of little-endian float32.",
    )
    embedding_model = forms.CharField(
        required=False, max_length=200, label="Model", help_text="Empty: the active model."
    )
    limit = _most(10, 50)

    def clean_embedding(self) -> Vector:
        """The vector that was pasted."""
        text = self.cleaned_data["embedding"].strip()
        if text.startswith("["):
            return _vector(_list_in(text), None)
        return _vector(None, "".join(text.split()))


def _list_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValidationError("this is no JSON list of numbers") from None


def _vector(embedding: Any, embedding_b64: Any) -> Vector:
    try:
        vector = recall.given_vector(embedding, embedding_b64)
    except Invalid as error:
        raise ValidationError(error.detail) from error
    assert vector is not None  # noqa: S101 - one of the two was given
    return vector
