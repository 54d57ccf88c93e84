"""What holds for every request: an id, a limit to its body, and errors said once and well."""

import logging
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.middleware.common import CommonMiddleware
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse

from memoryweb.core import sent
from memoryweb.core.errors import DomainError, Moved
from memoryweb.core.failures import explained

logger = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], HttpResponse]
MACHINE_PATHS = ("/api/", "/v3/", "/mcp")
ENVELOPED = "/v3/"  # Whose clients read errors in a shape of their own.
BATCH_ROUTES = frozenset(
    {
        "api:store_batch",
        "api:store_vectors",
        "api:index_many",
        "wiki_v3:write_pages",
        "api:upload_to_wiki",
        "upload_wiki",
        "upload_wiki_files",
    }
)
TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def request_id(get_response: Handler) -> Handler:
    """Give each request an id, answered in X-Request-ID and named in problem documents."""

    def middleware(request: HttpRequest) -> HttpResponse:
        request.id = uuid.uuid4().hex  # type: ignore[attr-defined]
        response = get_response(request)
        response["X-Request-ID"] = request.id  # type: ignore[attr-defined]
        return response

    return middleware


def problem_document(
    request: HttpRequest, status: int, detail: str, title: str = "", **members: Any
) -> dict[str, Any]:
    """An RFC 9457 problem document."""
    return {
        "type": "about:blank",
        "title": title or HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        **members,
        "request_id": getattr(request, "id", ""),
    }


def problem(
    request: HttpRequest, status: int, detail: str, title: str = "", **members: Any
) -> JsonResponse:
    """An answer that is a problem document; below /v3/ it is in the envelope."""
    if request.path.startswith(ENVELOPED):
        return envelope(request, status, detail)
    return JsonResponse(
        problem_document(request, status, detail, title, **members),
        status=status,
        content_type="application/problem+json",
        json_dumps_params={"ensure_ascii": False},
    )


def envelope(request: HttpRequest, status: int, message: str) -> JsonResponse:
    """An error in the shape that the clients of /v3/ read."""
    told = {"code": int(status), "message": message, "request_id": getattr(request, "id", "")}
    return JsonResponse(
        {**told, "data": None}, status=status, json_dumps_params={"ensure_ascii": False}
    )


def problem_documents(get_response: Handler) -> Handler:
    """Under the API every error is a problem document, also those Django words in HTML."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code < 400 or not request.path.startswith(MACHINE_PATHS):
            return response
        if "json" in response.get("Content-Type", ""):
            return response
        made = problem(request, response.status_code, HTTPStatus(response.status_code).description)
        for header in ("Allow", "WWW-Authenticate", "Retry-After"):
            if header in response:
                made[header] = response[header]
        return made

    return middleware


def body_limit(get_response: Handler) -> Handler:
    """Refuse a body that is larger than its route allows before anything reads it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        limit = settings.MEMORYWEB_BODY_LIMIT
        if _declared_length(request) > limit and _is_batch(request):
            limit = settings.MEMORYWEB_BATCH_BODY_LIMIT
        if _declared_length(request) > limit:
            return _too_large(request, limit)
        try:
            return get_response(request)
        except RequestDataTooBig:
            return _too_large(request, limit)

    return middleware


def _is_batch(request: HttpRequest) -> bool:
    # By the route: an id that is part of a path may end like one.
    try:
        return resolve(request.path_info).view_name in BATCH_ROUTES
    except Resolver404:
        return False


def _declared_length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _too_large(request: HttpRequest, limit: int) -> HttpResponse:
    detail = f"the body may have at most {limit // (1024 * 1024)} MiB here"
    if request.path.startswith(MACHINE_PATHS):
        return problem(request, TOO_LARGE, detail)
    return render(request, "413.html", {"detail": detail}, status=TOO_LARGE)


def moved(request: HttpRequest, error: DomainError) -> HttpResponse | None:
    """The way to what has another name now, for a request that only reads."""
    match = request.resolver_match
    if not isinstance(error, Moved) or match is None or request.method not in ("GET", "HEAD"):
        return None
    if "name" not in match.kwargs:  # The name is in the query: the error tells the new one.
        return None
    address = reverse(match.view_name, kwargs={**match.kwargs, "name": error.name})
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(f"{address}?{query}" if query else address)


class PathEnds(CommonMiddleware):
    """Adds the slash that a page's address lacks; a machine's address is what it is."""

    def should_redirect_with_slash(self, request: HttpRequest) -> bool:
        machine = request.path.startswith(MACHINE_PATHS)
        return not machine and super().should_redirect_with_slash(request)


def kept_by_nobody(get_response: Handler) -> Handler:
    """No cache, of a proxy or of a browser that others use, keeps what needs a login."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware


class DomainErrors:
    """On pages a domain error becomes a page that says what happened and what is safe."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if (failure := explained(error)) is not None:
            logger.error("request %s failed: %s", getattr(request, "id", ""), error)
            return failure_page(request, failure)
        if not isinstance(error, DomainError):
            return None
        return moved(request, error) or error_page(request, request, error)


def failure_page(request: HttpRequest, failure: DomainError) -> HttpResponse:
    """Drawn without the frame, which would ask the database that has just failed."""
    return error_page(request, None, failure)


def error_page(request: HttpRequest, drawn: HttpRequest | None, error: DomainError) -> HttpResponse:
    """The error as a page with what was sent, or for htmx as the part that is said above it."""
    if request.headers.get("HX-Request"):  # The form and what was typed stay on the page.
        response = render(drawn, "_error.html", {"error": error}, status=error.status)
    else:
        context = {"error": error, "texts": sent.texts_of(request)}
        response = render(drawn, "error.html", context, status=error.status)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response
