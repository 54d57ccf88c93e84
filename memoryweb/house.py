"""Setting up and opening a home: folders, database, the first administrator's link."""

import fcntl
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from memoryweb.core import clock, tokens
from memoryweb.core.actor import system
from memoryweb.core.failures import explained
from memoryweb.core.models import User


@contextmanager
def setting_up(home: Path) -> Iterator[None]:
    """Only one process sets a home up at a time; the next finds it done."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(home / "setup.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def prepare() -> None:
    """Make what is missing of the home and bring its database up to date.

    Raises CommandError when the database is newer than this program, and when the home or the
    database cannot be used. An older database is backed up before it is migrated.
    """
    try:
        _prepare(settings.MEMORYWEB_HOME)
    except (OSError, DatabaseError) as error:
        raise CommandError(
            f"the home {settings.MEMORYWEB_HOME} cannot be used: {_why(error)}"
        ) from error


def enter() -> None:
    """As prepare, but only a home that is there already.

    A command that uses a home makes none: where there is none, another was meant. Raises
    CommandError as prepare does.
    """
    if not Path(connection.settings_dict["NAME"]).exists():
        raise CommandError(
            f"there is no memoryweb at {settings.MEMORYWEB_HOME}, and nothing was made there; "
            "set MEMORYWEB_HOME to the folder that `manage.py serve` uses, or start that first"
        )
    prepare()


def moved() -> str:
    """What must stand before a command in a shell for it to use this home: "" for the usual one."""
    home = settings.MEMORYWEB_HOME
    usual = home == settings.BASE_DIR / "data"
    return "" if usual else f"MEMORYWEB_HOME={shlex.quote(str(home))} "


def _why(error: Exception) -> str:
    failure = explained(error)
    return failure.detail if failure else str(error)


def _prepare(home: Path) -> None:
    with setting_up(home):
        for name in ("backups", "index", "locks"):
            (home / name).mkdir(mode=0o700, exist_ok=True)
        with suppress(OSError):  # What is wrong there is shown under Bank; other pages are read.
            (settings.MEMORYWEB_MEMORY_DIR / "bank" / "entities").mkdir(parents=True, exist_ok=True)
        _make_private(Path(connection.settings_dict["NAME"]))
        executor = MigrationExecutor(connection)
        _refuse_newer(executor)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            if executor.loader.applied_migrations:
                _back_up(home / "backups")
            call_command("migrate", interactive=False, verbosity=0)
        clock.database_uuid()


def _refuse_newer(executor: MigrationExecutor) -> None:
    ours = {app for app, _ in executor.loader.disk_migrations or {}}
    unknown = [
        f"{app}.{name}"
        for app, name in executor.loader.applied_migrations
        if app in ours
        and (app, name) not in (executor.loader.disk_migrations or {})
        and (app, name) not in executor.loader.replacements
    ]
    if unknown:
        raise CommandError(
            f"this database was made by a newer memoryweb (it has {unknown[0]}); "
            "nothing was changed; run the newer program, or restore an older backup"
        )


def _make_private(database: Path) -> None:
    """An empty file that only its owner reads; SQLite fills it, and its log gets the same mode."""
    if not database.exists():
        database.touch(mode=0o600)


def _back_up(folder: Path) -> None:
    target = folder / f"before-upgrade-{timezone.now():%Y%m%dT%H%M%S}.sqlite3"
    _make_private(target)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(target)])


def last_backup() -> datetime | None:
    """When the newest file in the folder of backups was written."""
    try:
        files = [one.stat().st_mtime for one in (settings.MEMORYWEB_HOME / "backups").iterdir()]
    except OSError:
        return None
    return datetime.fromtimestamp(max(files), UTC) if files else None


def has_administrator() -> bool:
    return User.objects.filter(role=User.RoleName.ADMINISTRATOR, is_active=True).exists()


def public_address(served: str) -> str:
    """Where people reach what is served here: behind TLS at the proxy's origin or the first host
    name that is no pattern, over HTTPS; else where it is served."""
    if not settings.HTTPS:
        return served
    names = [host for host in settings.ALLOWED_HOSTS if host not in settings.LOOPBACK]
    ours = [*settings.CSRF_TRUSTED_ORIGINS, *(f"https://{name}" for name in names)]
    plain = (one for one in ours if re.fullmatch(r"https://[^.*][^*]*", one))
    return next(plain, served)


def setup_path() -> str:
    """The path of a fresh one-time link that makes an administrator."""
    return f"/first/{tokens.make_setup_link(system())}/"
