"""The JSON API: one router an app, one map of errors, every operation behind a scope."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja.errors import AuthenticationError, HttpError, ValidationError

from bank.api import router as bank_router
from episodes.api import router as episodes_router
from episodes.sessions_api import router as sessions_router
from episodes.vectors_api import router as vectors_router
from memoryweb.core.api import router as core_router
from memoryweb.core.api_auth import read
from memoryweb.core.errors import DomainError
from memoryweb.core.failures import explained
from memoryweb.core.idempotency import Replayed
from memoryweb.core.middleware import moved, problem
from memoryweb.guard_api import router as guard_router
from memoryweb.operations import (
    DocumentedAPI,
    answer_for_writes,
    operations_of,
    refuse_unknown_parameters,
)
from memoryweb.review_api import router as review_router
from memoryweb.strict_json import StrictParser, StrictRenderer
from search.api import router as search_router
from search.api import similar_router
from search.context_api import router as context_router
from search.recall_api import sessions_router as recall_router
from search.recall_api import vectors_router as code_search_router
from search.runs_api import router as runs_router
from search.runs_api import search_router as reindex_router
from search.wiki_api import router as wikis_router

logger = logging.getLogger(__name__)
PARTS = {"body", "query", "path", "header"}
WITH_A_BODY = {"POST", "PUT", "PATCH"}


def _docs_door(view: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
    """The document and its pages ask for a login or a token, like every operation.

    The docs page draws its icons from inline images, so it has a policy of its own.
    """

    @csp_replace({"img-src": ["'self'", "data:"]})
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if read(request) is None:
            return problem(request, 401, "send a bearer token, or sign in")
        return view(request, *args, **kwargs)  # type: ignore[no-any-return]

    return guarded


api = DocumentedAPI(
    title="memoryweb",
    version="1",
    urls_namespace="api",
    auth=read,
    parser=StrictParser(),
    renderer=StrictRenderer(),
    docs_decorator=_docs_door,
    docs_url="/docs",
)
api.add_router("/episodes", episodes_router, tags=["episodes"])
api.add_router("/episodes", similar_router, tags=["search"])
api.add_router("/sessions", sessions_router, tags=["sessions"])
api.add_router("/sessions", recall_router, tags=["sessions"])
api.add_router("/vectors", vectors_router, tags=["vectors"])
api.add_router("/vectors", code_search_router, tags=["vectors"])
api.add_router("/search", search_router, tags=["search"])
api.add_router("/search", reindex_router, tags=["runs"])
api.add_router("/runs", runs_router, tags=["runs"])
api.add_router("/guard", guard_router, tags=["guard"])
api.add_router("", bank_router, tags=["bank"])
api.add_router("/bank", context_router, tags=["bank"])
api.add_router("/wikis", wikis_router, tags=["wikis"])
api.add_router("", core_router, tags=["changes and audit"])
api.add_router("/guard", review_router, tags=["guard"])


@api.exception_handler(DomainError)
def domain_error(request: HttpRequest, error: DomainError) -> HttpResponse:
    members = dict(error.members)
    if "errors" in members:
        members["errors"] = [
            {**one, "loc": _sent_in(request, one["loc"])} for one in members["errors"]
        ]
    refused = problem(request, error.status, error.detail, error.title, **members)
    if error.retry_after is not None:
        refused["Retry-After"] = str(error.retry_after)
    return moved(request, error) or refused


@api.exception_handler(Replayed)
def answered_before(request: HttpRequest, error: Replayed) -> HttpResponse:
    return error.answer


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [{"loc": _place(e["loc"]), "msg": e["msg"]} for e in error.errors[:50]]
    first = errors[0]["msg"] if errors else "the input is not valid"
    return problem(request, 422, first, errors=errors)


def _place(loc: Sequence[str | int]) -> list[str | int]:
    """The part of the request, then where in it; of a body ninja names our parameter as well."""
    return [*loc[:1], *loc[2 if loc[0] == "body" else 1 :]]


def _sent_in(request: HttpRequest, loc: Sequence[str | int]) -> list[str | int]:
    """Where in the request that is which a writer names as its argument."""
    if not loc or (len(loc) > 1 and loc[0] in PARTS):  # One word alone names an argument.
        return list(loc)
    route = request.resolver_match
    if route is not None and loc[0] in route.kwargs:
        return ["path", *loc]
    sent_in_body = request.method in WITH_A_BODY and loc[0] not in request.GET
    return ["body" if sent_in_body else "query", *loc]


@api.exception_handler(AuthenticationError)
def unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    response = problem(request, 401, "send a live token: Authorization: Bearer mw_…")
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(request, 404, "there is no such thing")


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, DomainError):
        # ninja words every failure to read a body alike; ours say what is wrong with it.
        return domain_error(request, error.__cause__)
    return problem(request, error.status_code, str(error))


@api.exception_handler(Exception)
def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    if (failure := explained(error)) is not None:
        logger.error("request %s failed: %s", getattr(request, "id", ""), error)
        return domain_error(request, failure)
    logger.exception("request %s failed", getattr(request, "id", ""))
    return problem(request, 500, "something went wrong here; the log has it under the request id")


def urls() -> tuple[list[Any], str, str]:
    """The API's routes. Their own door answers 401 where pages redirect to the login."""
    patterns, app, namespace = api.urls
    for operation in operations_of(api):
        refuse_unknown_parameters(operation)
        answer_for_writes(operation)
    for pattern in patterns:
        pattern.callback.login_required = False  # type: ignore[union-attr]
    return patterns, app, namespace
