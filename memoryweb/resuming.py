"""A form that comes when its sender was signed out meanwhile: nothing that was typed is lost.

The answer is a page that holds what was sent, shows it, and sends it again after a new sign-in.
Nothing is stored for strangers: the page itself carries the text. What a foreign page sends never
gets this far, because one click on such a page would then do what that page wanted.
"""

from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme

from memoryweb.core import sent
from memoryweb.core.errors import Forbidden
from memoryweb.core.middleware import error_page
from memoryweb.core.sent import Fields

FORBIDDEN = 403
PREFIX = "kept:"  # Before the names of what is kept: the login form has names of its own.
ADDRESS = "kept-for"
SIGNED_OUT = (
    "you were signed out; what you typed is still here. Send the form: you can then sign in, and "
    "go on"
)
EXPIRED = "this page is from before you signed in; copy what you typed, and load it again"


class LoginRequired(LoginRequiredMiddleware):
    """Sends strangers to the login page; but a form they sent is kept for after it."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseBase:
        if request.method == "POST" and request.headers.get("HX-Request"):
            return error_page(request, request, Forbidden(SIGNED_OUT))
        fields = sent.fields(request)
        if not fields:
            return super().handle_no_permission(request, view_func)
        return _sign_in(request, request.get_full_path(), fields)


class Continue(LoginView):
    """The login form of the page that keeps what was sent."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect("login")

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        login(self.request, form.get_user())
        address, fields = carried(self.request)
        return _send_again(self.request, address, fields) if fields else redirect("home")

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        address, fields = carried(self.request)
        return _sign_in(self.request, address, fields, form)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose proof of origin is not valid: of another session, or of another site."""
    if not _from_here(request):
        return render(request, "403_csrf.html", status=FORBIDDEN)
    if request.headers.get("HX-Request"):
        return error_page(request, request, Forbidden(EXPIRED))
    address, fields = carried(request)
    if not fields:
        address, fields = request.get_full_path(), sent.fields(request)
    if not fields:
        return render(request, "403_csrf.html", status=FORBIDDEN)
    if request.user.is_authenticated:
        return _send_again(request, address, fields)
    return _sign_in(request, address, fields)


def carried(request: HttpRequest) -> tuple[str, Fields]:
    """The address and the fields that a page of ours carries; no fields for a foreign address."""
    address = request.POST.get(ADDRESS, "")
    if not _ours(address):
        return "", []
    return address, [
        (name.removeprefix(PREFIX), value)
        for name, values in request.POST.lists()
        for value in values
        if name.startswith(PREFIX)
    ]


def _ours(address: str) -> bool:
    if not address.startswith("/") or not url_has_allowed_host_and_scheme(address, None):
        return False
    try:
        resolve(urlsplit(address).path)
    except Resolver404:
        return False
    return True


def _from_here(request: HttpRequest) -> bool:
    """Whether the browser says that a page of ours sent it."""
    return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"


def _sign_in(
    request: HttpRequest, address: str, fields: Fields, form: AuthenticationForm | None = None
) -> HttpResponse:
    form = form or AuthenticationForm(request)
    kept = [(PREFIX + name, value) for name, value in fields]
    context = {"form": form, "address": address, "kept": [(ADDRESS, address), *kept]}
    return _page(request, fields, context)


def _send_again(request: HttpRequest, address: str, fields: Fields) -> HttpResponse:
    return _page(request, fields, {"address": address, "kept": fields})


def _page(request: HttpRequest, fields: Fields, context: dict[str, Any]) -> HttpResponse:
    """403: what was sent is not done yet."""
    context = {**context, "texts": sent.texts(fields)}
    return render(request, "resume.html", context, status=FORBIDDEN)
