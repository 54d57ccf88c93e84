"""Whether this process lives and is ready. Each app adds what it needs to be ready."""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse

LEAST_FREE = 64 * 1024 * 1024  # bytes
Probe = Callable[[], str]  # answers "ok" or what is wrong
_probes: dict[str, Probe] = {}


def register_probe(name: str, probe: Probe) -> None:
    _probes[name] = probe


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
