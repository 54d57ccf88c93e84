"""Text to the tokens that FTS5 stores, and a query to its MATCH expression.

FTS5 is given terms of our own analyzer, parted by spaces, and never sees anybody's text. Two
kinds of term are stored beside the analyzer's own, marked by a character of the private use
area, which no word holds:

- stop words, so that a query of nothing else finds them, while no prefix of an ordinary query
  does: `th` finds thesis, not every `the`;
- the last character of each Chinese, Japanese or Korean run. Every other one begins a pair, so
  its prefix finds it; the last one begins none.
"""

from collections.abc import Iterator

from memoryweb.core.analysis import analyzer, is_cjk

CJK = analyzer("cjk")
TERMS_LIMIT = 256  # Each is a look-up by prefix of its own.
_STOP = "\ue000"
_LAST = "\ue001"


def stored(text: str) -> str:
    """A text as the index holds it: the analyzer's terms in order, then the marked ones."""
    tokens, stopped = CJK.analyse(_without_nul(text))
    stops = dict.fromkeys(map(_stop, stopped))
    lasts = dict.fromkeys(_LAST + character for character in _last_characters(tokens))
    return " ".join([*tokens, *stops, *lasts])


def terms(query: str) -> list[str]:
    """The different terms of a query in its order, at most 256.

    A query of nothing but stop words has those.
    """
    return list(dict.fromkeys(CJK.query_tokens(_without_nul(query))))[:TERMS_LIMIT]


def expression(query: str) -> str:
    """FTS5's MATCH expression: every term in quotes and with a `*`, any of them enough.

    Empty for a query without terms.
    """
    only_stop_words = not CJK.tokens(_without_nul(query))
    sought = (form for term in terms(query) for form in _forms(term, only_stop_words))
    return " OR ".join(_quoted(form) for form in sought)


def _forms(term: str, stop_word: bool) -> Iterator[str]:
    """As what a term is stored: a stop word marked, and Chinese ones also within runs."""
    if stop_word:
        yield _stop(term)
    if not stop_word or is_cjk(term):
        yield term
    if len(term) == 1 and is_cjk(term):
        yield _LAST + term


def _last_characters(tokens: list[str]) -> Iterator[str]:
    """Of every run of two characters or more: it stands behind its pairs, unless it is one."""
    at = len(tokens) - 1
    while at >= 0:
        token = tokens[at]
        run = len(token) > 1 and is_cjk(token)
        if run:
            yield token[-1]
        at -= len(token) if run and len(token) > 2 else 1


def _without_nul(text: str) -> str:
    """NUL would end an expression, and what follows would silently not be looked for."""
    return text.replace("\0", "")


def _quoted(term: str) -> str:
    escaped = term.replace('"', '""')
    return f'"{escaped}"*'


def _stop(word: str) -> str:
    """Marked at both ends, so that `a` is not the beginning of `an`."""
    return f"{_STOP}{word}{_STOP}"
