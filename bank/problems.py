"""The list of what is not taken in from the memory folder: kept by each look, read by people."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from bank import layout
from bank.models import FileProblem
from bank.reasons import Problem, Why
from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import NotFound

_CHUNK = 500  # Rows in one statement.
ORDER = ("path", "id")


def listed() -> QuerySet[FileProblem]:
    """All that is not taken in, folders before what is in them."""
    return FileProblem.objects.order_by(*ORDER)


def warning() -> str:
    """What /readyz says of it; "" when all is taken in."""
    said = [f"{one.path}: {one.reason} Nothing is written there." for one in missing()]
    if count := listed().count():
        said.append(f"files that could not be taken in: {count}")
    return " ".join(said)


def missing() -> QuerySet[FileProblem]:
    """The folders in which nothing is written, as files are gone that may come back."""
    return listed().filter(why=Why.MISSING, confirmed=False)


def _within(root: str) -> QuerySet[FileProblem]:
    """What is listed of one folder: a wiki's by its mark, the memory folder by ""."""
    if root:
        return FileProblem.objects.filter(Q(path=root) | Q(path__startswith=f"{root}/"))
    return FileProblem.objects.exclude(path__startswith="@")


def forget(root: str) -> None:
    """Nothing is looked for in this folder any more."""
    _within(root).delete()


def stamps(root: str = "") -> dict[str, str]:
    """What each file that a scan could not take in looked like then; "" when that says nothing."""
    rows = _within(root).filter(found_by=FileProblem.FoundBy.SCAN)
    return dict(rows.values_list("path", "stamp"))


def forget_stamps() -> None:
    """Let the next scan look at all of them again."""
    FileProblem.objects.exclude(stamp="").update(stamp="")


def is_held_back(path: str) -> bool:
    """Whether this file is missing together with so many others that it is not written again."""
    rows = FileProblem.objects.filter(path=layout.folder_of(path), why=Why.MISSING)
    return rows.filter(confirmed=False).exists()


def gone_since(paths: Collection[str]) -> dict[str, datetime]:
    """Since when each of these files is known to be gone."""
    asked = set(paths)
    rows = FileProblem.objects.filter(why=Why.GONE).values_list("path", "since")
    return {path: since for path, since in rows if path in asked} if asked else {}


def confirmed() -> set[str]:
    """The folders whose missing files a person said to be lost."""
    rows = FileProblem.objects.filter(why=Why.MISSING, confirmed=True)
    return set(rows.values_list("path", flat=True))


def confirm(actor: Actor, path: str) -> None:
    """The missing files of this folder are lost, and to be written again. Raises NotFound."""
    actor.require(Role.CURATOR)
    with clock.writing(actor) as tx:
        rows = FileProblem.objects.filter(path=path, why=Why.MISSING, confirmed=False)
        if not rows.update(confirmed=True):
            raise NotFound("no files are missing there")
        tx.audited("files.write_again", path)


def remember(
    found_by: FileProblem.FoundBy,
    found: Mapping[str, Problem],
    looks: Mapping[str, str],
    unseen: Collection[str] = (),
    root: str | None = None,
) -> dict[str, Problem]:
    """Let the list hold what this look found, with what the files looked like; what is new of it.

    What was found before at a path that was `unseen` this time stays. Nothing is written when
    nothing changed. A look at one folder, `root`, leaves what is listed of others.
    """
    listed_there = FileProblem.objects.all() if root is None else _within(root)
    rows = {row.path: row for row in listed_there.filter(found_by=found_by)}
    same = {path for path, row in rows.items() if path in found and row.why == found[path].why}
    gone = [row.pk for path, row in rows.items() if path not in same and path not in unseen]
    fresh = {path: one for path, one in found.items() if path not in same}
    changed = [
        rows[path] for path in same if _reword(rows[path], found[path].reason, looks.get(path, ""))
    ]
    if gone or fresh or changed:
        _store(found_by, gone, fresh, looks, changed)
    return fresh


def _reword(row: FileProblem, reason: str, stamp: str) -> bool:
    """Make the row say this; whether it said anything else."""
    was = (row.reason, row.stamp)
    row.reason, row.stamp = reason, stamp
    return was != (reason, stamp)


def _store(
    found_by: FileProblem.FoundBy,
    gone: list[int],
    fresh: Mapping[str, Problem],
    looks: Mapping[str, str],
    changed: list[FileProblem],
) -> None:
    now = timezone.now()
    rows = [
        FileProblem(
            path=path,
            found_by=found_by,
            why=problem.why,
            reason=problem.reason,
            stamp=looks.get(path, ""),
            since=now,
        )
        for path, problem in fresh.items()
    ]
    with transaction.atomic():
        for some in chunks(gone, _CHUNK):
            FileProblem.objects.filter(pk__in=some).delete()
        # Another process may have found the same in this moment.
        FileProblem.objects.bulk_create(rows, _CHUNK, ignore_conflicts=True)
        FileProblem.objects.bulk_update(changed, ["reason", "stamp"], 100)
