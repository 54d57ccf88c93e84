"""The one rule for what a page may be called, and when two names are the same page."""

import unicodedata
from collections.abc import Iterator
from itertools import count

import regex

MAX_BYTES = 120
RESERVED = frozenset({"memory", "registry", "long-term-memory"})
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)
# Letters with the marks they carry, digits, - and _. Fillers and variation selectors are
# letters and marks to Unicode but draw nothing, so two names would look the same.
_LEGAL_START = regex.compile(
    r"^(?:(?:[\p{L}\p{Nl}--\p{DI}][\p{M}--\p{DI}]*)|[\p{Nd}_\-])*", regex.VERSION1
)
_LEGAL = regex.compile(r"(?:[\p{L}\p{Nl}--\p{DI}][\p{M}--\p{DI}]*)|[\p{Nd}_\-]| ", regex.VERSION1)
_HAS_SUBSTANCE = regex.compile(r"[\p{L}\p{Nl}\p{Nd}]")


class NameRefused(ValueError):
    """The name breaks the rule; `reason` says how, in words for the person who chose it."""

    def __init__(self, reason: str, character: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.character = character


def slug(name: str) -> str:
    """The page's name as files and links spell it: `Alice Chen` gives `alice-chen`.

    Trims, normalises (NFC), lowercases and turns spaces into `-`. Nothing is replaced in
    silence: a character that cannot stay raises NameRefused, which names it. A slug is its
    own slug.
    """
    text = name.strip()
    if len(text) > MAX_BYTES * 4:  # Normalising a long run of marks is slow, so not at any length.
        raise NameRefused(_too_long(len(text.encode(errors="replace"))))
    text = unicodedata.normalize("NFC", text).lower()
    text = unicodedata.normalize("NFC", text).replace(" ", "-")
    if illegal := _LEGAL_START.sub("", text, count=1):
        raise NameRefused(_unfit(illegal[0]), illegal[0])
    _refuse_empty_long_or_reserved(text)
    return text


def key(name: str) -> str:
    """What two names have in common when they mean one page (NFKC, case folded)."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded)


def proposals(name: str) -> Iterator[str]:
    """Slugs for a page whose given name may be refused, without end: the first is the nearest.

    What cannot stay is dropped, and what is too long is cut; the further ones end in -2, -3 and
    so on. A name of which nothing is left gives `page`.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    kept = "".join(_LEGAL.findall(text)).strip().replace(" ", "-")
    stem = kept if _HAS_SUBSTANCE.search(kept) else "page"
    for number in count(1):
        end = f"-{number}" if number > 1 else ""
        try:
            yield slug(_cut(stem, MAX_BYTES - len(end)) + end)
        except NameRefused:  # Reserved: the next will do.
            continue


def _cut(text: str, size: int) -> str:
    """At most so many bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")


def _refuse_empty_long_or_reserved(text: str) -> None:
    if not text:
        raise NameRefused("A name cannot be empty.")
    if not _HAS_SUBSTANCE.search(text):
        raise NameRefused("A name needs at least one letter or digit.")
    if (size := len(text.encode())) > MAX_BYTES:
        raise NameRefused(_too_long(size))
    if key(text) in RESERVED:
        raise NameRefused(f"“{text}” is reserved for memoryweb's own files.")
    if key(text) in DEVICES:
        raise NameRefused(f"“{text}” is the name of a device on Windows.")


def _too_long(size: int) -> str:
    return f"A name may take {MAX_BYTES} bytes in UTF-8; this one takes {size}."


def _unfit(character: str) -> str:
    shown = f"“{character}” " if character.isprintable() else ""
    called = unicodedata.name(character, "a character without a name").lower()
    return (
        f"A name cannot hold {shown}({called}, U+{ord(character):04X}). "
        "Letters, digits, spaces, - and _ are allowed."
    )
