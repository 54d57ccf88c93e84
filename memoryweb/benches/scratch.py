"""A database, or a whole home, of its own for a bench that writes: made, and removed again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from memoryweb.core import clock


@contextmanager
def scratch_database() -> Iterator[Path]:
    """Until the block ends, this thread's connection is to a fresh database; its file."""
    kept = connection.settings_dict["NAME"]
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as folder:
        path = Path(folder) / "memoryweb.sqlite3"
        connection.close()
        connection.settings_dict["NAME"] = path
        try:
            call_command("migrate", interactive=False, verbosity=0)
            clock.database_uuid()
            yield path
        finally:
            connection.close()
            connection.settings_dict["NAME"] = kept


@contextmanager
def scratch_home() -> Iterator[Path]:
    """The same, and files are written beside that database; a server can be started on it."""
    names = ("MEMORYWEB_HOME", "MEMORYWEB_MEMORY_DIR")
    kept = {name: getattr(settings, name) for name in names}
    with scratch_database() as database:
        home = database.parent
        settings.MEMORYWEB_HOME, settings.MEMORYWEB_MEMORY_DIR = home, home / "memory"
        settings.MEMORYWEB_MEMORY_DIR.mkdir()
        try:
            yield home
        finally:
            for name, value in kept.items():
                setattr(settings, name, value)
