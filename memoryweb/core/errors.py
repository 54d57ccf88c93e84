"""What can go wrong in the domain's own words; the API, the pages and MCP each translate once."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with one place of the input: ("body", "summary"), "must not be empty"."""

    loc: tuple[str | int, ...]
    msg: str


class DomainError(Exception):
    """An error whose text is meant for the person or agent who caused it."""

    status = HTTPStatus.BAD_REQUEST
    retry_after: int | None = None  # Seconds after which it is worth another try.

    def __init__(self, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.members = members  # Further members of the problem document.

    @property
    def title(self) -> str:
        return self.status.phrase


class Invalid(DomainError):
    """The input breaks a rule; nothing was changed."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, detail: str, errors: Sequence[FieldError] = (), **members: Any) -> None:
        if errors:
            members["errors"] = [{"loc": list(e.loc), "msg": e.msg} for e in errors]
        super().__init__(detail, **members)
        self.errors = tuple(errors)

    @classmethod
    def field(cls, name: str, msg: str) -> "Invalid":
        return cls(f"{name}: {msg}", [FieldError((name,), msg)])


class Forbidden(DomainError):
    """The actor may not do this at all."""

    status = HTTPStatus.FORBIDDEN


class NotFound(DomainError):
    """There is no such thing, or it is not the actor's to see; the two look the same."""

    status = HTTPStatus.NOT_FOUND


class Moved(NotFound):
    """It goes by another name now; who only reads is sent there."""

    def __init__(self, detail: str, name: str) -> None:
        super().__init__(detail, moved_to=name)
        self.name = name


class Gone(DomainError):
    """It was there, and it will not come back."""

    status = HTTPStatus.GONE


class Conflict(DomainError):
    """Somebody else was first: the stored state is another than the caller assumed."""

    status = HTTPStatus.CONFLICT


class Refused(DomainError):
    """The guard found an attack in the text; it was not stored where agents read."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(
        self,
        detail: str,
        findings: Sequence[Any] = (),
        quarantine_id: int | None = None,
        text: str = "",
    ) -> None:
        """`text` is the one the findings are in, for a page whose form holds several."""
        super().__init__(
            detail,
            findings=[finding.as_json() for finding in findings],
            quarantine_id=quarantine_id,
        )
        self.findings = tuple(findings)
        self.quarantine_id = quarantine_id
        self.text = text


class Unavailable(DomainError):
    """This cannot be answered now, and the text says what would help."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
