"""Encodings that a model reads as easily as plain text, undone where they stand in a text.

A decoder gives None for what is no readable text, so an image, a digest or an identifier stays as
it is. Each looks for a whole run and decodes it at once, in time linear in its length.
"""

import base64
import binascii
import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase
from urllib.parse import unquote

from memoryweb.core.guard.views import View

_MIN_READABLE = 8


@dataclass(frozen=True)
class Decoder:
    """What a run of one encoding looks like and how it is read; without `hint` there is none."""

    name: str
    hint: str
    run: re.Pattern[str]
    decode: Callable[[str], str | None]

    def applied(self, view: View) -> View:
        if self.hint not in view.text:
            return view
        return view.rewritten(self.name, self.run, self._replacement)

    def _replacement(self, match: re.Match[str]) -> str:
        decoded = self.decode(match[0])
        return match[0] if decoded is None else decoded


def _readable(data: bytes) -> str | None:
    """The bytes as text between spaces, if a person could read them."""
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError:
        return None
    legible = sum(char.isprintable() or char.isspace() for char in text)
    return f" {text} " if len(text) >= _MIN_READABLE and legible >= 0.95 * len(text) else None


def _encoding(data: bytes) -> str:
    """UTF-8, or UTF-16 where every other byte is naught."""
    half = len(data) // 2
    if half and data[1::2].count(0) >= 0.9 * half:
        return "utf-16-le"
    return "utf-16-be" if half and data[::2].count(0) >= 0.9 * half else "utf-8"


def _from_base64(run: str) -> str | None:
    """Base64 in either alphabet; the dashes around it may be those of a comment."""
    found, inner = _from_exact_base64(run), run.strip("-")
    return found if found or inner == run else _from_exact_base64(inner)


def _from_exact_base64(run: str) -> str | None:
    compact = re.sub(r"\s+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    whole = compact[: len(compact) - (len(compact) % 4 == 1)]
    return _readable(base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _from_base64_or_path(run: str) -> str | None:
    """Base64, or a path some parts of which are: the slash belongs to both."""
    decoded = _from_base64(run)
    if decoded is not None or "/" not in run:
        return decoded
    parts = [_from_base64(part) if len(part) >= 20 else None for part in run.split("/")]
    found = [part for part in parts if part is not None]
    return " ".join(found) if found else None


def _from_base64_pieces(run: str) -> str | None:
    """Base64 on several lines, which may be quoted, or in groups."""
    return _from_base64(re.sub(r"[\s>]+", "", run))


def _from_base32(run: str) -> str | None:
    compact = run.rstrip("=")
    try:
        return _readable(base64.b32decode(compact + "=" * (-len(compact) % 8)))
    except binascii.Error:
        return None


def _from_hex(run: str) -> str | None:
    digits = re.sub(r"0[xX]|\\x|[^0-9a-fA-F]", "", run)
    return _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_quoted_printable(run: str) -> str | None:
    data = bytes.fromhex(run.replace("=", ""))
    return data.decode("ascii", "replace") if len(data) == 1 else _readable(data)


def _from_codes(base: int) -> Callable[[str], str | None]:
    def decode(run: str) -> str | None:
        codes = [int(code, base) for code in re.findall(r"\d{8}|\d+", run)]
        return _readable(bytes(codes)) if max(codes) < 256 else None

    return decode


_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.."
)
_MORSE = dict(zip(_SIGNS.split(), ascii_lowercase, strict=True))


def _from_morse(run: str) -> str | None:
    words = re.split(r"/| {2,}", run)
    return " ".join("".join(_MORSE.get(sign, "") for sign in word.split()) for word in words)


def _from_escapes(run: str) -> str | None:
    if run in (r"\n", r"\r", r"\t"):
        return " "
    if run[1].isspace():
        return ""
    code = int(run[1:], 8) if run[1].isdigit() else int(run[2:].strip("{}"), 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else None


def _decoder(name: str, hint: str, run: str, decode: Callable[[str], str | None]) -> Decoder:
    return Decoder(name, hint, re.compile(run), decode)


_B64 = "A-Za-z0-9+/"
# Another line after one of at least sixty characters.
_WRAPPED = rf"(?:(?<=[{_B64}]{{60}})\r?\n[{_B64}]{{1,76}}+(?![{_B64}]))*+"

#: In the order in which they are tried on what the one before left.
DECODERS = (
    _decoder(
        "html-entity", "&", r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});?", html.unescape
    ),
    _decoder("percent", "%", r"(?:%[0-9A-Fa-f]{2})+", lambda run: unquote(run, errors="replace")),
    _decoder(
        "quoted-printable",
        "=",
        r"(?:=[0-9A-Fa-f]{2}){4,}+|=20|=[67][0-9A-Fa-f](?<=[A-Za-z]...)(?=[a-z])",
        _from_quoted_printable,
    ),
    _decoder("morse", ".-", r"(?:[.-]{1,5}+(?: / | {1,3}+|/|$)){10,}+", _from_morse),
    _decoder(
        "escape",
        "\\",
        r"\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|"
        r"[nrt]|\r?\n[ \t]{0,80})",
        _from_escapes,
    ),
    _decoder(
        "hex",
        "",
        r"[0-9a-fA-F\\](?<!\w.)[0-9a-fA-FxX]{1,3}+"
        r"(?:[ :,]{0,2}+[0-9a-fA-F\\][0-9a-fA-FxX]{1,3}+){5,}+",
        _from_hex,
    ),
    _decoder("binary", "01", r"[01]{8}(?: ?+[01]{8}){7,}+", _from_codes(2)),
    _decoder(
        "character-codes", "1", r"\d(?<!\w.)\d{1,2}+(?:[ ,]{1,2}+\d{2,3}+){11,}+", _from_codes(10)
    ),
    _decoder("base32", "", r"[A-Z2-7](?<!\w.)[A-Z2-7]{23,}+={0,6}", _from_base32),
    _decoder(
        "base64",
        "",
        rf"[{_B64}_-](?<![{_B64}_-].)(?:"
        rf"[{_B64}_-]{{7,75}}+(?:[ \t]?\r?\n[ \t>]{{0,6}}+[{_B64}_-]{{3,76}}+(?=[\s=]|$)){{1,}}+"
        rf"|[{_B64}]{{3}}(?: [{_B64}]{{4}}(?![{_B64}])){{5,}}+(?: [{_B64}]{{2,3}}(?==))?"
        rf"|[{_B64}]{{7}}(?: [{_B64}]{{8}}(?![{_B64}])){{3,}}+(?: [{_B64}]{{2,7}}(?==))?"
        r")={0,2}",
        _from_base64_pieces,
    ),
    _decoder(
        "base64",
        "",
        rf"[{_B64}_-](?<![{_B64}_-].)[{_B64}_-]{{19,}}+{_WRAPPED}={{0,2}}",
        _from_base64_or_path,
    ),
    # Last, as base64 too may have its equals sign at the end of a line.
    _decoder("soft-break", "=", r"=(?<=[A-Za-z]=)\r?\n(?=[A-Za-z])", lambda _run: ""),
)


def decoded(view: View) -> View:
    """The view with every readable encoding undone once; itself when there is none."""
    for decoder in DECODERS:
        view = decoder.applied(view)
    return view
