"""The only writer of session contexts and their memories: every door comes through here.

What the guard finds in a person's text refuses it. What it finds in an agent's refuses it too,
and the text waits in quarantine for a curator; what an import brings is kept, marked as
quarantined, and served to nobody until then.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from episodes import session_queries
from episodes.etags import refuse_stale
from episodes.identifiers import new_id
from episodes.models import Context, Memory
from episodes.session_schemas import ContextPatch, MemoryIn, MemoryPatch
from memoryweb.core import clock, quarantine
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid, NotFound, Refused
from memoryweb.core.guard import Finding, scan

COLLECTION = "memories"
CONTEXTS = "contexts"  # Change rows for followers; no index reads them.
BATCH = 500

# What a quarantined text is a text of, as the beginning of its document's name; what becomes of
# it `episodes.session_decisions` knows.
NEW, EDITED, OF_CONTEXT = "new", "memory", "context"


@dataclass
class Saved:
    """What a save did. `ids` are those of the memories sent, in their order."""

    context: Context
    is_new: bool
    added: int
    ids: list[str]
    quarantined: int
    seq: int


def save(
    actor: Actor,
    *,
    context_id: str,
    name: str | None = None,
    intent: str | None = None,
    status: str | None = None,
    memories: Sequence[MemoryIn] = (),
    created_at: datetime | None = None,
    updated_at: datetime | None = None,
    must_be_new: bool = False,
) -> Saved:
    """Save a context and add memories to it, in one transaction; None leaves a field alone.

    A memory with an id that is there already, with the same content, is not added again. The
    two times are for imports. Raises Forbidden, Invalid for a new context without a name,
    Conflict for an id that has other content and for a context that is there and must be new,
    Refused when the guard objects.
    """
    actor.require(Role.CURATOR)
    names = {"name": name, "intent": intent, "status": status}
    fields = {key: value for key, value in names.items() if value is not None}
    _look_at_context(actor, context_id, fields)
    drafts = _drafts(actor, context_id, memories)
    now = timezone.now()
    times = {"created_at": created_at or now, "updated_at": updated_at or now}
    with clock.writing(actor) as tx:
        saving = Saving(tx, context_id, fields, times)
        saving.write_context()
        if must_be_new and not saving.is_new:
            raise Conflict("there is a session with this id already", id=context_id)
        saving.add(drafts)
        saving.finish()
    found = session_queries.find_context(context_id)
    held = sum(bool(draft.findings) for draft in saving.added)
    ids = [draft.id for draft in drafts]
    return Saved(found, saving.is_new, len(saving.added), ids, held, tx.seq)


def edit_context(
    actor: Actor, context_id: str, patch: ContextPatch, *, if_match: str = ""
) -> tuple[Context, int]:
    """Change the fields that were sent, the status included; the context, and the seq.

    Raises NotFound, Forbidden, Refused, and Conflict for an etag of an earlier state.
    """
    actor.require(Role.CURATOR)
    fields = patch.sent
    _look_at_context(actor, context_id, fields)

    def write(tx: clock.Writing, stored: Context, changes: dict[str, Any]) -> None:
        tx.changed(CONTEXTS, context_id)
        tx.audited("context.edit", f"contexts/{context_id}", fields=sorted(changes))

    seq = _edit(actor, Context, context_id, fields, if_match, write)
    return session_queries.find_context(context_id), seq


def set_status(actor: Actor, ids: Iterable[str], status: str) -> int:
    """Archive contexts, or take them back, in one transaction; how many were changed."""
    actor.require(Role.CURATOR)
    others = Context.objects.filter(pk__in=list(ids)).exclude(status=status)
    if not others.exists():
        return 0
    with clock.writing(actor) as tx:
        changed = list(others.values_list("pk", flat=True))
        columns = {"status": status, "updated_at": timezone.now()}
        Context.objects.filter(pk__in=changed).update(**columns)
        for context_id in changed:
            tx.changed(CONTEXTS, context_id)
            tx.audited("context.edit", f"contexts/{context_id}", fields=["status"], status=status)
    return len(changed)


def edit_memory(
    actor: Actor, memory_id: str, patch: MemoryPatch, *, if_match: str = ""
) -> tuple[Memory, int]:
    """Change the fields that were sent, `archived` included; the memory, described, and the seq.

    A vector of the former content is stale from then on. Raises as `edit_context`.
    """
    actor.require(Role.CURATOR)
    fields = patch.sent
    session_queries.find_memory(memory_id)
    if "content" in fields:
        document = f"{EDITED}/{memory_id}"
        _refuse(actor, [_Held(document, fields["content"], _findings(fields["content"]))])
        fields["content_sha"] = content_sha(fields["content"])
    _refuse_names(fields.get("source", ""))

    def write(tx: clock.Writing, stored: Memory, changes: dict[str, Any]) -> None:
        tx.changed(COLLECTION, memory_id)
        sha = changes.get("content_sha", stored.content_sha)
        facts = {"fields": sorted(changes.keys() - {"content_sha"}), "content_sha": sha}
        tx.audited("memory.edit", f"memories/{memory_id}", **facts)

    seq = _edit(actor, Memory, memory_id, fields, if_match, write)
    return session_queries.find_memory(memory_id), seq


def set_archived(actor: Actor, ids: Iterable[str], archived: bool) -> int:
    """Archive memories, or take them back, in one transaction; how many were changed."""
    actor.require(Role.CURATOR)
    others = Memory.objects.filter(pk__in=list(ids)).exclude(archived=archived)
    if not others.exists():
        return 0
    with clock.writing(actor) as tx:
        changed = list(others.values_list("pk", flat=True))
        columns = {"archived": archived, "updated_at": timezone.now()}
        Memory.objects.filter(pk__in=changed).update(**columns)
        for memory_id in changed:
            tx.changed(COLLECTION, memory_id)
            facts = {"fields": ["archived"], "archived": archived}
            tx.audited("memory.edit", f"memories/{memory_id}", **facts)
    return len(changed)


def content_sha(content: str) -> str:
    """The SHA-256 of the text that is embedded: the content as it is."""
    return hashlib.sha256(content.encode()).hexdigest()


# A save


@dataclass
class Draft:
    """One memory on its way in, with what the guard found in it."""

    given: MemoryIn
    id: str
    findings: list[Finding] = field(default_factory=list)


@dataclass
class _Held:
    """A text the guard may object to, and the document it would become."""

    document: str
    text: str
    findings: list[Finding]


def _drafts(actor: Actor, context_id: str, given: Sequence[MemoryIn]) -> list[Draft]:
    """What is to be added, read by the guard. Raises Refused for a person's and an agent's."""
    drafts = [Draft(one, one.id or new_id(), _findings(one.content)) for one in given]
    _refuse_names(*(text for one in given for text in (one.source, one.id or "")))
    if actor.kind != "system":
        _refuse(
            actor,
            [_Held(f"{NEW}/{d.given.type}/{context_id}", d.given.content, d.findings)
             for d in drafts],
        )  # fmt: skip
    return drafts


@dataclass
class Saving:
    """One transaction that saves a context and adds memories to it."""

    tx: clock.Writing
    context_id: str
    fields: dict[str, Any]
    times: dict[str, datetime]
    is_new: bool = False
    changed: list[str] = field(default_factory=list)
    added: list[Draft] = field(default_factory=list)

    def write_context(self) -> None:
        stored = Context.objects.filter(pk=self.context_id).first()
        if stored is None:
            if "name" not in self.fields:
                raise Invalid.field("name", "a new context needs a name")
            Context.objects.create(id=self.context_id, **self.fields, **self.times)
            self.is_new = True
            return
        self.changed = [k for k, v in self.fields.items() if getattr(stored, k) != v]

    def add(self, drafts: Sequence[Draft]) -> None:
        known = Memory.objects.in_bulk([draft.id for draft in drafts if draft.given.id])
        for draft in drafts:
            if (stored := known.get(draft.id)) is None:
                known[draft.id] = self._row(draft)
                self.added.append(draft)
            elif stored.context_id != self.context_id or stored.content != draft.given.content:
                raise Conflict("a memory with this id exists with other content", id=draft.id)
        Memory.objects.bulk_create([known[draft.id] for draft in self.added], batch_size=BATCH)
        for draft in self.added:
            self.tx.changed(COLLECTION, draft.id)
            if draft.findings:
                document, text = f"{EDITED}/{draft.id}", draft.given.content
                quarantine.hold(self.tx.actor, COLLECTION, document, text, draft.findings)

    def _row(self, draft: Draft) -> Memory:
        given, now = draft.given, self.times["updated_at"]
        return Memory(
            id=draft.id,
            context_id=self.context_id,
            type=given.type,
            content=given.content,
            content_sha=content_sha(given.content),
            importance=given.importance,
            source=given.source,
            created_at=given.created_at or now,
            updated_at=now,
            quarantined=bool(draft.findings),
        )

    def finish(self) -> None:
        if not (self.is_new or self.changed or self.added):
            return
        if not self.is_new:
            changes = {name: self.fields[name] for name in self.changed}
            changes["updated_at"] = self.times["updated_at"]
            Context.objects.filter(pk=self.context_id).update(**changes)
        self.tx.changed(CONTEXTS, self.context_id)
        self.tx.audited(
            "context.create" if self.is_new else "context.save",
            f"contexts/{self.context_id}",
            fields=sorted(self.changed),
            memories=len(self.added),
            quarantined=sum(bool(draft.findings) for draft in self.added),
        )


# The guard


def _findings(text: str) -> list[Finding]:
    return list(scan(text, posture="recalled"))


def _refuse_names(*texts: str) -> None:
    """An id or a source is shown beside its memory: what is an attack is no name."""
    for text in filter(None, set(texts)):
        if findings := _findings(text):
            detail = "the guard objects to a name in this; nothing was saved"
            raise Refused(detail, findings, text=text)


def _look_at_context(actor: Actor, context_id: str, fields: dict[str, Any]) -> None:
    """Refuse an id, a name or an intent that the guard objects to."""
    _refuse_names(context_id)
    text = _context_text(fields.get("name", ""), fields.get("intent", ""))
    if text.strip():
        _refuse(actor, [_Held(f"{OF_CONTEXT}/{context_id}", text, _findings(text))])


def _context_text(name: str, intent: str) -> str:
    """What is held of a context: its name, which is one line, and its intent."""
    return f"{name}\n{intent}"


def _refuse(actor: Actor, texts: Sequence[_Held]) -> None:
    """Raise Refused if the guard found anything; what an agent sent waits in quarantine first."""
    objected = [held for held in texts if held.findings]
    if not objected:
        return
    findings = [finding for held in objected for finding in held.findings]
    detail = "the guard objects to this text; nothing was saved"
    if actor.kind != "token":
        raise Refused(detail, findings, text=objected[0].text)
    with clock.writing(actor) as tx:
        numbers = [
            quarantine.hold(actor, COLLECTION, held.document, held.text, held.findings).pk
            for held in objected
        ]
        for held in objected:
            rules = sorted({finding.rule for finding in held.findings})
            sha = content_sha(held.text)
            tx.audited("memory.hold", f"{COLLECTION}/{held.document}", sha256=sha, rules=rules)
    error = Refused(f"{detail}; a curator decides about it in Review", findings, numbers[0])
    error.members["quarantine_ids"] = numbers
    raise error


# Edits


def _edit(
    actor: Actor,
    model: type[Any],
    pk: str,
    fields: dict[str, Any],
    if_match: str,
    write: Callable[[clock.Writing, Any, dict[str, Any]], None],
) -> int:
    """Write what differs, if the row is still the one that was read; the seq."""
    for _ in range(5):  # Without an etag, somebody else's edit in between is no conflict.
        stored = model.objects.filter(pk=pk).first()
        if stored is None:
            raise NotFound(f"there is no such {model._meta.verbose_name}")
        refuse_stale(stored, if_match, undone="saved")
        changes = {name: value for name, value in fields.items() if getattr(stored, name) != value}
        if not changes:
            return clock.current_seq()
        with clock.writing(actor) as tx:
            as_read = model.objects.filter(pk=pk, updated_at=stored.updated_at)
            if as_read.update(**changes, updated_at=timezone.now()):
                write(tx, stored, changes)
                done = True
            else:
                done = False
        if done:
            return tx.seq
    raise Conflict("others keep changing this; read it again")
