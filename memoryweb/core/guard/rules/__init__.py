"""The rules, as data: one module for each kind of attack, and for languages other than English."""

import hashlib

from memoryweb.core.guard.rules import (
    agents,
    asides,
    beacon,
    chinese,
    coercion,
    conceal,
    exfil,
    hijack,
    languages,
    lures,
    orders,
    override,
    requests,
    turns,
    vocabulary,
)

RULES = (
    *override.RULES,
    *hijack.RULES,
    *conceal.RULES,
    *exfil.RULES,
    *beacon.RULES,
    *coercion.RULES,
    *agents.RULES,
    *turns.RULES,
    *chinese.RULES,
    *languages.RULES,
    *requests.RULES,
    *asides.RULES,
    *lures.RULES,
    *orders.RULES,
)

#: The words behind the names in braces.
CLASSES = {
    **vocabulary.CLASSES,
    **chinese.CLASSES,
    **languages.CLASSES,
    **requests.CLASSES,
    **asides.CLASSES,
    **lures.CLASSES,
    **orders.CLASSES,
}

# Raised when texts come to be read in other ways, as the rules' own text does not tell that.
_READING = 3

#: Names this set of rules; texts judged by another are due to be scanned again.
RULES_VERSION = hashlib.sha256(repr((_READING, RULES, CLASSES)).encode()).hexdigest()[:12]
