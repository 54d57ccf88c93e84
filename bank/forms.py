"""The forms of the bank's pages. They ask; what is allowed the writer decides."""

import unicodedata

from django import forms
from django.http import QueryDict

from bank.erasing import REASON_LENGTH
from bank.lint import CHECKS
from bank.models import Page
from memoryweb.core.forms import YEARS, Text


class PageForm(forms.Form):
    """A page's text on its way to be saved; `base` is the revision it was made from."""

    content = Text(
        required=False,
        label="Text",
        widget=forms.Textarea({"rows": 24, "class": "mono editor-text", "spellcheck": "true"}),
    )
    message = forms.CharField(required=False, max_length=500, label="What changed")
    base = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


class NewPageForm(PageForm):
    """The same for a page that has no name yet."""

    name = forms.CharField(
        max_length=500,
        help_text="Letters of any script, digits, spaces, - and _. Spaces become -.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ["name", "content", "message", "base"]


# What the list of pages can be sorted by, the first if nothing else is asked for.
ORDERS = {
    "name": ("name", "id"),
    "updated": ("-updated_at", "id"),
    "links": ("-links_in", "name", "id"),
}


class ListForm(forms.Form):
    """What the list of pages is searched by."""

    q = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=200)
    order = forms.ChoiceField(required=False, choices=[(name, name) for name in ORDERS])


class AppendForm(forms.Form):
    """A paragraph for the note of a day, today if none is named."""

    text = Text(label="Add a paragraph", widget=forms.Textarea({"rows": 3}))
    day = forms.DateField(
        required=False,
        label="To the note of",
        validators=YEARS,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )


class BaseForm(forms.Form):
    """The revision that the person saw when they decided."""

    base = forms.IntegerField(min_value=1, widget=forms.HiddenInput)


class RenameForm(BaseForm):
    """Another name for a page."""

    to = forms.CharField(
        max_length=500,
        label="New name",
        help_text="Letters of any script, digits, spaces, - and _. Spaces become -.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    update_links = forms.BooleanField(
        required=False,
        label="Rewrite the links of other pages",
        help_text="Otherwise they keep the old name, which leads here until another page takes it.",
    )
    field_order = ["to", "update_links", "base"]


class ReasonField(forms.CharField):
    """Why something is erased for good."""

    def __init__(self) -> None:
        super().__init__(
            max_length=REASON_LENGTH,
            label="Why",
            help_text="Stays in the audit for good: do not quote what is to be erased.",
            widget=forms.TextInput({"autocomplete": "off"}),
        )


class EraseForm(BaseForm):
    """An erasure: the page's name has to be typed, so that none is erased by a slip."""

    name = forms.CharField(
        max_length=500,
        label="Its name",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = ReasonField()
    field_order = ["name", "reason", "base"]

    def __init__(self, page: Page, sent: QueryDict | None = None) -> None:
        super().__init__(sent, initial={"base": page.revision})
        self.page = page
        self.fields["name"].help_text = f"Type {page.name} to confirm."

    def clean_name(self) -> str:
        """The name of the page, in whatever normal form it was typed."""
        typed = unicodedata.normalize("NFC", self.cleaned_data["name"])
        if typed != unicodedata.normalize("NFC", self.page.name):
            raise forms.ValidationError("This is not the page's name.")
        return typed


class LintForm(forms.Form):
    """Which check is listed."""

    check = forms.ChoiceField(choices=[(name, name) for name in CHECKS])


class PickedForm(forms.Form):
    """The two revisions that were picked to be compared."""

    old = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    new = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class AgainstForm(forms.Form):
    """The revision that another one is compared with."""

    against = forms.IntegerField(min_value=1, max_value=2**31 - 1)
