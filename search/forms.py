"""The forms of the search pages. Everything a search is made of stands in its address."""

from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse

from episodes.models import Episode
from episodes.schemas import read
from memoryweb.core.days import first_moment, last_moment
from memoryweb.core.errors import Invalid
from memoryweb.core.forms import YEARS, add_errors
from search.defaults import RANGES, Defaults
from search.engine import FUSIONS, MAX_LIMIT
from search.schemas import QUERY_CHARACTERS, SearchIn
from search.sources import SOURCES

KINDS = {"episodes": "Episodes", "pages": "Pages", "memories": "Session memories"}
FUSION_WORDS = {
    "linear": "linear: weighted sum",
    "rrf": "rrf: weighted ranks",
    "auto": "auto: by kind of query",
}
ANY = ("", "any")
# What the saved settings decide where the address is silent; saved together from the page.
SAVED = ("vector", "bm25", "fusion", "recency_half_life_days")


def _number(name: str, label: str, help_text: str = "") -> forms.FloatField:
    low, high = RANGES[name]
    return forms.FloatField(min_value=low, max_value=high, label=label, help_text=help_text)


def _whole(name: str, label: str, help_text: str) -> forms.IntegerField:
    low, high = (int(border) for border in RANGES[name])
    return forms.IntegerField(min_value=low, max_value=high, label=label, help_text=help_text)


def _text(label: str, longest: int, suggestions: str = "") -> forms.CharField:
    """A text that is compared as it is, so that no blank is taken from its ends."""
    widget = forms.TextInput({"list": suggestions, "autocomplete": "off"} if suggestions else {})
    return forms.CharField(
        label=label, max_length=longest, required=False, strip=False, widget=widget
    )


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": "Enter a date such as 2026-03-31."},
        validators=YEARS,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )


class RankingForm(forms.Form):
    """The saved settings that rank; a search may be ranked by others, and those be saved."""

    vector = _number("vector", "Vector")
    bm25 = _number("bm25", "BM25")
    fusion = forms.ChoiceField(choices=[(name, FUSION_WORDS[name]) for name in FUSIONS])
    recency_half_life_days = _number(
        "recency_half_life_days", "Recency half-life", "Days in which a score halves; 0 is off."
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("vector") == given.get("bm25") == 0:
            self.add_error("bm25", "Vector and BM25 must not both be 0.")
        return given


class DefaultsForm(RankingForm):
    """All saved settings of search."""

    analyzer = forms.ChoiceField(
        choices=[
            ("cjk", "cjk: words, and Chinese in pairs"),
            ("octos", "octos: octos-memory's rule"),
        ],
        help_text="How text becomes words. The index is built anew when this changes.",
    )
    k1 = _number("k1", "BM25 k1", "How much a word's repetition counts.")
    b = _number("b", "BM25 b", "How much a text's length counts, 0 to 1.")
    capacity = _whole(
        "capacity", "Capacity", "Vectors for which a warning is due. None is dropped."
    )
    exact_threshold = _whole(
        "exact_threshold", "Exact up to", "Vectors that are compared one by one; above, by a graph."
    )

    @classmethod
    def of(cls, saved: Defaults, data: Any = None) -> Self:
        """The form of the settings in force, filled from `data` when it was sent."""
        return cls(data, initial={name: _in_address(value) for name, value in vars(saved).items()})


class SearchForm(RankingForm):
    """A search as its address says it. Days are those of the configured time zone, both included.

    `request` is what the form asks for, once it is valid and there are words to search for.
    """

    use_required_attribute = False

    q = forms.CharField(label="Search", max_length=QUERY_CHARACTERS, required=False)
    min_score = forms.FloatField(
        min_value=0, label="Floor", help_text="On the better of the two scores; 0 is off."
    )
    limit = forms.IntegerField(min_value=1, max_value=MAX_LIMIT, label="Results")
    kind = forms.MultipleChoiceField(
        required=False,
        choices=[(name, KINDS[name]) for name in SOURCES],
        widget=forms.CheckboxSelectMultiple,
    )
    working_dir_prefix = _text("In or below directory", 4096, "directories")
    working_dir = _text("Exactly in directory", 4096, "directories")
    agent_id = _text("Agent", 200, "agents")
    outcome = forms.ChoiceField(required=False, choices=[ANY, *Episode.Outcome.choices])
    source = forms.ChoiceField(required=False, choices=[ANY, *Episode.Source.choices])
    since = _day("Since")
    until = _day("Until")
    prefer_working_dir = _text("Prefer directory", 4096, "directories")
    why_not = _text("Why not", 4096)

    FILTERS: ClassVar = (
        "kind",
        "working_dir_prefix",
        "working_dir",
        "agent_id",
        "outcome",
        "source",
        "since",
        "until",
    )
    request: SearchIn | None = None

    @classmethod
    def of(cls, address: QueryDict, saved: Defaults) -> Self:
        """The form of an address. What it leaves out, or leaves empty, is as saved."""
        silent = {name: getattr(saved, name) for name in SAVED} | {"min_score": 0, "limit": 10}
        data = address.copy()
        for name, value in silent.items():
            if not data.get(name, "").strip():
                data[name] = _in_address(value)
        return cls(data, initial=silent)

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        for name in self.data.keys() - self.fields.keys():
            self.add_error(None, f"There is nothing called “{name[:100]}” to search by.")
        if (since := given.get("since")) and (until := given.get("until")) and until < since:
            self.add_error("until", "This is before the first day.")
        if not self.errors and given["q"]:
            self._build_request(given)
        return given

    def _build_request(self, given: dict[str, Any]) -> None:
        try:
            self.request = read(SearchIn, _body(given))
        except Invalid as error:
            add_errors(self, error)

    @property
    def differs(self) -> bool:
        """Whether it ranks by other settings than the saved ones."""
        return any(name in self.changed for name in SAVED)

    @property
    def changed(self) -> dict[str, Any]:
        """What the address must say: everything that is not as it would be without saying it."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if value not in ("", None, []) and value != self.initial.get(name)
        }

    def address(self, *without: str, **otherwise: Any) -> str:
        """The shortest address of this search, without some of its parts, or with others."""
        parts = {k: v for k, v in self.changed.items() if k not in without} | otherwise
        pairs = urlencode({name: _in_address(value) for name, value in parts.items()}, doseq=True)
        return reverse("search") + (f"?{pairs}" if pairs else "")

    @property
    def ranking(self) -> dict[str, Any]:
        """The settings it ranks by."""
        return {name: _in_address(self.cleaned_data[name]) for name in SAVED}

    def as_saved(self) -> str:
        return self.address(*SAVED)

    def unfloored(self) -> str:
        return self.address("min_score")

    def unfiltered(self) -> str:
        return self.address(*self.FILTERS, "prefer_working_dir")

    def longer(self) -> str:
        """The same with twice as many results; nothing where no more can be asked for."""
        limit = self.cleaned_data["limit"]
        return self.address(limit=min(2 * limit, MAX_LIMIT)) if limit < MAX_LIMIT else ""

    def filters(self) -> list[dict[str, str]]:
        """The filters that are on: label, value, and the address without it."""
        return [
            {"label": str(self[name].label).lower(), "value": shown, "url": url}
            for name in (*self.FILTERS, "prefer_working_dir")
            if name in self.changed
            for shown, url in self._taken_off(name)
        ]

    def _taken_off(self, name: str) -> list[tuple[str, str]]:
        value = self.changed[name]
        if name != "kind":
            return [(str(value), self.address(name))]
        return [
            (KINDS[one], self.address("kind", kind=[k for k in value if k != one])) for one in value
        ]

    def ranges(self) -> dict[str, float]:
        """How far each slider goes: 1 for a weight, more where more is saved or asked for."""
        weights = [self.initial["vector"], self.initial["bm25"]]
        weights += [self.cleaned_data.get(name, 0) for name in ("vector", "bm25")]
        days = self.cleaned_data.get("recency_half_life_days", 0)
        return {"weight": max(1, *weights), "days": max(365, days)}


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """The body of the API request that asks for the same."""
    names = ("working_dir_prefix", "working_dir", "agent_id", "outcome", "source")
    filters = {name: given[name] for name in names if given[name]}
    if given["since"]:
        filters["since"] = first_moment(given["since"])
    if given["until"]:
        filters["until"] = last_moment(given["until"])
    body = {
        "query": given["q"],
        "limit": given["limit"],
        "weights": {"vector": given["vector"], "bm25": given["bm25"]},
        "fusion": given["fusion"],
        "recency_half_life_days": given["recency_half_life_days"],
        "min_score": given["min_score"] or None,
        "prefer_working_dir": given["prefer_working_dir"] or None,
        "filters": filters,
        "explain": True,
    }
    return body | ({"collections": given["kind"]} if given["kind"] else {})


def _in_address(value: Any) -> Any:
    """A number without a needless .0; lists stay lists."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return value if isinstance(value, list) else str(value)
