"""Who may open a page. Every page needs a login; these ask for more."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from memoryweb.core.actor import Actor, Role
from memoryweb.core.models import User

P = ParamSpec("P")
Page = Callable[Concatenate[HttpRequest, P], HttpResponse]


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person as an actor; LoginRequiredMiddleware lets nobody else through."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - a page without a login is a bug, not input
    return user.actor("page")


def may_write(request: HttpRequest) -> bool:
    """Whether this person may change what agents remember; a page offers the buttons by it."""
    return actor_of(request).role >= Role.CURATOR


def requires(role: Role) -> Callable[[Page[P]], Page[P]]:
    """A page for at least `role`; others get the 403 page."""

    def decorate(view: Page[P]) -> Page[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            actor_of(request).require(role)
            return view(request, *args, **kwargs)

        guarded.least_role = role  # type: ignore[attr-defined]  # asked by `may_open`
        return guarded

    return decorate


def may_open(user: User, address: str) -> bool:
    """Whether this person may open the page of this address; nobody is led to what refuses them."""
    try:
        view = resolve(urlsplit(address).path).func
    except Resolver404:
        return True  # Another site's, or no page at all: nothing here refuses it.
    return user.actor("page").role >= getattr(view, "least_role", Role.VIEWER)


curator_page = requires(Role.CURATOR)
administrator_page = requires(Role.ADMINISTRATOR)
