"""Who may open a page. Every page needs a login; these ask for more."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse

from memoryweb.core.actor import Actor, Role
from memoryweb.core.models import User

P = ParamSpec("P")
Page = Callable[Concatenate[HttpRequest, P], HttpResponse]


def actor_of(request: HttpRequest) -> Actor:
    """The signed-in person as an actor; LoginRequiredMiddleware lets nobody else through."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - a page without a login is a bug, not input
    return user.actor("page")


def requires(role: Role) -> Callable[[Page[P]], Page[P]]:
    """A page for at least `role`; others get the 403 page."""

    def decorate(view: Page[P]) -> Page[P]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            actor_of(request).require(role)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


curator_page = requires(Role.CURATOR)
administrator_page = requires(Role.ADMINISTRATOR)
