"""Who may call an API operation: a bearer token with the scope, or a page's own session.

A session opens GET as it is; any other method needs the CSRF token that only our pages hold.
"""

from typing import Any

from django.http import HttpRequest
from ninja.security.http import HttpAuthBase
from ninja.utils import check_csrf

from memoryweb.core import tokens
from memoryweb.core.actor import Actor, Role, Via
from memoryweb.core.errors import Forbidden
from memoryweb.core.limits import RateLimit
from memoryweb.core.models import User

rate_limit = RateLimit()


class ApiRequest(HttpRequest):
    """A request that passed the door: `actor` is set."""

    actor: Actor


def bearer(request: HttpRequest, via: Via = "api") -> Actor | None:
    """Who holds the token that the request shows, None without a live one. Raises TooMany."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    token = tokens.find(text.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        return None
    rate_limit.spend(token.key)
    return token.actor(via)


class Scoped(HttpAuthBase):
    """At least this scope. Answers None, which is 401, when nobody is known."""

    openapi_scheme = "bearer"

    def __init__(self, role: Role) -> None:
        self.role = role
        super().__init__()

    def __call__(self, request: HttpRequest) -> Actor | None:
        actor = self._actor(request)
        if actor is None:
            return None
        actor.require(self.role)
        request.actor = actor  # type: ignore[attr-defined]
        return actor

    def _actor(self, request: HttpRequest) -> Actor | None:
        if request.headers.get("Authorization"):
            return bearer(request)
        user: Any = request.user
        if not isinstance(user, User) or not user.is_active:
            return None
        if request.method not in ("GET", "HEAD") and check_csrf(request):
            raise Forbidden("a session needs the page's CSRF token here; agents use a bearer token")
        return user.actor("page")


read = Scoped(Role.VIEWER)
write = Scoped(Role.CURATOR)
admin = Scoped(Role.ADMINISTRATOR)
