"""What a form sent, for the page that says why it was not done: nothing that was typed is lost."""

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest

Fields = list[tuple[str, str]]

SHORT = 20  # A ticked box or a choice is made again sooner than it is copied.
HIDDEN = frozenset({"back", "document", "etag", "id", "next", "path", "query"})


def fields(request: HttpRequest) -> Fields:
    """The fields of a form, to be sent again; none of a form with a password or a file."""
    if request.method != "POST" or request.FILES or any("password" in n for n in request.POST):
        return []
    return [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken"
    ]


def texts(given: Fields) -> Fields:
    """What somebody may have typed, under the name of its field as a person reads it."""
    return [
        (name.replace("_", " "), value)
        for name, value in given
        if len(value) > SHORT and name not in HIDDEN
    ]


def texts_of(request: HttpRequest) -> Fields:
    """The texts of a form that failed; none of one that could not be read."""
    try:
        return texts(fields(request))
    except (BadRequest, SuspiciousOperation, OSError):
        return []
