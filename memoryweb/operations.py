"""What holds for every operation of the API, whichever app it is of."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from memoryweb.core import clock, idempotency
from memoryweb.core.actor import Role
from memoryweb.core.api_auth import Scoped
from memoryweb.core.errors import FieldError, Invalid

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "loc": {"type": "array", "items": {}},
                    "msg": {"type": "string"},
                },
            },
        },
        "request_id": {"type": "string"},
    },
}
ALWAYS = {401: "No live token", 403: "Too small a scope", 429: "Too many requests"}
KEY_PARAMETER = {
    "name": idempotency.HEADER,
    "in": "header",
    "required": False,
    "description": "Sent again within 24 hours with the same key, the request is done only once.",
    "schema": {"type": "string", "maxLength": idempotency.LONGEST_KEY},
}


# Ids of a client's own choice, which may read like a part of the address.
OWN_IDS = {"episode_id", "context_id", "memory_id"}
OWN_ID = (
    "Percent-encoded. One that reads like an address itself (`batch`, `..`, `a/similar`, one with "
    "`~` in front) stands here as `~` and its base64url without padding; any other may, too."
)


class DocumentedAPI(NinjaAPI):
    """An API whose document names the problems too, and the key that a POST may carry."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(**options)
        schema.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
        for path, item in schema["paths"].items():
            for method, operation in item.items():
                _document(path, method, operation)
        return schema


def _document(path: str, method: str, operation: dict[str, Any]) -> None:
    problems = {**ALWAYS, 422: "Not valid", 503: "Not possible now"}
    if "{" in path:
        problems[404] = "There is no such thing"
    if "requestBody" in operation:
        problems |= {400: "No JSON", 413: "Too large"}
    if method != "get":
        problems |= {404: "There is no such thing", 409: "Somebody else was first"}
    for parameter in operation.get("parameters", []):
        if parameter["name"] in OWN_IDS:
            parameter["description"] = OWN_ID
    if method == "post":
        operation.setdefault("parameters", []).append(KEY_PARAMETER)
    if method == "post" or path.endswith("/changes"):
        problems[410] = "Not kept any more"
    for status, description in problems.items():
        operation["responses"].setdefault(
            status,
            {
                "description": description,
                "content": {
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                },
            },
        )


def operations_of(api: NinjaAPI) -> Iterator[Operation]:
    """The operations that answer: those of the apps' own routers are only copied for them."""
    for router in api._get_bound_routers():
        for path_view in router.path_operations.values():
            yield from path_view.operations


def writes(operation: Operation) -> bool:
    """Whether it changes anything: those ask for more than to read."""
    scopes = [one.role for one in operation.auth_callbacks if isinstance(one, Scoped)]
    return operation.methods != ["GET"] and any(role > Role.VIEWER for role in scopes)


def refuse_unknown_parameters(operation: Operation) -> None:
    """Answer 422 to an unknown query parameter: a misspelt filter would filter nothing."""
    known = {
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    }
    get_values = operation._get_values

    def checked(request: HttpRequest, *args: Any) -> Any:
        if unknown := sorted(request.GET.keys() - known):
            raise Invalid(
                f"unknown query parameter {unknown[0]!r}",
                [FieldError(("query", name), "is not a parameter here") for name in unknown],
            )
        return get_values(request, *args)

    operation._get_values = checked  # type: ignore[method-assign,assignment]


def answer_for_writes(operation: Operation, *, numbered: bool = True) -> None:
    """Tell the number of the last change in X-Change-Seq, and with `numbered` in a JSON object as
    well; do a POST with a key only once."""
    if not writes(operation):
        return
    get_values, run = operation._get_values, operation.run

    def claimed(request: HttpRequest, *args: Any) -> Any:
        # After the door and the rules: what they refuse takes no key.
        values = get_values(request, *args)
        if request.method == "POST":
            request.claim = idempotency.claim(request.actor, request)  # type: ignore[attr-defined]
        return values

    def answered(request: HttpRequest, **path: Any) -> Any:
        with clock.noting() as noted:
            response = run(request, **path)
        assert isinstance(response, HttpResponse)  # noqa: S101 - no write answers in a stream
        if response.status_code < 300:
            response.setdefault("X-Change-Seq", str(noted.seq or clock.current_seq()))
            if numbered and not request.path.startswith(AS_THEY_ARE):
                _number(response)
        if (claim := getattr(request, "claim", None)) is not None:
            claim.finish(response, noted.documents, noted.seqs)
        return response

    operation._get_values = claimed  # type: ignore[method-assign,assignment]
    operation.run = answered  # type: ignore[method-assign]


# What the memory tool says, and a run, have a shape of their own: there the header tells it alone.
AS_THEY_ARE = tuple(
    f"/api/v1/{route}" for route in ("memory-tool", "search/reindex", "search/rebuild", "runs/")
)
_NUMBERED = re.compile(rb'"change_seq": ?\d+}\s*\Z')  # As most answers end, so few are read.


def _number(response: HttpResponse) -> None:
    """Add `change_seq` to a JSON object that has none."""
    is_json = response.get("Content-Type", "").startswith("application/json")
    if not is_json or not response.content or _NUMBERED.search(response.content[-40:]):
        return
    body = json.loads(response.content)
    if isinstance(body, dict) and "change_seq" not in body:
        body["change_seq"] = int(response["X-Change-Seq"])
        response.content = json.dumps(body, ensure_ascii=False)
