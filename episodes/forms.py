"""The forms of the episode pages. They ask; what is allowed the writer decides."""

import json
from datetime import date
from typing import Any, ClassVar

from django import forms

from episodes.models import Episode
from episodes.schemas import VECTOR_STATES, EpisodeFilter, EpisodePatch, read
from memoryweb.core.days import first_moment, last_moment
from memoryweb.core.forms import YEARS, Text

ORDERS = [
    ("-created_at", "newest first"),
    ("created_at", "oldest first"),
    ("-updated_at", "last changed first"),
]
ANY = ("", "any")
OUTCOMES = [(value, value) for value in Episode.Outcome.values]
SOURCES = [(value, value) for value in Episode.Source.values]


def _day(**attributes: str) -> forms.DateInput:
    return forms.DateInput({"type": "date", **attributes}, format="%Y-%m-%d")


class Filters(forms.Form):
    """Filters that stand in the address; each that is on can be taken off."""

    LATENT: ClassVar[tuple[str, ...]] = ()  # what says how, not which

    def active(self) -> list[tuple[str, str, str]]:
        """The filters that are on: field name, label, value as it is shown."""
        return [
            (name, str(self[name].label), self._shown(name))
            for name in self.fields
            if name not in self.LATENT and self.data.get(name)
        ]

    def given(self) -> dict[str, Any]:
        return {k: v for k, v in self.cleaned_data.items() if v not in ("", None)}

    def _shown(self, name: str) -> str:
        choices = dict(getattr(self.fields[name], "choices", ()))
        return str(choices.get(self.data[name], self.data[name]))


class FilterForm(Filters):
    """The filters of the list. Days are those of the configured time zone, both included."""

    LATENT = ("order",)

    q = forms.CharField(
        label="Text", required=False, max_length=1000, widget=forms.TextInput({"type": "search"})
    )
    working_dir = forms.CharField(required=False, max_length=4096, widget=forms.HiddenInput)
    working_dir_prefix = forms.CharField(required=False, max_length=4096, label="Working directory")
    outcome = forms.ChoiceField(required=False, choices=[ANY, *OUTCOMES])
    agent_id = forms.CharField(
        required=False, max_length=200, label="Agent", widget=forms.TextInput({"list": "agents"})
    )
    task_id = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    source = forms.ChoiceField(required=False, choices=[ANY, *SOURCES])
    vector = forms.ChoiceField(required=False, choices=[ANY, *VECTOR_STATES.items()])
    quarantined = forms.ChoiceField(
        required=False, label="Guard", choices=[ANY, ("true", "in quarantine"), ("false", "served")]
    )
    since = forms.DateField(required=False, widget=_day(), validators=YEARS)
    until = forms.DateField(required=False, widget=_day(), validators=YEARS)
    order = forms.ChoiceField(required=False, choices=ORDERS)

    def wanted(self) -> EpisodeFilter:
        """The filter that was asked for; everything when the form is not valid."""
        if not self.is_valid():
            return EpisodeFilter()
        given = {k: v for k, v in self.cleaned_data.items() if v not in ("", None) and k != "order"}
        if "since" in given:
            given["since"] = first_moment(given["since"])
        if "until" in given:
            given["until"] = last_moment(given["until"])
        return read(EpisodeFilter, given)

    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day that are let through."""
        given = self.cleaned_data if self.is_valid() else {}
        return given.get("since"), given.get("until")

    def order_of_list(self) -> str:
        return self.cleaned_data.get("order") or "-created_at" if self.is_valid() else "-created_at"


class _Lines(Text):
    """A list of texts, one a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea({"rows": 4}), **options)


class _Extra(Text):
    """A JSON object."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            required=False, widget=forms.Textarea({"rows": 6, "class": "mono"}), **options
        )

    def clean(self, value: Any) -> Any:
        try:
            extra = json.loads(super().clean(value) or "{}")
        except (ValueError, RecursionError):
            raise forms.ValidationError("This is not JSON.") from None
        if not isinstance(extra, dict):
            raise forms.ValidationError('This must be a JSON object, such as {"branch": "main"}.')
        return extra


class EpisodeForm(forms.Form):
    """An episode's fields. Only what was changed is sent to the writer."""

    summary = Text(required=False, widget=forms.Textarea({"rows": 6}))
    outcome = forms.ChoiceField(choices=OUTCOMES)
    source = forms.ChoiceField(choices=SOURCES)
    working_dir = forms.CharField(max_length=4096, strip=False, label="Working directory")
    agent_id = forms.CharField(max_length=200, strip=False, label="Agent")
    task_id = forms.CharField(max_length=200, strip=False, label="Task")
    key_decisions = _Lines(help_text="One a line.")
    files_modified = _Lines(help_text="One path a line.")
    extra = _Extra(help_text="What the sender added, as a JSON object.")

    @classmethod
    def of(cls, episode: Episode, data: Any = None) -> "EpisodeForm":
        """The form of this episode, filled from `data` when it was sent."""
        initial = {name: getattr(episode, name) for name in cls.base_fields}
        for name in ("key_decisions", "files_modified"):
            initial[name] = "\n".join(initial[name])
        initial["extra"] = json.dumps(initial["extra"], ensure_ascii=False, indent=2)
        return cls(data, initial=initial)

    def clean_summary(self) -> str:
        """A summary that was blank already may stay so."""
        summary = str(self.cleaned_data["summary"])
        if "summary" in self.changed_data and not summary.strip():
            raise forms.ValidationError(
                "A blank summary is found by no search. Delete the episode instead."
            )
        return summary

    def changes(self) -> list[tuple[str, str, str]]:
        """Each field that was changed: its label, the text that is stored, the text sent."""
        return [
            (str(self[name].label), str(self[name].initial), str(self[name].value()))
            for name in self.changed_data
        ]

    def patch(self) -> EpisodePatch:
        """What was changed. Raises Invalid."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        for name in ("key_decisions", "files_modified"):
            if name in changed:
                changed[name] = [line for line in changed[name].split("\n") if line.strip()]
        return read(EpisodePatch, changed)
