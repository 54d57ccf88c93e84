"""Which views of a text are read, and in which order.

A text has a canonical chain: as written, tag characters decoded, compatibility forms undone and
invisible characters dropped, look-alikes turned Latin. The last link is then read in further ways:
markup stripped, separators opened, words put together again, leet and ciphers undone. Whatever it
holds encoded is decoded where it stands and read in the same ways, at most twice. A view is made
only where it differs, so plain prose has one; no text has more than `MAX_VIEWS`, and none of them
is longer than `MAX_GROWTH` times the text.
"""

import re
import unicodedata
from collections.abc import Iterator

from memoryweb.core.guard.ciphers import MAX_CIPHERS, deciphered, unleeted, unshuffled
from memoryweb.core.guard.confusables import CONFUSABLES
from memoryweb.core.guard.decoders import decoded
from memoryweb.core.guard.segments import rejoined, segmented
from memoryweb.core.guard.views import View

MAX_DECODINGS = 2
MAX_GROWTH = 4
# Four canonical links, eight readings, three of letters upside down, two for a cipher at most.
MAX_VIEWS = (MAX_DECODINGS + 1) * (4 + 8 + 3 + 2 * MAX_CIPHERS)

# Default_Ignorable_Code_Point, and the control characters that no text needs.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_DROPPED = re.compile(f"[{_IGNORABLE}{_CONTROLS}]+")
# What NFKC could change, and what could look Latin: not ideographs, kana and Hangul syllables.
_RARE = r"\u3097-\u30a0\u30fb-\u4dff\ua000-\uabff\ud7a4-\U0010ffff"
_UNSETTLED_CHAR = rf"[\x00-\x08\x0e-\x1b\x7f-\u3040{_RARE}]"
_FOREIGN_CHAR = rf"[\x80-\u1fff\u2070-\u2fff{_RARE}]"
# A character, then a run of it: `re` looks for such a beginning fast.
_UNSETTLED = re.compile(f"{_UNSETTLED_CHAR}{_UNSETTLED_CHAR}*")
_FOREIGN = re.compile(f"{_FOREIGN_CHAR}{_FOREIGN_CHAR}*")
# Accents over Latin, Greek and Cyrillic; other scripts spell with their marks.
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")

# A run of tag characters is hidden ASCII; 256 variation selectors carry the values of a byte.
_HIDDEN = re.compile("[\U000e0020-\U000e007e]+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")

# Letters in brackets, which NFKC would write with them.
_BRACKETED = {first + n: chr(ord("a") + n) for first in (0x249C, 0x1F110) for n in range(26)}

# Letters that are turned round, some of them by other letters.
_UPRIGHT = str.maketrans("ɐqɔpǝɟƃɥᴉɾʞlɯuodbɹsʇnʌʍxʎzƎ∀⅄ı", "abcdefghijklmnopqrstuvwxyzeayi")
_TURNED_SIGN = re.compile("[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎƎ∀⅄]")
_ENOUGH_TURNED = 4
_EVERYTHING = re.compile(r"(?s).+")
_LINE = re.compile(r"[^\n]+")

# What a page holds and does not show. A comment ends at the first of its marks.
_UNSHOWN = re.compile(
    r"<!--(?:[^<-]|-(?!->)|<(?!!--)){0,500}+-->|<\?[^<>]{0,300}>|<![A-Za-z\[][^<>]{0,300}>"
    r"|%%[^%\n]{0,300}%%"
)
# Signs inside words, and tags that do not part words, go; other tags, comments and links part
# words. Each alternative begins with a character, for the same reason.
_BLOCK_TAGS = (
    "address|article|aside|blockquote|body|br|caption|dd|details|div|dl|dt|fieldset|figcaption|"
    "figure|footer|form|h[1-6]|head|header|hr|html|img|input|li|main|nav|ol|option|p|pre|section|"
    "select|summary|table|tbody|td|textarea|tfoot|th|thead|title|tr|ul"
)
_EMOJI = "[\u2190-\u2bff\U0001f000-\U0001f0ff\U0001f200-\U0001faff]"
_IN_WORDS = re.compile(
    r"\*(?<=\w\*)\*{0,7}(?=\w)|`(?<=\w`)`{0,7}(?=\w)|~~(?<=\w~~)~{0,6}(?=\w)"
    r"|==(?:(?=\w)|(?<=\w==))|\\(?=[\w*`\[\]<>#~])|\$(?<=\w\$)\$?(?=\w)"
    r"|_(?:(?<![^\W_]_)|(?![^\W_]))|<!--\s{0,3}-->|\[\]\([^()\s]{0,300}\)"
    r"|\"(?<=[\w ].) ?\+ ?\"(?=[\w ])|'(?<=[\w ].) ?\+ ?'(?=[\w ])"
    rf"|</?(?!(?:{_BLOCK_TAGS})\b)[A-Za-z][^<>]{{0,300}}>"
)
_EMOJI_IN_WORD = re.compile(rf"{_EMOJI}(?<=[^\W\d_].){_EMOJI}{{0,3}}(?=[^\W\d_])")
# Lines under headings and in tables, the marks of lists and quotations, words in brackets.
_BETWEEN_WORDS = re.compile(
    r"<!--|-->|</?[A-Za-z][^<>]{0,300}>|\]\([^()\s]{0,500}\)|\[(?=\w)|\|(?=\s)|>(?= )"
    r"|\n[ \t>|:]{0,8}(?:-{2,}+|={2,}+|\*{3,}+|_{3,}+)[-| :\t]{0,200}(?=\n)"
    r"|\n[ \t>*+-]{0,12}\d{1,3}[.)] |\n[ \t]{0,8}[>*+-][ \t>*+-]{2,20}"
    r"|\((?<!\S.)(\w{1,20})\)(?!\w)|\{(?<!\S.)(\w{1,20})\}(?!\w)"
)
_LATEX = re.compile(r"\\[A-Za-z]{2,20}\{([^{}\n]{1,100})\}")
# Up to four signs, an underscore among them, between two letters or digits. Not an apostrophe, the
# sign of an address, or what calls and assigns in code.
_SIGN = r"[!-&*-/:;<>?\[-`|~\xa1-\xbf\u2010-\u2017\u201a-\u2027\u2030-\u205e\u3001-\u303f]"
_SEPARATORS = re.compile(rf"{_SIGN}(?<=[^\W_].)(?!//){_SIGN}{{0,3}}(?=[^\W_])")
# More than three words with the same sign between them, which joins two in code.
_EQUATED = re.compile(r"\w(?<!\w.)\w{0,19}+(?:=\w{1,20}+){3,}+")
_ELLIPSIS = re.compile(r"\.\.\.\.?(?= ?\w)")


def views(text: str) -> Iterator[View]:
    """Every view of the text that differs from the one before; the text itself first."""
    view = View("raw", text)
    for _ in range(MAX_DECODINGS + 1):
        turned = view
        for view in _canonical(view):  # noqa: B020  the last link is what is read on
            yield view
        yield from _turned(turned)
        yield from _readings(view)
        opened = decoded(view)
        if opened is view:
            return
        view = opened


def _canonical(view: View) -> Iterator[View]:
    yield view
    for step in (_revealed, _plain, _skeleton):
        changed = step(view)
        if changed is not view:
            yield changed
        view = changed


def _readings(view: View) -> Iterator[View]:
    for step in (_unmarked, _separated, segmented, rejoined, unleeted, unshuffled):
        changed = step(view)
        if changed is not view:
            yield changed
    shown = view.rewritten("rendered", _UNSHOWN, "")
    if shown is not view:
        shown = _unmarked(shown)
        yield shown
        torn = rejoined(shown)
        if torn is not shown:
            yield torn
    yield from deciphered(view)


def _turned(view: View) -> Iterator[View]:
    """The readings of a text that is written upside down, from the left or from the right."""
    if view.text.isascii() or len(_TURNED_SIGN.findall(view.text)) < _ENOUGH_TURNED:
        return
    upright = view.translated("turned", _UPRIGHT)
    yield upright
    for run in (_EVERYTHING, _LINE):
        yield upright.rewritten("turned", run, lambda match: match[0][::-1])


def _revealed(view: View) -> View:
    return view if view.text.isascii() else view.rewritten("tags", _HIDDEN, _hidden_text)


def _hidden_text(match: re.Match[str]) -> str:
    codes = [ord(char) for char in match[0]]
    if codes[0] >= 0xE0100 or codes[0] < 0xE0000:
        data = bytes(code - 0xE00F0 if code >= 0xE0100 else code - 0xFE00 for code in codes)
        return f" {data.decode('utf-8', 'replace')} "
    return f" {''.join(chr(code - 0xE0000) for code in codes)} "


def _plain(view: View) -> View:
    return view.rewritten("plain", _UNSETTLED, _compatible)


def _compatible(match: re.Match[str]) -> str:
    normal = unicodedata.normalize("NFKC", match[0].translate(_BRACKETED))
    if len(normal) > MAX_GROWTH * len(match[0]):
        normal = "".join(map(_compatible_unless_long, match[0]))
    return _DROPPED.sub("", normal)


def _compatible_unless_long(char: str) -> str:
    """One ligature stands for eighteen letters; no word of an attack is written with it."""
    normal = unicodedata.normalize("NFKC", char)
    return char if len(normal) > MAX_GROWTH else normal


def _skeleton(view: View) -> View:
    return view if view.text.isascii() else view.rewritten("skeleton", _FOREIGN, _latin)


def _latin(match: re.Match[str]) -> str:
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", match[0]))
    return bare.translate(CONFUSABLES)


def _unmarked(view: View) -> View:
    bare = view
    if "{" in view.text and "\\" in view.text:
        bare = view.rewritten("markup", _LATEX, lambda match: match[1])
    if not view.text.isascii():
        bare = bare.rewritten("markup", _EMOJI_IN_WORD, "")
    bare = bare.rewritten("markup", _IN_WORDS, "")
    return bare.rewritten("markup", _BETWEEN_WORDS, _unbracketed)


def _unbracketed(match: re.Match[str]) -> str:
    return f" {match[1] or match[2] or ''} "


def _separated(view: View) -> View:
    parted = view.rewritten("separators", _SEPARATORS, " ", same_words=True)
    if "=" in view.text:
        parted = parted.rewritten("separators", _EQUATED, _opened, same_words=True)
    if "..." in view.text:
        parted = parted.rewritten("separators", _ELLIPSIS, " ", same_words=True)
    return parted


def _opened(match: re.Match[str]) -> str:
    return match[0].replace("=", " ")
