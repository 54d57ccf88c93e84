"""What may become a page's text: its characters, shape and size, and what the guard says of it."""

from collections.abc import Sequence

from bank import markdown, queries, record
from bank.files import sha256
from bank.layout import CONTENT_LIMIT
from bank.models import Kind
from bank.texts import Text
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor
from memoryweb.core.errors import FieldError, Invalid, Refused
from memoryweb.core.guard import Finding, scan
from memoryweb.core.models import QuarantineItem

_OBJECTION = "the guard objects to this text; "


def check_storable(text: str, field: str) -> None:
    """Raise Invalid for characters that no text has."""
    if "\0" in text:
        raise Invalid.field(field, "holds a NUL character, as no text does")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid.field(field, "holds half of a character (a lone surrogate)") from None


def check_shape(text: Text) -> None:
    """Raise Invalid unless the text begins as an agent's has to."""
    if problem := markdown.shape_problem(text.content):
        raise Invalid.field("content", problem)


def check_size(text: Text, field: str) -> None:
    """Raise Invalid for a page that would be larger than one may be."""
    if len(text.data) > CONTENT_LIMIT:
        raise Invalid.field(
            field, f"a page may take {CONTENT_LIMIT:,} bytes; this one would be {len(text.data):,}"
        )


def check_message(message: str) -> None:
    """Raise Refused when the guard objects to what is said of a save: agents read that as well."""
    check_storable(message, "message")
    if findings := scan(message):
        refused = Refused("the guard objects to the message; nothing was saved", findings)
        error = FieldError(("body", "message"), findings[0].reason)
        refused.members["errors"] = [{"loc": list(error.loc), "msg": error.msg}]
        raise refused


def filed_under(kind: Kind, name: str) -> str:
    """The document of a text that is meant for this page: its name as the page itself spells it,
    if there is one, so that what is held back of a page goes with it."""
    same = queries.living().filter(kind=kind, key=queries.key_of(kind, name))
    page = same.defer("content").first()
    return page.document if page else f"{kind}/{name}"


def refuse(actor: Actor, document: str, text: str, findings: Sequence[Finding]) -> None:
    """Raise Refused when there are findings; an agent's text is kept for a curator to see."""
    if not findings:
        return
    if actor.kind == "person":
        raise Refused(_OBJECTION + "nothing was saved", findings)
    held = keep(actor, document, text, findings)
    raise Refused(_OBJECTION + "it waits for a curator's decision", findings, held.pk)


def keep(actor: Actor, document: str, text: str, findings: Sequence[Finding]) -> QuarantineItem:
    """Let a text that is stored nowhere else wait for a curator's decision."""
    held = _held_alike(document, text)
    if held is None:
        with clock.writing(actor) as tx:
            held = quarantine.hold(actor, queries.COLLECTION, document, text, findings)
            sha = sha256(text.encode())
            record.withhold(document, sha)
            tx.audited("page.hold", f"pages/{document}", sha256=sha, quarantine_id=held.pk)
    return held


def _held_alike(document: str, text: str) -> QuarantineItem | None:
    """The same text waiting already: an agent that tries again makes no second item."""
    waiting = QuarantineItem.objects.filter(state=QuarantineItem.State.WAITING, text=text)
    return waiting.filter(collection=queries.COLLECTION, document=document).first()
