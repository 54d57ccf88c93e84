"""The memory tool over HTTP: a client hands over the model's command as it came, and gives the
model the result as it is."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Router
from pydantic import BaseModel, Field, RootModel

from bank import memory_tool
from bank.memory_files import MemoryFiles
from memoryweb.core.actor import Actor, Role
from memoryweb.core.api_auth import ApiRequest, Scoped
from memoryweb.core.errors import DomainError
from memoryweb.core.strict_json import loads

router = Router()


class MemoryCommand(RootModel[memory_tool.Command]):
    """One command of Anthropic's memory tool."""

    root: Annotated[memory_tool.Command, Field(discriminator="command")]


class MemoryResult(BaseModel):
    """What the tool answers the model; `is_error` is the flag of the tool's result."""

    result: str
    is_error: bool


class ByCommand(Scoped):
    """To view asks for the scope read, every other command for write."""

    def __call__(self, request: HttpRequest) -> Actor | None:
        role = Role.VIEWER if _views(request) else self.role
        return Scoped(role)(request)


def _views(request: HttpRequest) -> bool:
    try:
        body = loads(request.body)
    except DomainError:
        return False
    return isinstance(body, dict) and body.get("command") == "view"


@router.post("/memory-tool", auth=ByCommand(Role.CURATOR), response=MemoryResult)
def memory_command(request: ApiRequest, command: MemoryCommand) -> MemoryResult:
    """Do one command of Anthropic's memory tool (view, create, str_replace, insert, delete,
    rename) on `/memories`. `result` is worded as that tool words it, also where it says that
    something is not there. A path that leads out of `/memories` is 422, and so is a text that
    the guard objects to, with its quarantine_id.
    """
    files = MemoryFiles(request.actor)
    try:
        return MemoryResult(result=memory_tool.run(files, command.root), is_error=False)
    except memory_tool.CommandFailed as failure:
        return MemoryResult(result=str(failure), is_error=True)
