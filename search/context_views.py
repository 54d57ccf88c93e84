"""The page that shows what an agent is given to begin with, of the budget that its address says."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from episodes import queries
from memoryweb.core.errors import Invalid
from memoryweb.core.forms import add_errors
from memoryweb.core.parts import is_part
from search import budget, services, wording
from search.budget import Given
from search.context import DEFAULT_TOKENS, MOST_TOKENS, Context, context, recalling
from search.schemas import QUERY_CHARACTERS, SearchIn

SLIDER_TO = 10_000  # tokens; more can be typed
MOST_DIRECTORIES = 200


class ContextForm(forms.Form):
    """What is asked for, under the names that the API has for it; `searched` once it is valid."""

    use_required_attribute = False

    max_tokens = forms.IntegerField(
        min_value=1,
        max_value=MOST_TOKENS,
        label="Budget",
        help_text="Tokens: four ASCII characters or one other count as one.",
    )
    query = forms.CharField(
        label="Query",
        max_length=QUERY_CHARACTERS,
        required=False,
        help_text="Adds past episodes that fit what an agent is about to do.",
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    prefer_working_dir = forms.CharField(
        label="Working directory",
        max_length=4096,
        required=False,
        strip=False,
        help_text="Of the agent: episodes from there, and from below it, come first.",
        widget=forms.TextInput({"autocomplete": "off", "list": "directories"}),
    )
    searched: SearchIn | None = None

    @classmethod
    def of(cls, address: QueryDict) -> Self:
        data = address.copy()
        if not data.get("max_tokens", "").strip():
            data["max_tokens"] = str(DEFAULT_TOKENS)
        return cls(data)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        for name in self.data.keys() - self.fields.keys():
            self.add_error(None, f"There is nothing called “{name[:100]}” to ask for.")
        if not self.errors:
            self._search(given)
        return given

    def _search(self, given: dict[str, Any]) -> None:
        try:
            self.searched = recalling(
                query=given["query"], prefer_working_dir=given["prefer_working_dir"]
            )
        except Invalid as error:
            add_errors(self, error)

    def address(self, route: str) -> str:
        """The shortest address that asks for the same."""
        usual = ("", DEFAULT_TOKENS)
        said = {name: value for name, value in self.cleaned_data.items() if value not in usual}
        return reverse(route) + (f"?{urlencode(said)}" if said else "")


@require_GET
@vary_on_headers("HX-Request")
def context_page(request: HttpRequest) -> HttpResponse:
    """The context by its address; htmx asks for the part that moves with the slider."""
    form = ContextForm.of(request.GET)
    valid = form.is_valid()
    shown: dict[str, Any] = {"form": form, "slider_to": SLIDER_TO}
    if valid:
        shown |= _shown(form)
    part = is_part(request)
    if not part:
        shown["directories"] = sorted(queries.directories())[:MOST_DIRECTORIES]
    template = "context/_given.html" if part else "context/context.html"
    response = render(request, template, shown | {"part": part})
    if not valid:
        response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    elif part:
        response["HX-Replace-Url"] = form.address("context")
    return response


@dataclass(frozen=True)
class Row:
    """A section on the page. `x` and `width` are the parts of 100 of its piece of the bar."""

    given: Given
    state: str
    anchor: str
    url: str
    nothing: str
    x: float
    width: float

    @property
    def partly(self) -> bool:
        return self.given.included + self.given.omitted > self.given.units

    # What a bar of states draws.
    @property
    def label(self) -> str:
        return self.given.name

    @property
    def count(self) -> int:
        return self.given.tokens


NOTHING = {
    budget.LONG_TERM: "There is no long-term memory.",
    budget.RECENT: "Nothing was noted in the seven days before today.",
    budget.TODAY: "Nothing was noted today.",
    budget.BANK: "The bank has no pages.",
    budget.EXPERIENCES: "No episode fits the query well enough.",
}


def _shown(form: ContextForm) -> dict[str, Any]:
    built = context(form.cleaned_data["max_tokens"], form.searched)
    fitted, found = built.fitted, built.found
    rows = _rows(built, form)
    suggested = bool(found) and bool(services.suggestions(1))
    return {
        "built": built,
        "shares": budget.SHARES,
        "rows": rows,
        "line_tokens": fitted.tokens - sum(row.count for row in rows),
        "unnamed": built.skipped - len(built.kept_out),
        "empty": not any(row.given.units for row in rows) and not built.skipped,
        "notices": wording.notices(found.reasons, found.lag, suggested) if found else [],
        "json_url": form.address("api:get_context"),
    }


def _rows(built: Context, form: ContextForm) -> list[Row]:
    sources = {
        budget.LONG_TERM: reverse("long_term"),
        budget.RECENT: reverse("notes"),
        budget.TODAY: reverse("notes"),
        budget.BANK: reverse("bank"),
        budget.EXPERIENCES: f"{reverse('search')}?{urlencode({'q': form.cleaned_data['query']})}",
    }
    rows: list[Row] = []
    x = 0.0
    for number, given in enumerate(built.fitted.sections, start=1):
        width = round(100 * given.tokens / built.budget, 2)
        url, nothing = sources[given.name], NOTHING[given.name]
        state = anchor = f"section-{number}"
        rows.append(Row(given, state, anchor, url, nothing, x, width))
        x = round(x + width, 2)
    return rows
