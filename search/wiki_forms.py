"""The forms of the wikis' pages. What is allowed the writer decides."""

from typing import Any

from django import forms
from django.http import QueryDict

from bank.forms import ReasonField
from search.wiki import searching
from search.wiki.service import GRAPH_MOST


class WikiSearchForm(forms.Form):
    """A search of one wiki, by its address; where that is silent the defaults hold."""

    q = forms.CharField(required=False, max_length=20_000, strip=False, label="What you look for")
    hop = forms.IntegerField(
        min_value=0,
        max_value=searching.HOP_MOST,
        label="Hops",
        help_text="Links followed from the pages that match; 0 finds by words alone.",
    )
    decay = forms.FloatField(
        min_value=0, max_value=1, label="Decay", help_text="What is left of a score a link further."
    )
    min_score = forms.FloatField(
        required=False,
        min_value=0,
        label="Least score",
        help_text="With hops only. Left empty: a tenth of the best match.",
    )
    limit = forms.IntegerField(
        min_value=searching.LIMIT_LEAST, max_value=searching.LIMIT_MOST, label="At most"
    )
    structural = forms.BooleanField(required=False, label="Index and log pages too")

    @classmethod
    def of(cls, query: QueryDict) -> "WikiSearchForm":
        given: dict[str, Any] = {
            "hop": searching.HOP,
            "decay": searching.DECAY,
            "limit": searching.LIMIT,
        }
        return cls({**given, **{name: value for name, value in query.items() if value != ""}})


class GraphForm(forms.Form):
    """Which part of a wiki's graph is drawn."""

    page = forms.CharField(required=False, max_length=1_000, label="Around the page")
    hop = forms.IntegerField(
        min_value=1, max_value=searching.HOP_MOST, label="Hops", help_text="Links from that page."
    )
    most = forms.IntegerField(min_value=2, max_value=GRAPH_MOST, label="Pages at most")

    @classmethod
    def of(cls, query: QueryDict) -> "GraphForm":
        given: dict[str, Any] = {"hop": 2, "most": 150}
        return cls({**given, **{name: value for name, value in query.items() if value != ""}})


class WikiForm(forms.Form):
    """What is said of a wiki."""

    name = forms.CharField(max_length=200)
    description = forms.CharField(
        required=False, max_length=10_000, widget=forms.Textarea({"rows": 3})
    )
    team_id = forms.CharField(
        required=False, max_length=200, label="Team", help_text="Only to tell wikis apart."
    )


class NewWikiForm(WikiForm):
    """A wiki that is to be made, of a folder on this machine where one is named."""

    folder = forms.CharField(
        required=False,
        max_length=1_000,
        label="Folder on this machine",
        help_text="An absolute path. Its Markdown is read and edited where it lies. Left empty, "
        "memoryweb keeps the files itself, and you can upload some next.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
    )


class UploadForm(forms.Form):
    """A zip of Markdown."""

    file = forms.FileField(
        label="Zip of Markdown files",
        widget=forms.ClearableFileInput({"accept": ".zip,application/zip"}),
    )


class EraseWikiForm(forms.Form):
    """An erasure: the wiki's id has to be typed, so that none is erased by a slip."""

    wiki = forms.CharField(
        max_length=100,
        label="Its id",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = ReasonField()

    def __init__(self, wiki: str, sent: QueryDict | None = None) -> None:
        super().__init__(sent)
        self._wiki = wiki
        self.fields["wiki"].help_text = f"Type {wiki} to confirm."

    def clean_wiki(self) -> str:
        typed: str = self.cleaned_data["wiki"]
        if typed != self._wiki:
            raise forms.ValidationError("This is not the wiki's id.")
        return typed


class RemoveForm(forms.Form):
    """Whether links to a page that is removed become plain words; `base` was seen."""

    base = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    unlink = forms.BooleanField(
        required=False,
        label="Turn the links to it into the words that they show",
        help_text="Otherwise they stay, and lead nowhere.",
    )
