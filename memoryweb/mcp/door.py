"""POST /mcp: who may come in. What is said inside is the exchange's matter."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from ninja.errors import AuthenticationError

from memoryweb.api import domain_error, unauthenticated
from memoryweb.core.api_auth import bearer
from memoryweb.core.errors import DomainError, Forbidden
from memoryweb.core.idempotency import Replayed


@csrf_exempt
@login_not_required
def mcp(request: HttpRequest) -> HttpResponse:
    """One message of the Model Context Protocol, or a batch, answered as plain JSON.

    There is no stream to GET and no session to DELETE: both are 405, as the protocol wants it of
    a server that has none. A token opens it, never a login: a browser sends the cookie of a login
    also when a foreign page makes it ask.
    """
    if request.method != "POST":
        return HttpResponse(status=405, headers={"Allow": "POST"})
    try:
        refuse_foreign_pages(request)
        actor = bearer(request, "mcp")
        if actor is None:
            return unauthenticated(request, AuthenticationError())
        request.actor = actor  # type: ignore[attr-defined]
        from memoryweb.mcp.exchange import exchange  # The SDK takes half a second to import.

        return exchange(request)  # type: ignore[arg-type]
    except Replayed as answered:
        return answered.answer
    except DomainError as error:
        return domain_error(request, error)


def refuse_foreign_pages(request: HttpRequest) -> None:
    """Raise Forbidden for a request that a page of another site makes a browser send."""
    origin = request.headers.get("Origin")
    own = f"{request.scheme}://{request.get_host()}"
    if origin is not None and origin not in (own, *settings.CSRF_TRUSTED_ORIGINS):
        raise Forbidden(
            "this Origin is foreign; name it in MEMORYWEB_CSRF_TRUSTED_ORIGINS if it is yours"
        )
