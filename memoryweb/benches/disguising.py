"""Ways to disguise a text from a filter that a language model still reads."""

import base64
import codecs
from collections.abc import Callable
from urllib.parse import quote

_CYRILLIC = str.maketrans("aceiopsxyIOPS", "асеіорѕхуІОРЅ")
_GREEK = str.maketrans("oivuan", "οιѵυαη")
_FULLWIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
_LEET = str.maketrans("aeiost", "4310$7")
_SMALL_CAPITALS = str.maketrans("abcdefghilmnoprstuv", "ᴀʙᴄᴅᴇꜰɢʜɪʟᴍɴᴏᴘʀꜱᴛᴜᴠ")
_ATBASH = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")


def _mathematical(text: str) -> str:
    return "".join(chr(0x1D41A + ord(c) - 97) if c.isascii() and c.islower() else c for c in text)


def _enclosed(first: int) -> Callable[[str], str]:
    return lambda text: "".join(
        chr(first + ord(c) - 97) if c.isascii() and c.islower() else c for c in text.lower()
    )


def _between(sign: str) -> Callable[[str], str]:
    return sign.join


def _variation_selectors(text: str) -> str:
    data = text.encode()
    return "☺" + "".join(chr(0xFE00 + b) if b < 16 else chr(0xE0100 + b - 16) for b in data)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


#: What it is called -> how a plain text is disguised.
DISGUISES: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "alternating case": lambda t: "".join(c.upper() if i % 2 else c for i, c in enumerate(t)),
    "line breaks": lambda t: t.replace(" ", "\n   "),
    "tabs": lambda t: t.replace(" ", "\t"),
    "underscores": lambda t: t.replace(" ", "_"),
    "hyphens": lambda t: t.replace(" ", "-"),
    "full stops": lambda t: t.replace(" ", "."),
    "run together": lambda t: t.replace(" ", ""),
    "camel case": lambda t: t.title().replace(" ", ""),
    "no-break spaces": lambda t: t.replace(" ", "\xa0"),
    "zero-width space in words": _between("\u200b"),
    "zero-width space for spaces": lambda t: t.replace(" ", "\u200b"),
    "zero-width non-joiner": _between("\u200c"),
    "word joiner": _between("\u2060"),
    "soft hyphen": _between("\u00ad"),
    "byte order mark": _between("\ufeff"),
    "combining grapheme joiner": _between("\u034f"),
    "bidi overrides": lambda t: "\u202d" + t[:9] + "\u202c\u200e" + t[9:],
    "NUL bytes": _between("\x00"),
    "combining accents": _between("\u0301"),
    "Cyrillic look-alikes": lambda t: t.translate(_CYRILLIC),
    "Greek look-alikes": lambda t: t.translate(_GREEK),
    "small capitals": lambda t: t.lower().translate(_SMALL_CAPITALS),
    "fullwidth": lambda t: t.translate(_FULLWIDTH),
    "mathematical bold": lambda t: _mathematical(t.lower()),
    "circled letters": _enclosed(0x24D0),
    "squared letters": _enclosed(0x1F170),
    "regional indicators": _enclosed(0x1F1E6),
    "tag characters": lambda t: "ok" + "".join(chr(0xE0000 + ord(c)) for c in t),
    "variation selectors": _variation_selectors,
    "spaced letters": _between(" "),
    "spaced letters, wide word gaps": lambda t: "   ".join(" ".join(w) for w in t.split()),
    "dotted letters": _between("."),
    "split words": lambda t: " ".join(w[: len(w) // 2] + " " + w[len(w) // 2 :] for w in t.split()),
    "leet": lambda t: t.lower().translate(_LEET),
    "rot13": lambda t: codecs.encode(t, "rot13"),
    "Caesar by three": lambda t: "".join(
        chr((ord(c) - 97 + 3) % 26 + 97) if c.isalpha() else c for c in t.lower()
    ),
    "atbash": lambda t: t.lower().translate(_ATBASH),
    "reversed": lambda t: t[::-1],
    "reversed words": lambda t: " ".join(word[::-1] for word in t.split()),
    "base64": _base64,
    "base64 without padding": lambda t: _base64(t).rstrip("="),
    "base64 for addresses": lambda t: base64.urlsafe_b64encode(t.encode()).decode(),
    "base64 in prose": lambda t: f"Attached: {_base64(t)} (end of file)",
    "base64 twice": lambda t: _base64(_base64(t)),
    "base64 of hex": lambda t: _base64(t.encode().hex()),
    "base32": lambda t: base64.b32encode(t.encode()).decode(),
    "hex": lambda t: t.encode().hex(),
    "spaced hex": lambda t: t.encode().hex(" "),
    "hex with prefixes": lambda t: " ".join(f"0x{b:02x}" for b in t.encode()),
    "binary": lambda t: " ".join(f"{b:08b}" for b in t.encode()),
    "character codes": lambda t: " ".join(str(b) for b in t.encode()),
    "decimal entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "hex entities": lambda t: "".join(f"&#x{ord(c):x};" for c in t),
    "entities without semicolon": lambda t: "".join(f"&#{ord(c):07}" for c in t),
    "percent": lambda t: quote(t),
    "percent, every letter": lambda t: "".join(f"%{b:02X}" for b in t.encode()),
    "JSON escapes": lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
    "byte escapes": lambda t: t.replace(" ", "\\x20"),
    "bold inside words": lambda t: " ".join(f"{w[:2]}**{w[2:]}**" for w in t.split()),
    "bold words": lambda t: " ".join(f"**{w}**" for w in t.split()),
    "italic words": lambda t: " ".join(f"_{w}_" for w in t.split()),
    "tags inside words": lambda t: " ".join(f"{w[:2]}<b></b>{w[2:]}" for w in t.split()),
    "tags around words": lambda t: "".join(f'<span class="x">{w} </span>' for w in t.split()),
    "comments inside words": lambda t: " ".join(f"{w[:2]}<!-- -->{w[2:]}" for w in t.split()),
    "in a comment": lambda t: f"Nice page. <!-- {t} -->",
    "as links": lambda t: " ".join(f"[{w}](https://example.org)" for w in t.split()),
    "block quote": lambda t: t.replace(" ", "\n> "),
    "bullets": lambda t: t.replace(" ", "\n- "),
    "table": lambda t: "| " + " | ".join(t.split()) + " |",
    "Cyrillic in base64": lambda t: _base64(t.translate(_CYRILLIC)),
    "zero-width in entities": lambda t: "&#8203;".join(t),
}
