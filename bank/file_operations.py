"""What has to happen to pages' files: noted in the transaction that stores their texts, done after.

Notes are written inside `clock.writing`; bank.publishing does what they ask.
"""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from bank.models import FileOperation, Page


def note(
    page: Page, op: FileOperation.Op, expected: str | None, at: datetime, path: str = ""
) -> FileOperation:
    """Note what has to happen to the page's file, or to the one at another `path`."""
    noted = _operation(page, op, expected, at)
    noted.path = path or page.path
    noted.save(force_insert=True)
    return noted


def note_first(pages: Sequence[Page]) -> list[FileOperation]:
    """Note that the files of new pages have to be written."""
    write = FileOperation.Op.WRITE
    return FileOperation.objects.bulk_create(
        [_operation(page, write, None, page.created_at) for page in pages]
    )


def _operation(
    page: Page, op: FileOperation.Op, expected: str | None, at: datetime
) -> FileOperation:
    return FileOperation(
        page=page,
        op=op,
        path=page.path,
        revision=page.revision,
        new_sha=page.sha256 if op == FileOperation.Op.WRITE else "",
        expected_sha=expected,
        created_at=at,
    )


def done_first(ops: Sequence[FileOperation]) -> None:
    """The files of new pages are as their operations asked."""
    pks = [op.pk for op in ops]
    FileOperation.objects.filter(pk__in=pks).update(done_at=timezone.now())


def done(op: FileOperation) -> None:
    """The file is as the operation asked, or another decision took its place."""
    FileOperation.objects.filter(page=op.page_id, pk__lt=op.pk).exclude(done_at=None).delete()
    FileOperation.objects.filter(pk=op.pk).update(done_at=timezone.now())
