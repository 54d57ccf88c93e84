"""Pages that belong to no single app: home, the first sign-in, settings, activity, errors."""

import json
import shlex
import sys
from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_POST

from memoryweb import connecting, glance, house
from memoryweb.core import people, tokens
from memoryweb.core.access import actor_of, administrator_page
from memoryweb.core.actor import Role, system
from memoryweb.core.errors import Invalid, NotFound
from memoryweb.core.failures import explained
from memoryweb.core.forms import add_errors
from memoryweb.core.middleware import MACHINE_PATHS, failure_page, problem
from memoryweb.core.models import ApiToken, User
from memoryweb.forms import ChangePassword, ChangePerson, FirstAdministrator, NewPerson, NewToken
from search.views import SEARCHED_COOKIE

MADE_COOKIE = "made_token"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def home(request: HttpRequest) -> HttpResponse:
    """What came in, what waits, and what is left to begin."""
    actor = actor_of(request)
    context = glance.at_a_glance()
    if actor.role >= Role.CURATOR:
        example = curl_example(request, "$MEMORYWEB_TOKEN")
        searched = SEARCHED_COOKIE in request.COOKIES
        context["steps"] = glance.first_steps(example, searched, actor.role >= Role.ADMINISTRATOR)
    return render(request, "home.html", context)


@login_not_required
def first_administrator(request: HttpRequest, secret: str) -> HttpResponse:
    """The one-time link from the terminal: name and password make an administrator."""
    if not tokens.setup_link_is_open(secret):
        raise NotFound("this link was used already, or it has expired; admin_link makes another")
    form = FirstAdministrator(request.POST or None)
    if form.is_valid() and (user := _made_by_link(form, secret)) is not None:
        login(request, user, BACKEND)
        return redirect("home")
    context = {"form": form, "first": not house.has_administrator()}
    return render(request, "registration/first_administrator.html", context)


def _made_by_link(form: forms.Form, secret: str) -> User | None:
    """The new administrator, or None with the reasons put on the form."""
    data = form.cleaned_data
    try:
        user = people.prepared(data["username"], data["password"])
        return tokens.use_setup_link(system("page"), secret, user)
    except Invalid as error:
        add_errors(form, error)
        return None


def settings_home(request: HttpRequest) -> HttpResponse:
    return redirect("account")


class PasswordChange(PasswordChangeView):
    form_class = ChangePassword
    template_name = "registration/password_change_form.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        people.set_password(actor_of(self.request), form.user, form.cleaned_data["new_password1"])
        update_session_auth_hash(self.request, form.user)
        messages.success(self.request, "Your password is changed; other sessions are signed out.")
        return redirect(self.get_success_url())


@administrator_page
def tokens_page(request: HttpRequest) -> HttpResponse:
    """All tokens; a new one is shown here once, on the page that its form leads to."""
    form = NewToken(request.POST or None)
    if form.is_valid() and (text := _issued(request, form)) is not None:
        return _shown_next(redirect("tokens"), text)
    made = request.COOKIES.get(MADE_COOKIE, "") if request.method == "GET" else ""
    token = tokens.find(made)
    rows = ApiToken.objects.order_by("revoked_at", "-created_at")
    context = {"form": form, "tokens": rows, "now": timezone.now()}
    address = request.build_absolute_uri(reverse("mcp"))
    context["ways"] = connecting.ways(address, "" if token is None else made)
    if token is not None:
        context |= {"made": made, "store_example": curl_example(request, made, token.agent_id)}
    response = render(request, "settings/tokens.html", context)
    response.delete_cookie(MADE_COOKIE, path=request.path, samesite="Strict")
    return response


def _issued(request: HttpRequest, form: forms.Form) -> str | None:
    """The text of a new token, or None with the reasons put on the form."""
    data = form.cleaned_data
    expires = timezone.now() + timedelta(days=data["days"]) if data["days"] else None
    try:
        _, text = tokens.issue(
            actor_of(request), data["name"], data["scope"], data["agent_id"], expires
        )
    except Invalid as error:
        add_errors(form, error)
        return None
    return text


def _shown_next(response: HttpResponseRedirect, text: str) -> HttpResponseRedirect:
    """Hand the token to the page that follows, by the browser: no database ever holds it."""
    response.set_cookie(
        MADE_COOKIE,
        text,
        max_age=60,
        path=response.url,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Strict",
    )
    return response


def curl_example(request: HttpRequest, token: str, agent_id: str = "") -> str:
    """A first episode, ready to paste into a shell; a bound token writes as its agent."""
    agent = json.dumps(agent_id or "my-agent", ensure_ascii=False)
    body = (
        f'{{"agent_id": {agent}, "working_dir": "/srv/shop", "outcome": "success",\n'
        '       "summary": "Fixed the deadlock in the order worker"}'
    )
    return (
        f"curl -s {request.build_absolute_uri('/api/v1/episodes')} \\\n"
        f"""  -H "Authorization: Bearer {token}" -H 'Content-Type: application/json' \\\n"""
        f"  -d {shlex.quote(body)}"
    )


@require_POST
@administrator_page
def revoke_token(request: HttpRequest, key: str) -> HttpResponse:
    tokens.revoke(actor_of(request), key)
    messages.success(request, "The token is revoked. Every request with it is refused from now on.")
    return redirect("tokens")


@administrator_page
def people_page(request: HttpRequest) -> HttpResponse:
    form = NewPerson(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            people.add(actor_of(request), data["username"], data["password"], data["role"])
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, f"{data['username']} can sign in now.")
            return redirect("people")
    context = {"form": form, "people": User.objects.order_by("username"), "roles": User.RoleName}
    return render(request, "settings/people.html", context)


@require_POST
@administrator_page
def change_person(request: HttpRequest, username: str) -> HttpResponse:
    form = ChangePerson(request.POST)
    if not form.is_valid():
        raise Invalid("choose one of the three roles")
    try:
        people.change(actor_of(request), username, **form.cleaned_data)
    except Invalid as error:
        messages.error(request, error.errors[0].msg if error.errors else error.detail)
        return redirect("people")
    messages.success(request, f"{username} is changed.")
    return redirect("people")


def locked_out(
    request: HttpRequest, original: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """In place of the login form after too many wrong passwords."""
    response = render(request, "registration/locked_out.html", status=429)
    response["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 400, "this request makes no sense here")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 403, "you may not do this")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _error_page(request, 404, "there is no such thing")


def server_error(request: HttpRequest) -> HttpResponse:
    """Drawn without the request: the frame would ask the database, which may be what broke.

    Here comes too what failed before the view, such as reading the session.
    """
    failure = explained(sys.exception())
    if request.path.startswith(MACHINE_PATHS):
        if failure is not None:
            return problem(request, failure.status, failure.detail)
        return problem(request, 500, "something went wrong here")
    if failure is not None:
        return failure_page(request, failure)
    return render(None, "500.html", status=500)


def _error_page(request: HttpRequest, status: int, detail: str) -> HttpResponse:
    if request.path.startswith(MACHINE_PATHS):
        return problem(request, status, detail)
    return render(request, f"{status}.html", status=status)
