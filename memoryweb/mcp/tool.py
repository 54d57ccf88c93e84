"""A tool as agents see it: what it takes and gives, who may call it, and the one way to call it."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from inspect import getdoc
from typing import Any

from ninja import Status
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from episodes.schemas import read
from memoryweb.core.actor import Role
from memoryweb.core.api_auth import ApiRequest
from memoryweb.core.errors import DomainError
from memoryweb.core.failures import explained
from memoryweb.core.middleware import problem_document
from memoryweb.operations import PROBLEM

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Do = Callable[[ApiRequest, Any], Any]
UNEXPECTED = "something went wrong here; the log has it under the request id"


@dataclass(frozen=True)
class Outcome:
    """The JSON object that the API answers too, a problem document when it failed; `notes` say
    in words what to do with it."""

    answer: Json
    failed: bool = False
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        return [json.dumps(self.answer, ensure_ascii=False), *self.notes]


@dataclass(frozen=True, eq=False)
class Tool:
    """`fields` says what each argument means. `note` may add words to an answer."""

    name: str
    title: str
    description: str
    takes: type[BaseModel]
    gives: Any
    do: Do
    fields: dict[str, str] = field(default_factory=dict)
    writes: bool = False
    destructive: bool = False
    idempotent: bool = False
    omit_none: bool = False
    note: Callable[[Json], str] = lambda answer: ""

    @property
    def role(self) -> Role:
        return Role.CURATOR if self.writes else Role.VIEWER

    def call(self, request: ApiRequest, arguments: Json) -> Outcome:
        """Do it as the request's actor. What goes wrong is an outcome too, never an exception."""
        try:
            request.actor.require(self.role)
            answer = self._as_json(self.do(request, read(self.takes, arguments)))
        except Exception as error:
            return _failed(request, error)
        note = self.note(answer)
        return Outcome(answer, notes=(note,) if note else ())

    def _as_json(self, answer: Any) -> Json:
        value = answer.value if isinstance(answer, Status) else answer
        if not isinstance(value, BaseModel):
            value = self._answers.validate_python(value)
        dumped: Json = value.model_dump(mode="json", exclude_none=self.omit_none)
        return dumped

    @cached_property
    def _answers(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.gives)

    @cached_property
    def input_schema(self) -> Json:
        schema = _untitled(self.takes.model_json_schema(schema_generator=_Plain))
        schema.pop("description", None)
        for name, meaning in self.fields.items():
            schema["properties"][name]["description"] = meaning
        return schema

    @cached_property
    def output_schema(self) -> Json:
        """An object: the answer, or the problem document of a call that failed."""
        schema = self._answers.json_schema(mode="serialization", schema_generator=_Plain)
        named = {**schema.pop("$defs", {}), "Answer": schema, "Problem": PROBLEM}
        choice = [{"$ref": "#/$defs/Answer"}, {"$ref": "#/$defs/Problem"}]
        return {"type": "object", "anyOf": choice, **_untitled({"$defs": named})}


def tool(title: str, takes: type[BaseModel], gives: Any, **options: Any) -> Callable[[Do], Tool]:
    """Make the function a tool of its name, described by its docstring."""

    def made(do: Do) -> Tool:
        name = do.__name__
        description = " ".join((getdoc(do) or "").split())
        return Tool(name, title, description, takes, gives, do, **options)

    return made


def _failed(request: ApiRequest, error: Exception) -> Outcome:
    """The error in the shape in which the API answers it."""
    failure = error if isinstance(error, DomainError) else explained(error)
    if failure is None:
        logger.exception("request %s failed", getattr(request, "id", ""), exc_info=error)
        return Outcome(problem_document(request, 500, UNEXPECTED), failed=True)
    told = problem_document(
        request, failure.status, failure.detail, failure.title, **failure.members
    )
    return Outcome(told, failed=True)


class _Plain(GenerateJsonSchema):
    """Without titles that repeat the fields' names and without defaults that say nothing: models
    pay for each word."""

    def default_schema(self, schema: Any) -> Json:
        described = super().default_schema(schema)
        if described.get("default", ...) is None:
            del described["default"]
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _untitled(schema: Json) -> Json:
    for one in (schema, *schema.get("$defs", {}).values()):
        one.pop("title", None)
    return schema
