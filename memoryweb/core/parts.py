"""One address has a page and its part: the page holds the part, and htmx is given it alone."""

from django.http import HttpRequest


def is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for the part, and not for the whole page as a link that it follows."""
    return bool(request.htmx) and not request.htmx.boosted  # type: ignore[attr-defined]
