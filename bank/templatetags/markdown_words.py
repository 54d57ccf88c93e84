"""Markdown in a line of a page."""

from django import template

from bank import markdown

register = template.Library()


@register.filter
def words(line: str) -> str:
    """The words of a line of Markdown without its marks; what agents are given keeps them."""
    return markdown.words(line)
