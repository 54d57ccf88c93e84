"""Files that are given to a wiki: a folder of them, or a zip. What is no page is said, by file.

Nothing is unpacked to the disk: a file's bytes are read when its page is made. Paths are refused
by the rule of bank.refs, so none leads out of the wiki.
"""

import errno
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from django.db import transaction
from django.utils import timezone

from bank import importing, places, refs, vault, wikis
from bank.files import sha256
from bank.importing import Outcome
from bank.layout import CONTENT_LIMIT
from bank.models import Kind, Wiki, WikiSource
from bank.names import NameRefused
from bank.vault import Plan, Planned, Source
from memoryweb.core.actor import Actor, Role
from memoryweb.core.chunks import chunks
from memoryweb.core.errors import Invalid

FILES_MOST = 20_000
TOTAL_MOST = 512 * 1024 * 1024  # Bytes, unpacked.
PACKED_MOST = 100  # Times that a file may have been larger than it is in the zip.
UNSUSPICIOUS = 64 * 1024  # Bytes; a file that small may be packed as well as it likes.
DIRECTORY_MOST = 8 * 1024 * 1024  # Bytes of a zip's table of contents.
_SLICE = 200
_END = struct.Struct("<4s4H2LH")  # A zip's end of central directory.


# What the parts of zipfile raise for bytes that are not what the directory says.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    EOFError,
)


@dataclass(frozen=True)
class Given:
    """A file as it was given; `path` is the giver's, in the folder. `why` it cannot be read."""

    path: str
    size: int
    open: Callable[[], IO[bytes]]
    why: str = ""


@dataclass(frozen=True)
class Upload(Plan):
    """What the files become. What was read of each is noted: its hash and size."""

    given: dict[str, Given] = field(default_factory=dict)
    shas: dict[str, str] = field(default_factory=dict)

    def read(self, source: Source) -> bytes:
        try:
            with self.given[source.file].open() as opened:
                data = opened.read(CONTENT_LIMIT + 1)
        except _DAMAGED:
            raise OSError(
                errno.EIO, "it is damaged, or packed in a way that is not known"
            ) from None
        self.shas[source.file] = sha256(data) if len(data) <= CONTENT_LIMIT else ""
        return data


def from_files(wiki: str, files: Sequence[Given], *, keep_top: bool = False) -> Upload:
    """The plan of a folder's files. The folder that all of them lie in is no part of their names,
    unless it is to be kept. Raises NotFound, Invalid for more than is taken."""
    if wikis.get(wiki).pk == wikis.BANK:
        raise Invalid.field("wiki_id", "the bank takes folders by import_bank")
    _check(len(files), sum(one.size for one in files))
    return _planned(wiki, files, "" if keep_top else _common_top([one.path for one in files]))


def from_folder(wiki: str, folder: Path) -> Upload:
    """The plan of a folder of this machine, of any size, whose files are called by their paths
    in it; the wiki may still have to be made. Raises Invalid."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise Invalid(f"{folder} is not a folder")
    _refuse_own(wiki, folder)
    files: list[Given] = []
    problems: dict[str, str] = {}
    others = 0
    for path, problem in vault.files(folder):
        if problem:
            problems[path] = problem
        elif refs.of_file(wiki, path) is None:
            others += 1
        else:
            files.append(_of_file(path, folder / path))
    upload = _planned(wiki, files, "")
    return replace(upload, left={**problems, **upload.left}, others=others)


def _refuse_own(wiki: str, folder: Path) -> None:
    vault.refuse_own(folder)
    pointed = Wiki.objects.filter(pk=wiki).exclude(folder="").values_list("folder", flat=True)
    for own in (places.own_root(wiki), *map(Path, pointed)):
        own = own.resolve()
        if folder.is_relative_to(own) or own.is_relative_to(folder):
            raise Invalid("this is the wiki's own folder; its files are taken in by themselves")


def _planned(wiki: str, files: Sequence[Given], top: str) -> Upload:
    found: dict[str, Planned] = {}
    given: dict[str, Given] = {}
    left: dict[str, str] = {}
    for one in files:
        path = one.path.removeprefix(top)
        shown = refs.shown(path)
        ref, why = _ref(wiki, path)
        key = refs.key_of(ref)
        why = why or one.why or _clash(shown, given, found.get(key))
        if why:
            left[shown] = why
        else:
            source = Source(shown, Kind.WIKI, ref, True)
            found[key] = Planned(source, f"{wiki}/{ref}", "")
            given[shown] = one
    return Upload(Path(wiki), list(found.values()), left, 0, given)


def from_zip(wiki: str, file: IO[bytes], *, keep_top: bool = False) -> Upload:
    """The plan of a zip's files, which stays open while it is carried out. Raises as from_files."""
    _check_directory(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise Invalid.field("file", "is no zip that can be read") from error
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    files = [_of_entry(archive, entry) for entry in entries]
    return from_files(wiki, files, keep_top=keep_top)


def carry_out(actor: Actor, upload: Upload, *, dry_run: bool = False) -> Iterator[Outcome]:
    """Make or save the pages; what became of each file, which the wiki's sources tell as well.
    With `dry_run` nothing is written.

    A page that was edited here since its last upload is not overwritten: both texts wait for a
    decision. Raises Forbidden; NotFound when the wiki is deleted meanwhile; Unavailable when the
    disk fails.
    """
    actor.require(Role.CURATOR)
    if dry_run:
        yield from importing.carry_out(actor, upload, dry_run=True)
        return
    if upload.folder.name == wikis.MEMORIES:
        wikis.make_memories()
    outcomes = importing.carry_out(replace(actor, via="import"), upload)
    for some in chunks(outcomes, _SLICE):
        _note(upload, some)
        yield from some


def _note(upload: Upload, outcomes: Iterable[Outcome]) -> None:
    """Let the wiki's sources say what became of these files. Raises NotFound when it is deleted."""
    now, status = timezone.now(), WikiSource.Status
    rows = []
    for one in outcomes:
        given = upload.given.get(one.file)
        held = status.HELD if one.quarantined else status.TAKEN
        rows.append(
            WikiSource(
                wiki_id=upload.folder.name,
                filename=one.file[:1000],
                sha256=upload.shas.get(one.file, ""),
                size=given.size if given else 0,
                status=status.LEFT if one.status == "left" else held,
                error=one.detail,
                given_at=now,
            )
        )
    changed = ["sha256", "size", "status", "error", "given_at"]
    with transaction.atomic():
        wikis.get(upload.folder.name)  # Or it was erased by now.
        WikiSource.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["wiki", "filename"], update_fields=changed
        )


# What can be a page


def _ref(wiki: str, path: str) -> tuple[str, str]:
    """The ref of a file, and why it has none."""
    ref = refs.of_file(wiki, path)
    if any(part.startswith((".", "__MACOSX")) for part in path.split("/") if part != ".."):
        return "", "it is hidden"
    if ref is None:
        return "", "it is no Markdown; it is not kept"
    try:
        return refs.normal(ref), ""
    except NameRefused as refused:
        return "", refused.reason


def _clash(path: str, given: dict[str, Given], first: Planned | None) -> str:
    if path in given:
        return "it is there twice"
    if first is None:
        return ""
    return f"“{first.source.file}” is the page of this name; two files cannot both be it"


def _common_top(paths: Sequence[str]) -> str:
    """The folder that all of these lie in, with its slash."""
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    nested = bool(paths) and all("/" in path for path in paths)
    top = tops.pop() if nested and len(tops) == 1 else ""
    return f"{top}/" if top not in ("", ".", "..") else ""


def _check(count: int, total: int) -> None:
    if count > FILES_MOST:
        raise Invalid.field("file", f"holds more than {FILES_MOST:,} files")
    if total > TOTAL_MOST:
        raise Invalid.field("file", f"holds more than {TOTAL_MOST // 1024**2:,} MiB")


def _check_directory(file: IO[bytes]) -> None:
    """Raise Invalid for a zip whose table of contents alone would be too much to read."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_535 - _END.size))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise Invalid.field("file", "is no zip that can be read")
    if _END.unpack_from(tail, at)[5] > DIRECTORY_MOST:
        raise Invalid.field("file", f"holds more than {FILES_MOST:,} files")
    file.seek(0)


def _of_file(path: str, file: Path) -> Given:
    return Given(path, file.stat().st_size, lambda: file.open("rb"))


def _of_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Given:
    return Given(_name(entry), entry.file_size, lambda: archive.open(entry), _why_not(entry))


def _why_not(entry: zipfile.ZipInfo) -> str:
    mode = entry.external_attr >> 16
    if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
        return "it is a link or a device, not a file"
    if entry.flag_bits & 1:
        return "it is encrypted"
    packed = max(1, entry.compress_size)
    if entry.file_size > UNSUSPICIOUS and entry.file_size > PACKED_MOST * packed:
        return f"it is packed {entry.file_size // packed:,} to one, as no text is"
    return ""


def _name(entry: zipfile.ZipInfo) -> str:
    """The path in the zip; without a flag for UTF-8 many programs write UTF-8 all the same."""
    if entry.flag_bits & 0x800:
        return entry.orig_filename
    try:
        return entry.orig_filename.encode("cp437").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return entry.orig_filename
