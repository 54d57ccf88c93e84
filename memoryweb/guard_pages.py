"""The pages about the guard: a box to try a text in, and the list of all rules."""

from http import HTTPStatus
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from bank import findings
from memoryweb import guard
from memoryweb.core.forms import Text
from memoryweb.core.guard import RULES_VERSION
from memoryweb.core.parts import is_part

MOST = 200_000  # characters that are read while they are typed


class TryForm(forms.Form):
    """A text, and how agents would be given it."""

    text = Text(
        required=False,
        max_length=MOST,
        widget=forms.Textarea({"class": "mono editor-text", "rows": 12, "spellcheck": "false"}),
    )
    posture = forms.ChoiceField(
        choices=[("injected", "pages, notes and long-term memory"), ("recalled", "episodes")],
        initial="injected",
        label="Read as",
        help_text="Pages are given to agents unasked, so more rules hold for them.",
    )
    name = forms.CharField(
        required=False,
        max_length=200,
        label="Name of the page",
        help_text="An attack can begin in the name and end in the text.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )


@vary_on_headers("HX-Request")
def try_text(request: HttpRequest) -> HttpResponse:
    """What the guard finds in a text that is pasted or typed; nothing is stored."""
    form = TryForm(request.POST or None)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        sent = form.cleaned_data
        found = guard.check(sent["text"], posture=sent["posture"], name=sent["name"])
        context |= {
            "text": sent["text"],
            "findings": findings.shown(sent["text"], found),
            "marked": findings.marked(sent["text"], found),
        }
    part = is_part(request)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(
        request, "guard/_found.html" if part else "guard/try.html", context, status=status
    )


@require_GET
def rules(request: HttpRequest) -> HttpResponse:
    """Every rule with its reason, what it finds and what it lets pass."""
    context = {
        "groups": list(guard.groups()),
        "version": RULES_VERSION,
    }
    return render(request, "guard/rules.html", context)
