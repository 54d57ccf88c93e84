"""Whether this process lives and is ready. Each app adds what it needs to be ready."""

import logging
import shutil
import threading
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse

logger = logging.getLogger(__name__)

LEAST_FREE = 64 * 1024 * 1024  # bytes
Probe = Callable[[], str]  # answers "ok" or what is wrong
_probes: dict[str, Probe] = {}


# What this process has yet to do before it says that it lives.
_first: dict[str, Callable[[], object]] = {}
_starting = threading.Lock()


def register_probe(name: str, probe: Probe) -> None:
    _probes[name] = probe


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
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "the database does not answer"
    return "ok"


def migrations() -> str:
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return "the database needs to be migrated" if pending else "ok"


def disk() -> str:
    free = shutil.disk_usage(settings.MEMORYWEB_HOME).free
    return "ok" if free >= LEAST_FREE else "the disk of the home is almost full"


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; told to restart it, a supervisor asks here."""
    if waiting := start():
        return HttpResponse(f"waiting: {waiting}\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """All that a request needs is there: 200, or 503 with what is not."""
    state = {
        name: probe() for name, probe in {"database": database, "disk": disk, **_probes}.items()
    }
    if state["database"] == "ok":
        state["migrations"] = migrations()
    ready = all(value == "ok" for value in state.values())
    return JsonResponse({"ready": ready, **state}, status=200 if ready else 503)
