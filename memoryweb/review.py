"""Decisions about what the guard held back: one curator decides once, and approves with a reason.

A decision and what follows from it are one transaction: an episode is released, a page saved,
or nothing happened. The text of an item is kept whatever is decided.
"""

from typing import Any

from django.utils import timezone

from bank import admission, refs, services
from bank import queries as bank_queries
from bank.models import Kind, Wiki
from bank.texts import Text
from episodes import queries, session_decisions, sessions, store
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Forbidden, Invalid, NotFound
from memoryweb.core.guard import Finding, scan
from memoryweb.core.models import QuarantineItem

State = QuarantineItem.State
REASON_LENGTH = 1000


def approve(
    actor: Actor,
    item_id: int,
    reason: str,
    *,
    text: str | None = None,
    base: int | None = None,
) -> QuarantineItem:
    """Let a text be searched and served: its episode is released, its page saved.

    `text` is what the curator made of a page's text, and `base` the revision of the page that
    they compared it with, if there is a page; by default the one it had when the text was held.
    The item keeps the text that was held. A session's text joins it. Raises Forbidden, NotFound,
    Invalid without a reason or for too long a one, Conflict when it is decided already, its
    session is gone or the page has another revision by now.
    """
    reason = _deciding(actor, reason)
    if not reason:
        raise Invalid.field("reason", "say why, for those who come after you")
    item = _found(item_id)
    if item.collection == bank_queries.COLLECTION:
        _require_its_wiki(item)
        approved = _approved(item, text)
        services.accept(
            actor,
            item,
            item.text if text is None else text,
            message=f"{services.APPROVED}: {reason}",
            base=bank_queries.revision_when_held(item) if base is None else base,
            decide=lambda tx: _decide(tx, item, State.APPROVED, reason, **approved),
        )
    elif text is not None:
        raise Invalid.field("text", "only the text of a page is edited here")
    elif item.collection == sessions.COLLECTION:
        approved = _approved(item)
        session_decisions.accept(
            actor, item, decide=lambda tx: _decide(tx, item, State.APPROVED, reason, **approved)
        )
    else:
        with clock.writing(actor) as tx:
            _decide(tx, item, State.APPROVED, reason, **_approved(item))
            store.release(tx, item.document)
    return _found(item_id)


def reject(actor: Actor, item_id: int, reason: str = "") -> QuarantineItem:
    """Leave a text where no search and no agent finds it. Raises as approve."""
    reason = _deciding(actor, reason)
    item = _found(item_id)
    with clock.writing(actor) as tx:
        _decide(tx, item, State.REJECTED, reason)
    return _found(item_id)


def keep(actor: Actor, kind: Kind, name: str, text: str) -> QuarantineItem:
    """Let a text wait that the guard refused to save: somebody quotes an attack on purpose.

    Whoever may decide can approve it in Review, its writer too, with a reason. Raises Forbidden,
    Invalid, and Conflict when the guard objects to nothing, or the page says this already.
    """
    actor.require(Role.CURATOR)
    admission.check_storable(text, "content")
    page = Text(kind, services.canonical_name(kind, name), text)
    admission.check_size(page, "content")
    findings = services.inspect(kind, page.name, text)
    if not findings:
        raise Conflict("the guard objects to nothing in this text; save it")
    key = bank_queries.key_of(kind, page.name)
    if bank_queries.servable().filter(kind=kind, key=key, sha256=page.sha256).exists():
        raise Conflict("the page says this already")
    return admission.keep(actor, admission.filed_under(kind, page.name), text, findings)


def inspect(item: QuarantineItem, text: str) -> list[Finding]:
    """What the guard finds in an item's text, or in what a curator made of a page's."""
    if item.collection in (queries.COLLECTION, sessions.COLLECTION):
        return scan(text, posture="recalled")
    kind, _, name = item.document.removesuffix(bank_queries.APPENDED).partition("/")
    return services.inspect(Kind(kind), name, text)


def require(actor: Actor) -> None:
    """Raise Forbidden unless the actor may decide."""
    if not actor.may_decide:
        raise Forbidden("a curator decides, or a token of scope admin that is bound to no agent")


def _deciding(actor: Actor, reason: str) -> str:
    require(actor)
    reason = reason.strip()
    if len(reason) > REASON_LENGTH:
        raise Invalid.field("reason", f"may have at most {REASON_LENGTH:,} characters")
    return reason


def _found(item_id: int) -> QuarantineItem:
    item = QuarantineItem.objects.select_related("token").filter(pk=item_id).first()
    if item is None:
        raise NotFound("nothing waits under this number")
    return item


def _require_its_wiki(item: QuarantineItem) -> None:
    """Raise Conflict for a text of a wiki that is not there: it can only be rejected."""
    if (name := deleted_wiki(item)) is not None:
        raise Conflict(
            f"the wiki “{name}” was deleted; nothing was approved. Reject the text, or have an "
            "administrator bring the wiki back first"
        )


def deleted_wiki(item: QuarantineItem) -> str | None:
    """The wiki that this is a text of, if that is not there any more."""
    kind, _, name = item.document.partition("/")
    wiki = refs.split(name)[0]
    if item.collection != bank_queries.COLLECTION or kind != Kind.WIKI:
        return None
    return None if Wiki.objects.filter(pk=wiki, deleted_at=None).exists() else wiki


def _approved(item: QuarantineItem, text: str | None = None) -> dict[str, Any]:
    """Which text is let pass which rules, for the guard to remember when its rules change."""
    rules = {finding["rule"] for finding in item.findings}
    if text is not None:
        rules |= {finding.rule for finding in inspect(item, text)}
    sha = quarantine.digest(item.text if text is None else text)
    return {"approved_sha256": sha, "approved_rules": sorted(rules)}


def _decide(
    tx: clock.Writing, item: QuarantineItem, state: State, reason: str, **columns: Any
) -> None:
    """Mark the item as decided, if nobody else did. Raises Conflict."""
    waiting = QuarantineItem.objects.filter(pk=item.pk, state=State.WAITING)
    decided = waiting.filter(
        document=item.document
    ).update(  # Its page may be renamed by now.
        state=state,
        decided_at=timezone.now(),
        decided_by=str(tx.actor)[:250],
        decision_reason=reason,
        **columns,
    )
    if not decided:
        raise Conflict("this is decided already, or its text is another by now; look at it again")
    tx.audited(
        f"quarantine.{state}"[:60],
        f"{item.collection}/{item.document}",
        item=item.pk,
        sha256=quarantine.digest(item.text),
        rules=sorted({finding["rule"] for finding in item.findings}),
    )
