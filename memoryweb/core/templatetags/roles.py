"""What a page offers goes by who reads it."""

from django import template

from memoryweb.core import access
from memoryweb.core.models import User

register = template.Library()


@register.filter
def may_open(user: object, address: str) -> bool:
    """Whether a link to this address is of use to this person: `{% if user|may_open:url %}`."""
    return not isinstance(user, User) or access.may_open(user, address)
