"""Readings of words changed letter by letter: leet, rotations, reversal, shuffled letters.

Nearly every text could be read so, to no end. So the words that rules are made of are kept in their
changed forms, and a reading is made only of a text that holds some of those.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from string import ascii_lowercase

from memoryweb.core.guard.known_words import KNOWN_WORDS
from memoryweb.core.guard.views import View

MAX_CIPHERS = 2
# What the words that tell a cipher are worth together, four letters being worth one. The usual
# ciphers need less than all the other rotations, in which words turn up by chance.
_ENOUGH = 3
_ENOUGH_OF_USUAL = 2
_USUAL = frozenset({"rot13", "atbash", "reversed"})

# A bar is an l or an i.
_LEET = tuple(str.maketrans("0134567@$!|", f"oieasgtasi{bar}") for bar in "li")
_LEET_RUN = re.compile(r"[0134567$]+|[!|](?=\w)|@(?![\w-]{1,40}\.\w)")
_LEET_SIGN = re.compile(r"[0134567@$!|](?:(?<=[A-Za-z].)|(?=[A-Za-z]))")
_LEET_WORD = re.compile(r"[0134567@$!|][\w@$!|]{0,30}|[A-Za-z]{1,12}[0134567@$!|][\w@$!|]{0,30}")
_RUN = re.compile(r"\S+")
_LONG_WORD = re.compile(r"[^\W\d_]{6,}")
_EVERYTHING = re.compile(r"(?s).+")

# What each cipher writes for the letters a to z.
_ALPHABETS = {
    **{f"rot{n}": ascii_lowercase[n:] + ascii_lowercase[:n] for n in range(1, 26)},
    "atbash": ascii_lowercase[::-1],
}


def _table(written: str, meant: str) -> dict[int, int]:
    return str.maketrans(written + written.upper(), meant + meant.upper())


_DECIPHER = {name: _table(written, ascii_lowercase) for name, written in _ALPHABETS.items()}

_TELLING = frozenset(word for word in KNOWN_WORDS if len(word) > 3)


def _enciphered() -> dict[str, list[str]]:
    """What the telling words look like enciphered -> the ciphers that make them so."""
    found: dict[str, list[str]] = {}
    for name, written in _ALPHABETS.items():
        table = _table(ascii_lowercase, written)
        for word in _TELLING:
            found.setdefault(word.translate(table), []).append(name)
    for word in _TELLING:
        found.setdefault(word[::-1], []).append("reversed")
    return found


def _shuffle(word: str) -> str:
    """The same for all words that differ in the order of their inner letters alone."""
    return word[0] + "".join(sorted(word[1:-1])) + word[-1]


_ENCIPHERED = _enciphered()
_SHUFFLED = {_shuffle(word): word for word in sorted(_TELLING) if len(word) > 5}
_ENDS = {(word[0], word[-1], len(word)) for word in _SHUFFLED.values()}


def unleeted(view: View) -> View:
    """Where a word that mixes letters and signs becomes a telling one."""
    if not _LEET_SIGN.search(view.text):
        return view
    mixed = _LEET_WORD.findall(view.folded.text)
    for letters in _LEET:
        if not _TELLING.isdisjoint(_from_leet(word, letters) for word in mixed):
            return view.rewritten("leet", _LEET_RUN, partial(_unleeted_run, letters))
    return view


def _unleeted_run(letters: dict[int, int], match: re.Match[str]) -> str:
    return _from_leet(match[0], letters)


def _from_leet(word: str, letters: dict[int, int]) -> str:
    return word.replace("11", "ll").translate(letters)


def deciphered(view: View) -> Iterator[View]:
    """The readings in which enough telling words appear; a long word is worth several."""
    votes = Counter[str]()
    for word in view.words & _ENCIPHERED.keys():
        votes.update(dict.fromkeys(_ENCIPHERED[word], len(word) // 4))
    likely = sorted(
        (-worth, name)
        for name, worth in votes.items()
        if worth >= (_ENOUGH_OF_USUAL if name in _USUAL else _ENOUGH)
    )
    for _, name in likely[:MAX_CIPHERS]:
        if name == "reversed":
            yield view.rewritten("reversed", _EVERYTHING, lambda match: match[0][::-1])
            yield view.rewritten("reversed", _RUN, lambda match: match[0][::-1])
        else:
            yield view.translated(name, _DECIPHER[name])


def unshuffled(view: View) -> View:
    alike = [word for word in view.words if (word[0], word[-1], len(word)) in _ENDS]
    if all(_SHUFFLED.get(_shuffle(word), word) == word for word in alike):
        return view
    return view.rewritten(
        "unshuffled", _LONG_WORD, lambda match: _SHUFFLED.get(_shuffle(match[0].lower()), match[0])
    )
