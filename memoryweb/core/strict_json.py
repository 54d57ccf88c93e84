"""JSON as every door reads it: no NaN, no infinity, no endless nesting."""

import json
import math
from typing import Any

from memoryweb.core.errors import DomainError, Invalid


class Malformed(DomainError):
    """The body is no JSON at all."""


def loads(body: bytes | str) -> Any:
    """Parse JSON text. Raises Malformed (400) for no JSON, Invalid (422) for NaN and infinities."""
    try:
        return json.loads(body, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise Malformed("the body nests too deeply") from None
    except UnicodeDecodeError:
        raise Malformed("the body is not UTF-8") from None
    except ValueError as error:  # Also an integer of too many digits.
        raise Malformed(f"the body is not JSON: {error}"[:300]) from None


def _refuse(constant: str) -> None:
    raise Invalid(f"numbers must be finite; {constant} is not")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text[:40])
    return number
