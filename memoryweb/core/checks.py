"""System checks: what would endanger the data is said before the first write."""

import os
import re
import sqlite3
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

# What the README has clients read: it is there in a shell that runs commands as well.
OF_CLIENTS = ("MEMORYWEB_TOKEN", "MEMORYWEB_URL")


@register()
def sqlite_is_fixed(**_: Any) -> list[CheckMessage]:
    """SQLite 3.7.0 to 3.51.2 can corrupt a WAL database, but for the patched 3.50.7 and 3.44.6."""
    version = sqlite3.sqlite_version_info
    if version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45):
        return []
    return [
        Error(
            f"SQLite {sqlite3.sqlite_version} has the WAL-reset corruption race.",
            hint="Install pysqlite3, which bundles a fixed SQLite.",
            id="core.E001",
        )
    ]


@register()
def environment_names_are_known(**_: Any) -> list[CheckMessage]:
    """A misspelt variable would silently leave its default in force."""
    source = (settings.BASE_DIR / "memoryweb" / "settings.py").read_text()
    known = {*re.findall(r"\"(MEMORYWEB_[A-Z_]+)\"", source), *OF_CLIENTS}
    return [
        Warning(f"{name} is not a setting of memoryweb.", id="core.W001")
        for name in sorted(os.environ)
        if name.startswith("MEMORYWEB_") and name not in known
    ]


@register()
def home_is_private(**_: Any) -> list[CheckMessage]:
    """The home holds the secret and all that agents remember; only its owner should read it."""
    home = settings.MEMORYWEB_HOME
    try:
        mode = home.stat().st_mode & 0o777
    except OSError:
        return []  # It is made later, or what is wrong with it is said then.
    if not mode & 0o077:
        return []
    return [
        Warning(
            f"Others than its owner can look into the home {home} (mode {mode:o}).",
            hint=f"chmod 700 {home}",
            id="core.W002",
        )
    ]
