"""The forms of the bank's pages. They ask; what is allowed the writer decides."""

from django import forms

from bank.lint import CHECKS
from memoryweb.core.forms import Text


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


class ListForm(forms.Form):
    """What the list of pages is searched by."""

    q = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=200)


class AppendForm(forms.Form):
    """A paragraph for today's note."""

    text = Text(label="Add to today's note", widget=forms.Textarea({"rows": 3}))


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
        help_text="Otherwise they keep the old name, which leads here all the same.",
    )
    field_order = ["to", "update_links", "base"]


class LintForm(forms.Form):
    """Which check is listed."""

    check = forms.ChoiceField(choices=[(name, name) for name in CHECKS])


class AgainstForm(forms.Form):
    """The revision that another one is compared with."""

    against = forms.IntegerField(min_value=1, max_value=2**31 - 1)
