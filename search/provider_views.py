"""The page on which administrators see, try and name the embedding provider."""

from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from memoryweb.core import active_model
from memoryweb.core.access import actor_of, administrator_page
from memoryweb.core.errors import Invalid
from search import second_model
from search.coverage_views import repairs
from search.embedding import configured
from search.embedding.addresses import LOCAL_MODEL, LONGEST
from search.embedding.configured import Configured

ADDRESS_HELP = (
    "The base of an OpenAI-compatible provider, ending in <code>/v1</code>; Ollama’s bare address; "
    "or <code>local</code> for the model that comes with the extra <code>local</code>."
)


class ProviderForm(forms.Form):
    """An address and a model; `configured` is what they mean once they are valid."""

    address = forms.CharField(
        max_length=LONGEST,
        help_text=ADDRESS_HELP,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    model = forms.CharField(
        max_length=200,
        required=False,
        help_text=f"Its name at the provider. With <code>local</code> it is {LOCAL_MODEL}.",
    )

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not self.errors:
            try:
                self.configured = configured.checked(given["address"], given["model"])
            except Invalid as error:
                for one in error.errors:
                    self.add_error(str(one.loc[0]), f"The {one.loc[0]} {one.msg}.")
        return given


@administrator_page
def provider_page(request: HttpRequest) -> HttpResponse:
    """GET shows; POST tries what is configured or typed, saves what is typed, or uses none."""
    chosen = configured.configured()
    do = request.POST.get("do", "") if request.method == "POST" else ""
    form = ProviderForm(request.POST if do in ("save", "try") else None, initial=_typed(chosen))
    if do == "none":
        return _chosen(request, None)
    if do == "save" and form.is_valid():
        return _chosen(request, form.configured)
    tried = _tried(do, form, chosen)
    context = {
        "form": form,
        "chosen": chosen,
        "active": active_model.active(),
        "has_key": bool(settings.MEMORYWEB_EMBEDDING_API_KEY),
        "timeout": settings.MEMORYWEB_EMBEDDING_TIMEOUT,
        "beside": second_model.beside(),
        **repairs(request),
        **_trial(tried),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "settings/provider.html", context, status=status)


def _typed(chosen: Configured | None) -> dict[str, str]:
    return {"address": chosen.address, "model": chosen.model} if chosen else {}


def _chosen(request: HttpRequest, wanted: Configured | None) -> HttpResponse:
    configured.choose(actor_of(request), wanted)
    said = "The provider is saved. Try it here." if wanted else "No provider is used any more."
    messages.success(request, said)
    return redirect("provider")


def _tried(do: str, form: ProviderForm, chosen: Configured | None) -> Configured | None:
    """What a press of the button is to try: what was typed, else what is in use."""
    if do == "test":
        return chosen
    return form.configured if do == "try" and form.is_valid() else None


def _trial(wanted: Configured | None) -> dict[str, Any]:
    if wanted is None:
        return {}
    trial, failure = configured.trial(wanted)
    return {"tried": wanted, "trial": trial, "failure": failure}
