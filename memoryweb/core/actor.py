"""Who does something, and through which door: every writer takes an Actor and no request."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from memoryweb.core.errors import Forbidden

Via = Literal["page", "api", "mcp", "admin", "command", "import", "file", "rules"]


class Role(IntEnum):
    """What a person may do; a token's scopes read, write and admin map onto the same three."""

    VIEWER = 1
    CURATOR = 2
    ADMINISTRATOR = 3


SCOPES = {"read": Role.VIEWER, "write": Role.CURATOR, "admin": Role.ADMINISTRATOR}


@dataclass(frozen=True)
class Actor:
    kind: Literal["person", "token", "system"]
    name: str
    via: Via
    role: Role
    user_id: int | None = None
    token_id: int | None = None
    agent_id: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def may_decide(self) -> bool:
        """Whether they see and decide what the guard held back: a curator who has signed in, or
        a token of scope admin that is bound to no agent."""
        least = Role.ADMINISTRATOR if self.kind == "token" else Role.CURATOR
        return self.role >= least and not self.agent_id

    def require(self, role: Role) -> None:
        """Raise Forbidden unless this actor has at least `role`."""
        if self.role < role:
            raise Forbidden(f"this needs the {role.name.lower()} role or its scope")

    def may_write_as(self, agent_id: str) -> None:
        """Raise Forbidden when the actor's token is bound to another agent."""
        if self.agent_id and agent_id != self.agent_id:
            raise Forbidden(f"this token writes only as agent {self.agent_id!r}")


def system(via: Via = "command") -> Actor:
    """The product itself: commands, imports, the watcher of files, the guard's new rules."""
    return Actor("system", "memoryweb", via, Role.ADMINISTRATOR)
