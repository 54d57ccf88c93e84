"""The one rule for how pages of a wiki are called: by their path below the wiki's folder.

A ref is that path without .md, such as `guide/Getting started`; segments may hold what file names
of a vault hold: spaces, emoji, letters of any script. `<wiki>/<ref>` is the page's name, and
`@<wiki>/<path>` where its file is (see bank.places). Django-free.
"""

import unicodedata

import regex

from bank.names import DEVICES, NameRefused, key

MEMORIES = "memories"  # The memory tool's wiki, whose files may have any ending.
LONGEST = 300  # Characters of a ref.
LONGEST_KEY = 700  # A few characters become many when they are normalised.
SEGMENT_BYTES = 240  # File systems allow 255, the ending included.
DEEPEST = 10
ID_LENGTH = 40
ENDING = ".md"
_ID = regex.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")
# Controls, halves of characters, line ends and what turns the direction of writing around.
_FORBIDDEN = regex.compile(r"[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\\\u202a-\u202e\u2066-\u2069]")
_DRIVE = regex.compile(r"[A-Za-z]:")
_UNSEEN = regex.compile(r"\p{DI}")  # Such as an emoji's selectors: names differ by more than these.
_SUBSTANCE = regex.compile(r"[[\p{L}\p{N}\p{S}]--\p{DI}]", regex.VERSION1)


def check_id(wiki: str) -> None:
    """Raise NameRefused unless a wiki may be called this in addresses and on the disk."""
    if len(wiki) > ID_LENGTH or not _ID.fullmatch(wiki):
        raise NameRefused(
            f"A wiki's id is made of a-z, 0-9, - and _, at most {ID_LENGTH} of them, "
            "and begins and ends with a letter or digit."
        )
    if wiki in DEVICES:
        raise NameRefused(f"“{wiki}” is the name of a device on Windows.")


def normal(ref: str) -> str:
    """The ref as pages are filed under it. Nothing is replaced but the form of its characters
    (NFC): what cannot stay raises NameRefused, which says what it is."""
    if len(ref) > LONGEST * 4:
        raise NameRefused(_too_long(len(ref)))
    ref = unicodedata.normalize("NFC", ref)
    if len(ref) > LONGEST or len(key_of(ref)) > LONGEST_KEY:
        raise NameRefused(_too_long(len(ref)))
    *folders, last = ref.split("/")
    if len(folders) >= DEEPEST:
        raise NameRefused(f"A page may lie at most {DEEPEST - 1} folders deep.")
    if _DRIVE.match(ref):
        raise NameRefused(f"“{ref[:2]}” names a drive.")
    for segment in (*folders, last):
        _check(segment)
    if dotted := next((one for one in folders if one.endswith(".")), None):
        raise NameRefused(f"“{dotted}” ends with a dot, as no folder's name can everywhere.")
    return ref


def key_of(ref: str) -> str:
    """What two refs have in common when they mean one page: NFKC, case folded, without what
    draws nothing, by segment."""
    return "/".join(_segment_key(segment) for segment in ref.split("/"))


def _segment_key(segment: str) -> str:
    # A segment whose normal form holds a slash is still one segment.
    return key(_UNSEEN.sub("", segment)).replace("/", "\u2215")


def split(name: str) -> tuple[str, str]:
    """The wiki and the ref of a page's name."""
    wiki, _, ref = name.partition("/")
    return wiki, ref


def base(ref: str) -> str:
    """The last segment: what the page's file is called, without .md."""
    return ref.rpartition("/")[2]


def below(wiki: str, ref: str) -> str:
    """The path of the page's file below the wiki's folder."""
    return ref if wiki == MEMORIES else ref + ENDING


def of_file(wiki: str, path: str) -> str | None:
    """The ref that a file of this path below the wiki's folder has, None if it is no page's."""
    if wiki == MEMORIES:
        return path
    return path[: -len(ENDING)] if path[-len(ENDING) :].lower() == ENDING else None


def shown(path: str) -> str:
    """A path of whatever characters as it can be told: what draws otherwise than it is, is
    replaced."""
    replaced: str = _FORBIDDEN.sub(lambda found: found[0] if found[0] == "\\" else "\ufffd", path)
    return replaced


def _check(segment: str) -> None:
    if not segment:
        raise NameRefused("A path cannot have an empty part, nor begin or end with “/”.")
    if found := _FORBIDDEN.search(segment):
        raise NameRefused(_unfit(found[0]))
    if segment.startswith("."):
        raise NameRefused(f"“{segment}” begins with a dot: it would be hidden, or lead elsewhere.")
    if segment != segment.strip():
        raise NameRefused(f"“{segment}” begins or ends with a space.")
    if not _SUBSTANCE.search(segment):
        raise NameRefused(f"“{segment}” needs at least one letter, digit or symbol.")
    if key(segment.partition(".")[0].strip()) in DEVICES:
        raise NameRefused(f"“{segment}” is the name of a device on Windows.")
    if (size := len(segment.encode())) > SEGMENT_BYTES:
        raise NameRefused(
            f"Each part of a path may take {SEGMENT_BYTES} bytes in UTF-8; one takes {size}."
        )


def _too_long(length: int) -> str:
    return f"A path may have {LONGEST} characters; this one has {length}."


def _unfit(character: str) -> str:
    shown = f"“{character}” " if character.isprintable() else ""
    called = unicodedata.name(character, "a character without a name").lower()
    return f"A path cannot hold {shown}({called}, U+{ord(character):04X})."
