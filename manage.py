#!/usr/bin/env python
"""Every command of memoryweb: `python manage.py serve --demo` is the one to start with."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"memoryweb cannot start: {error}")


if __name__ == "__main__":
    main()
