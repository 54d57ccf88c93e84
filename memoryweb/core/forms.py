"""What the forms of every app have in common."""

from datetime import date
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from memoryweb.core.errors import Invalid
from memoryweb.core.times import FIRST_YEAR, LAST_YEAR

# For every field of a day: beyond these no moment has a local time.
YEARS = [MinValueValidator(date(FIRST_YEAR, 1, 1)), MaxValueValidator(date(LAST_YEAR, 1, 1))]


def add_errors(form: forms.Form, error: Invalid) -> None:
    """Put each thing that is wrong beside its field, and what has no field above the form."""
    for wrong in error.errors:
        name = next((part for part in wrong.loc if part in form.fields), None)
        form.add_error(None if name is None else str(name), wrong.msg)
    if not error.errors:
        form.add_error(None, error.detail)


class Text(forms.CharField):
    """Text as it is, but for the line ends that browsers put into a form."""

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, **options)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text.replace("\r\n", "\n") if isinstance(text, str) else text

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial) != self.to_python(data))
