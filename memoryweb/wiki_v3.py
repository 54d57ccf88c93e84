"""POST /v3/wiki/…: the routes of search.wiki_v3 behind our door, with errors in their envelope."""

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from memoryweb.core.api_auth import read
from memoryweb.core.errors import DomainError, Invalid
from memoryweb.core.failures import explained
from memoryweb.core.idempotency import Replayed
from memoryweb.core.middleware import envelope
from memoryweb.operations import answer_for_writes, operations_of
from memoryweb.strict_json import StrictParser, StrictRenderer
from search.wiki_v3 import router

logger = logging.getLogger(__name__)

# What its clients call the fields that are called otherwise here.
_THEIR_NAMES = {"min_score": "minScore"}

api = NinjaAPI(
    title="memoryweb for clients of TencentDB Agent Memory",
    version="3",
    urls_namespace="wiki_v3",
    auth=read,
    parser=StrictParser(),
    renderer=StrictRenderer(),
    docs_url=None,
    openapi_url=None,
)
api.add_router("", router)


@api.exception_handler(DomainError)
def domain_error(request: HttpRequest, error: DomainError) -> HttpResponse:
    if isinstance(error, Invalid):  # There a value that breaks a rule is 400.
        named = "; ".join(f"{_name(one.loc)}: {one.msg}" for one in error.errors)
        return envelope(request, 400, named or error.detail)
    answer = envelope(request, error.status, error.detail)
    if error.retry_after is not None:
        answer["Retry-After"] = str(error.retry_after)
    return answer


@api.exception_handler(Replayed)
def answered_before(request: HttpRequest, error: Replayed) -> HttpResponse:
    return error.answer


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    named = [f"{_name(one['loc'])}: {one['msg']}" for one in error.errors[:20]]
    return envelope(request, 400, "; ".join(named))


def _name(loc: Any) -> str:
    """The field as its clients call it: what stands before it is ours."""
    path = [str(part) for part in loc if part != "body"]
    if isinstance(loc, tuple | list) and len(loc) > 1 and loc[0] == "body":
        path = [str(part) for part in loc[2:]] or ["body"]
    return ".".join(_THEIR_NAMES.get(part, part) for part in path)


@api.exception_handler(AuthenticationError)
def unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    answer = envelope(request, 401, "send a live token: Authorization: Bearer mw_…")
    answer["WWW-Authenticate"] = "Bearer"
    return answer


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, DomainError):
        return domain_error(request, error.__cause__)
    return envelope(request, error.status_code, str(error))


@api.exception_handler(Exception)
def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    if (failure := explained(error)) is not None:
        logger.error("request %s failed: %s", getattr(request, "id", ""), error)
        return domain_error(request, failure)
    logger.exception("request %s failed", getattr(request, "id", ""))
    return envelope(request, 500, "something went wrong here; the log has it under the request id")


def urls() -> tuple[list[Any], str, str]:
    """The routes. Their own door answers 401 where pages redirect to the login."""
    patterns, app, namespace = api.urls
    for operation in operations_of(api):
        answer_for_writes(operation, numbered=False)  # The envelope has four fields.
    for pattern in patterns:
        pattern.callback.login_required = False  # type: ignore[union-attr]
    return patterns, app, namespace
