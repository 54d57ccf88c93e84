"""Markdown in a line of a page."""

import re

from django import template

from bank import markdown

register = template.Library()
_ITEM = re.compile(r"\A(?:[-*+]|\d{1,9}[.)]|>)\s+")  # What makes a line one of a list, or a quote.


@register.filter
def words(line: str) -> str:
    """The words of a line of Markdown without its marks; what agents are given keeps them."""
    return markdown.words(_ITEM.sub("", line))
