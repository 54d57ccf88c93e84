"""The forms in which a text is read, each with a map back to the original.

An attack that is spelled with Cyrillic letters, invisible characters or base64 reads as plain
words in one of these forms. A view is made from its parent by rewriting every match of one pattern,
so the way back needs no table of characters: the rewritten places are found again when asked for.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

Replace = str | Callable[[re.Match[str]], str]
Span = tuple[int, int]

_WORD = re.compile(r"[^\W\d_]+")
_SPACES = re.compile(r"[^\S ]\s*| \s+")
# One character for one, so positions stay. The first is the only letter whose lower case is longer.
_STRAIGHTENED = (("İ", "I"), ("’", "'"), ("‘", "'"), ("ʼ", "'"), ("“", '"'), ("”", '"'))


class View:
    """A form of the text; `origin` leads a span of it back to the text it came from."""

    def __init__(
        self,
        name: str,
        text: str,
        parent: "View | None" = None,
        edit: tuple[re.Pattern[str], Replace] | None = None,
        *,
        same_words: bool = False,
    ) -> None:
        self.name = name
        self.text = text
        self._parent = parent
        self._edit = edit
        self._same_words = same_words

    def rewritten(
        self, name: str, pattern: re.Pattern[str], replace: Replace, *, same_words: bool = False
    ) -> "View":
        """The view with every match replaced; itself when that changes nothing."""
        text = pattern.sub(replace, self.text)
        if text == self.text:
            return self
        return View(name, text, self, (pattern, replace), same_words=same_words)

    def translated(self, name: str, table: dict[int, int]) -> "View":
        """The view with single characters exchanged for single characters."""
        text = self.text.translate(table)
        return self if text == self.text else View(name, text, self)

    @cached_property
    def folded(self) -> "View":
        """What rules are matched on: lower case, straight quotes, one space for all white space."""
        text = _SPACES.sub(" ", self.text)
        if not text.isascii():
            for curly, straight in _STRAIGHTENED:
                text = text.replace(curly, straight)
        return View(self.name, text.lower(), self, (_SPACES, " "))

    @cached_property
    def tokens(self) -> list[str]:
        """The runs of letters in the folded view, in order."""
        return _WORD.findall(self.folded.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """The runs of letters in the folded view, each once."""
        if self._same_words and self._parent:
            return self._parent.words
        return frozenset(self.tokens)

    def origin(self, span: Span) -> Span:
        """The span of the original text that this span of the view was made from."""
        if self._parent is None:
            return span
        start, end = span
        return self._parent.origin((self._back(start)[0], self._back(max(end - 1, start))[1]))

    def _back(self, position: int) -> Span:
        """The part of the parent's text that one character of the view stands for."""
        here, there = self._anchors
        at = bisect_right(here, position) - 1
        if at % 2:  # odd pieces were rewritten: one character stands for the whole of the piece
            return there[at], there[at + 1]
        parent = there[at] + position - here[at]
        return parent, parent + 1

    @cached_property
    def _anchors(self) -> tuple[list[int], list[int]]:
        """Where the pieces start, here and in the parent: kept, rewritten, kept, and so on."""
        here, there = [0], [0]
        if self._edit is None or self._parent is None:
            return here, there
        pattern, replace = self._edit
        for match in pattern.finditer(self._parent.text):
            new = replace if isinstance(replace, str) else replace(match)
            here.append(here[-1] + match.start() - there[-1])
            there.append(match.start())
            here.append(here[-1] + len(new))
            there.append(match.end())
        return here, there
