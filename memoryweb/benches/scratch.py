"""A database of its own for a bench that writes: made, migrated and removed again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
