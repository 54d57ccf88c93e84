"""Times in words that are short enough for a cell of a table."""

from datetime import datetime, timedelta

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.timesince import timesince, timeuntil

register = template.Library()


@register.filter
def ago(time: datetime) -> str:
    """How long ago, or ahead, in the largest unit alone: `17 years ago`, `3 days from now`."""
    now = timezone.now()
    if abs(now - time) < timedelta(days=1):
        return str(naturaltime(time))
    if time < now:
        return f"{timesince(time, now, depth=1)} ago"
    return f"{timeuntil(time, now, depth=1)} from now"
