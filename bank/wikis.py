"""The only writer of wikis; their pages are those of bank.wiki_pages.

A wiki is a folder of Markdown that is linked and searched by itself. The bank is the built-in
wiki `bank`: its pages have kinds and functions of their own. The built-in wiki `memories` is the
memory tool's, and its files may have any ending.
"""

import json
import os
import re
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from bank import places, queries, refs
from bank.models import Kind, Page, Wiki, WikiSource
from bank.names import NameRefused
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid, NotFound, Refused
from memoryweb.core.guard import scan
from memoryweb.core.sqlite.base import writing_at_once
from memoryweb.core.substrings import contains

BANK = "bank"
MEMORIES = refs.MEMORIES
BUILT_IN = (BANK, MEMORIES)
NAME_LENGTH = 200
DESCRIPTION_LENGTH = 10_000
META_LENGTH = 16_384  # Characters of JSON.
ORDER = ("-created_at", "id")
COLLECTION = "wikis"


# Wikis


def create(
    actor: Actor,
    *,
    team_id: str,
    name: str,
    id: str = "",
    folder: str = "",
    description: str = "",
    meta: dict[str, Any] | None = None,
    service_id: str = "",
) -> Wiki:
    """Make a wiki; `folder` is an absolute path of one that is there and is pointed at.

    Its files are taken in by the worker, or at once by `bank.watching.take_in`. Raises Forbidden
    (only administrators point at folders), Invalid, and Conflict for an id that is in use.
    """
    actor.require(Role.ADMINISTRATOR if folder else Role.CURATOR)
    now = timezone.now()
    wiki = Wiki(
        id=_chosen(id) if id else _made(name),
        team_id=_checked("team_id", team_id, NAME_LENGTH),
        name=_checked("name", name, NAME_LENGTH) or id,
        description=_checked("description", description, DESCRIPTION_LENGTH),
        meta=_checked_meta(meta or {}),
        service_id=service_id[:NAME_LENGTH],
        folder=_pointed(folder) if folder else "",
        created_at=now,
        updated_at=now,
    )
    if not wiki.name:
        raise Invalid.field("name", "must not be empty")
    if not wiki.folder:
        _refuse_left(wiki.pk)
        places.own_root(wiki.pk).mkdir(parents=True, exist_ok=True)
    with clock.writing(actor) as tx:
        _check_unused(wiki.pk)
        wiki.save(force_insert=True)
        tx.changed(COLLECTION, f"{Kind.WIKI}/{wiki.pk}/")
        tx.audited("wiki.create", f"wikis/{wiki.pk}", pointed=bool(wiki.folder))
    return wiki


def update(
    actor: Actor,
    wiki: str,
    *,
    name: str | None = None,
    team_id: str | None = None,
    description: str | None = None,
    meta: dict[str, Any] | None = None,
) -> Wiki:
    """Change what is said of a wiki; None leaves a field as it is. Raises NotFound, Invalid."""
    actor.require(Role.CURATOR)
    found = get(wiki)
    if found.pk == BANK:
        raise Invalid.field("wiki_id", "the bank has no description of its own")
    if found.pk == MEMORIES:
        make_memories()
    given: dict[str, Any] = {"updated_at": timezone.now()}
    for field, value in {"name": name, "team_id": team_id, "description": description}.items():
        if value is not None:
            most = DESCRIPTION_LENGTH if field == "description" else NAME_LENGTH
            given[field] = _checked(field, value, most)
    if given.get("name") == "":
        raise Invalid.field("name", "must not be empty")
    if meta is not None:
        given["meta"] = _checked_meta(meta)
    with clock.writing(actor) as tx:
        # Only what was given: somebody else may change the rest at the same time.
        if not Wiki.objects.filter(pk=found.pk, deleted_at=None).update(**given):
            raise NotFound("there is no such wiki any more")
        tx.audited("wiki.update", f"wikis/{found.pk}")
    return get(wiki)


def note_service(wiki: str, service_id: str) -> None:
    """Remember which x-tdai-service-id asked last; no search waits for this, so not while others
    write."""
    rows = Wiki.objects.filter(pk=wiki, deleted_at=None).exclude(service_id=service_id[:200])
    if not service_id or "\0" in service_id or not rows.exists():
        return
    with writing_at_once() as may_write:
        if may_write:
            with transaction.atomic():
                rows.update(service_id=service_id[:200])


def delete(actor: Actor, wiki: str) -> Wiki:
    """Take a wiki and all its pages out of every list and index; its files stay as they are.

    `undelete` brings it back, `bank.erasing_wikis` ends it. Raises NotFound, and Invalid for a
    built-in one.
    """
    actor.require(Role.CURATOR)
    _refuse_built_in(wiki)
    found = get(wiki)
    if found.folder:
        actor.require(Role.ADMINISTRATOR)
    return _marked(actor, found, "wiki.delete", deleted=True)


def undelete(actor: Actor, wiki: str) -> Wiki:
    """Bring a deleted wiki back as it was. Raises Forbidden, NotFound."""
    actor.require(Role.ADMINISTRATOR)
    return _marked(actor, find_deleted(wiki), "wiki.undelete", deleted=False)


def _marked(actor: Actor, wiki: Wiki, action: str, *, deleted: bool) -> Wiki:
    wiki.deleted_at = timezone.now() if deleted else None
    with clock.writing(actor) as tx:
        wiki.save(update_fields=["deleted_at"])
        document = f"{Kind.WIKI}/{wiki.pk}/"
        tx.changed(COLLECTION, document, "delete" if deleted else "put")
        tx.audited(action, f"wikis/{wiki.pk}", pages=queries.pages_of(wiki.pk).count())
    return wiki


def find_deleted(wiki: str) -> Wiki:
    """A wiki that was deleted and can be brought back or erased. Raises NotFound."""
    found = Wiki.objects.filter(pk=wiki).exclude(deleted_at=None).first()
    if found is None:
        raise NotFound("there is no such deleted wiki")
    return found


def get(wiki: str) -> Wiki:
    """A wiki, the built-in ones included. Raises NotFound."""
    if wiki == BANK:
        return bank()
    return memories() if wiki == MEMORIES else queries.wiki(wiki)


def bank() -> Wiki:
    """The bank as a wiki; no row says it, and its pages are those without one."""
    said = "People, projects and decisions: the pages, notes and long-term memory of the agents."
    epoch = datetime.fromtimestamp(0, UTC)
    return Wiki(id=BANK, name="Memory bank", description=said, created_at=epoch, updated_at=epoch)


def memories() -> Wiki:
    """The memory tool's wiki. Until somebody writes to it no row says it, as with the bank."""
    now = timezone.now()
    stand_in = Wiki(id=MEMORIES, name="Memories", created_at=now, updated_at=now)
    return Wiki.objects.filter(pk=MEMORIES).first() or stand_in


def make_memories() -> None:
    """Make the memory tool's wiki if it is not there yet: its pages need a row and a folder."""
    if Wiki.objects.filter(pk=MEMORIES).exists():
        return
    places.own_root(MEMORIES).mkdir(parents=True, exist_ok=True)
    now = timezone.now()
    said = {"name": "Memories", "created_at": now, "updated_at": now}
    Wiki.objects.get_or_create(pk=MEMORIES, defaults=said)


def listed(*, team_id: str | None = None, q: str = "") -> QuerySet[Wiki]:
    """The wikis that have rows, newest first (ORDER); `q` is found in name, id and description."""
    rows = Wiki.objects.filter(deleted_at=None)
    if team_id is not None:
        rows = rows.filter(team_id=team_id)
    if q.strip():
        said = q.strip()
        rows = rows.filter(
            contains("name", said) | contains("pk", said) | contains("description", said)
        )
    return rows.order_by(*ORDER)


def deleted() -> QuerySet[Wiki]:
    """The wikis that can be brought back, the latest deleted first."""
    return Wiki.objects.exclude(deleted_at=None).order_by("-deleted_at", "id")


def page_counts(wikis: Sequence[str]) -> dict[str, int]:
    """How many pages each of these has."""
    rows = Page.objects.filter(wiki__in=wikis, archived_at=None).order_by().values_list("wiki")
    counts = dict(rows.annotate(count=Count("pk")))
    return {wiki: counts.get(wiki, 0) for wiki in wikis}


def sources(wiki: str) -> QuerySet[WikiSource]:
    """The files that were given to a wiki, by name. Raises NotFound."""
    return get(wiki).sources.order_by("filename") if wiki != BANK else WikiSource.objects.none()


# What a wiki may be


def is_missing(wiki: str) -> bool:
    """Whether `create` would make a wiki of this id. Raises Invalid for an id that none can have,
    Conflict for that of a deleted one."""
    if wiki in BUILT_IN or Wiki.objects.filter(pk=wiki, deleted_at=None).exists():
        return False
    _check_unused(_chosen(wiki))
    _refuse_left(wiki)
    return True


def _check_unused(wiki: str) -> None:
    if Wiki.objects.filter(pk=wiki).exists():
        raise Conflict(f"there is, or was, a wiki “{wiki}”")


def _refuse_left(wiki: str) -> None:
    """Raise Conflict where files lie that would be pages: of a wiki that was erased, perhaps."""
    if places.holds_anything(wiki):
        raise Conflict(f"files of an earlier wiki “{wiki}” lie in memoryweb's home; move them away")


def _chosen(wiki: str) -> str:
    if wiki in BUILT_IN:
        raise Conflict(f"“{wiki}” is built in")
    try:
        refs.check_id(wiki)
    except NameRefused as refused:
        raise Invalid.field("id", refused.reason) from refused
    return wiki


def _made(name: str) -> str:
    """An id that nobody has, which says what it can of the name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain)[: refs.ID_LENGTH - 9].strip("-") or "wiki"
    return f"{stem}-{secrets.token_hex(4)}"


def _checked(field: str, text: str, most: int) -> str:
    text = text.strip()
    if len(text) > most:
        raise Invalid.field(field, f"may have at most {most:,} characters")
    if "\0" in text or text.encode(errors="replace").decode() != text:
        raise Invalid.field(field, "holds a character that no text has")
    if findings := scan(text):
        raise Refused("the guard objects to what is said of the wiki; nothing was saved", findings)
    return text


def _checked_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """What a client keeps with a wiki: some JSON, in which agents are told nothing either."""
    _checked("meta", json.dumps(meta, ensure_ascii=False), META_LENGTH)
    return meta


def _pointed(folder: str) -> str:
    """The folder's real path. Raises Invalid for one that cannot be a wiki's."""
    path = Path(folder)
    if "\0" in folder or not path.is_absolute():
        raise Invalid.field("folder", "must be an absolute path")
    try:
        real = Path(os.path.realpath(path))
        there = real.is_dir()
    except OSError:
        there = False
    if not there:
        raise Invalid.field("folder", "is no folder on this machine")
    for other, what in _taken_folders():
        other = Path(os.path.realpath(other))
        if real.is_relative_to(other) or other.is_relative_to(real):
            raise Invalid.field("folder", f"lies in or around {what}")
    return str(real)


def _taken_folders() -> Iterable[tuple[Path, str]]:
    yield Path(settings.MEMORYWEB_HOME), "memoryweb's home"
    yield Path(settings.MEMORYWEB_MEMORY_DIR), "the memory folder"
    rows = Wiki.objects.exclude(folder="").values_list("folder", "pk")
    yield from ((Path(folder), f"the folder of the wiki “{pk}”") for folder, pk in rows)


def _refuse_built_in(wiki: str) -> None:
    if wiki in BUILT_IN:
        raise Invalid.field("wiki_id", f"“{wiki}” is built in and stays")
