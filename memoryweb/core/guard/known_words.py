"""The words that rules are made of: by them changed and torn words are recognized."""

import re

from memoryweb.core.guard.rules import CLASSES, RULES

_COMMON = """
    a i an the this that these those to of in on at and or is are be was not it its as with for from
    by do
"""


def _known_words() -> frozenset[str]:
    blocks = [*(rule.phrases for rule in RULES), *CLASSES.values(), _COMMON]
    words = {word for block in blocks for word in re.findall(r"[a-z]+", block)}
    whole = {word for word in words if len(word) > 1 or word in {"a", "i"}}
    return frozenset(whole | {f"{word}s" for word in whole})


#: English words of rules and the common words between them, each also as a plural.
KNOWN_WORDS = _known_words()
