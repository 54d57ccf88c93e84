"""Whether this process lives and is ready. Each app adds what it needs to be ready."""

import logging
import shutil
import threading
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse

from memoryweb.core import clock
from memoryweb.core.failures import explained

logger = logging.getLogger(__name__)

LEAST_FREE = 64 * 1024 * 1024  # bytes
Probe = Callable[[], str]  # answers "ok" or what is wrong
_probes: dict[str, Probe] = {}
_warnings: dict[str, Probe] = {}  # Theirs is "" when nothing is to be told.


# What this process has yet to do before it says that it lives.
_first: dict[str, Callable[[], object]] = {}
_starting = threading.Lock()
_migrated = threading.Event()


def register_probe(name: str, probe: Probe) -> None:
    _probes[name] = probe


def register_warning(name: str, probe: Probe) -> None:
    """Tell of something that a person should look at, though requests are answered as ever."""
    _warnings[name] = probe


def do_first(name: str, do: Callable[[], object]) -> None:
    _first[name] = do


def start() -> str:
    """Do what has to be done first, once a process; the name of what failed and is still to do."""
    with _starting:
        for name, do in list(_first.items()):
            try:
                do()
            except Exception:
                logger.exception("this process cannot start: %s", name)
                return name
            del _first[name]
    return ""


def database() -> str:
    clock.current_seq()
    return "ok"


def migrations() -> str:
    return "ok" if migrated() else "the database needs to be migrated"


def migrated() -> bool:
    """Whether the database has every migration. Once it has, this process asks no more."""
    if not _migrated.is_set():
        executor = MigrationExecutor(connection)
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            _migrated.set()
    return _migrated.is_set()


def disk() -> str:
    try:
        free = shutil.disk_usage(settings.MEMORYWEB_HOME).free
    except OSError as error:
        return f"the home cannot be read: {error.strerror}"
    return "ok" if free >= LEAST_FREE else "the disk of the home is almost full"


def _asked(name: str, probe: Probe) -> str:
    try:
        return probe()
    except Exception as error:
        failure = explained(error)
        if failure is None:
            logger.exception("the probe %s failed", name)
        return failure.detail if failure else "it cannot be told; the log says why"


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; told to restart it, a supervisor asks here."""
    if waiting := start():
        return HttpResponse(f"waiting: {waiting}\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """All that a request needs is there: 200, or 503 with what is not. Warnings change neither."""
    state, warnings = report()
    ready = all(value == "ok" for value in state.values())
    body = {"ready": ready, **state, "warnings": warnings}
    return JsonResponse(body, status=200 if ready else 503)


def report() -> tuple[dict[str, str], dict[str, str]]:
    """What each probe answers, "ok" or what is wrong; and once all is ok what each warns of."""
    probes: dict[str, Probe] = {"database": database, "disk": disk, "migrations": migrations}
    state = {name: _asked(name, probe) for name, probe in {**probes, **_probes}.items()}
    ready = all(value == "ok" for value in state.values())
    asked = {name: _asked(name, probe) for name, probe in _warnings.items()} if ready else {}
    return state, {name: text for name, text in asked.items() if text}
