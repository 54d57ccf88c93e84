"""Runs: long work as rows, begun and cancelled by anyone who may, done by whoever has the lease.

A run is claimed by one conditional UPDATE, and each step of it is written in the same transaction
as what it did, and only by the holder of the lease: after a kill another process goes on where
the last step ended, and nothing is counted or stored twice.
"""

import os
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from memoryweb.core import active_model, clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Conflict, Invalid, NotFound
from search.embedding import configured
from search.embedding.problems import ProviderError
from search.models import Run, RunError, RunHold
from search.reindex import CORPORA, Plan, Repair, Target, Wanted, plan, target_of
from search.sources import SOURCES

LEASE = timedelta(seconds=15)
ERRORS_SHOWN = 100
UNFINISHED = (Run.State.QUEUED, Run.State.RUNNING)


@dataclass(frozen=True)
class Request:
    """What a reindex is to do. Nothing named means everything."""

    collections: Sequence[str] = ()
    model: str = ""
    states: Sequence[Repair] = ()
    retry_of: int | None = None
    documents: Sequence[str] = ()

    @property
    def repairs(self) -> bool:
        """Whether this is about documents whose vectors, as they are, are not comparable."""
        return bool(self.states or self.documents)

    def of(self, target: Target) -> Wanted:
        """This as a choice of documents that lack a vector of the target."""
        return Wanted(target, self.states, self.retry_of, self.documents or None)

    @property
    def named(self) -> list[str]:
        return [name for name in CORPORA if name in self.collections or not self.collections]


def this_process() -> str:
    """A name for the holder of leases that no other process has."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(6)}"


def planned(wanted: Request) -> Plan:
    """What a reindex would do, without doing it. It asks no provider, and needs none."""
    chosen = configured.configured()
    model = wanted.model or _default(wanted, chosen.model if chosen else "") or repaired_model()
    return plan(wanted.named, wanted.of(target_of(model)))


def _default(wanted: Request, of_provider: str) -> str:
    """The model when none is named: a repair is of what searches compare, all else of the model
    that the provider is configured for."""
    return repaired_model() if wanted.repairs else of_provider


def repaired_model() -> str:
    """The model that a repair makes vectors of: the active one, else the provider's; "" where
    there is neither."""
    active, chosen = active_model.active(), configured.configured()
    return active.model if active else chosen.model if chosen else ""


def start_reindex(actor: Actor, wanted: Request) -> Run:
    """Begin a reindex, which the worker does.

    Raises Unavailable without a provider, Conflict while one works on any of the collections,
    Invalid for documents of more than one.
    """
    actor.require(Role.CURATOR)
    if wanted.documents and len(wanted.named) != 1:
        raise Invalid.field("documents", "are of one collection: name it in collections")
    provider = configured.required()
    try:
        model = provider.of(wanted.model or _default(wanted, provider.model)).model
    except ProviderError as error:
        raise Invalid.field("model", error.detail) from error
    return _started(
        actor,
        Run(
            kind=Run.Kind.REINDEX,
            collections=wanted.named,
            states=list(dict.fromkeys(wanted.states)),
            documents=list(wanted.documents),
            model=model,
            retry_of_id=wanted.retry_of,
        ),
    )


def request_of(run: Run) -> Request:
    """What a run was begun for."""
    return Request(run.collections, run.model, run.states, run.retry_of_id, run.documents)


def start_rebuild(actor: Actor) -> Run:
    """Begin to build every index anew, aside. Raises Conflict while that is being done."""
    actor.require(Role.CURATOR)
    return _started(actor, Run(kind=Run.Kind.REBUILD, collections=list(SOURCES)))


def _started(actor: Actor, run: Run) -> Run:
    run.actor, run.created_at = str(actor)[:250], timezone.now()
    holds = [RunHold(run=run, kind=run.kind, collection=name) for name in run.collections]
    try:
        with clock.writing(actor) as tx:
            run.save(force_insert=True)
            RunHold.objects.bulk_create(holds)
            tx.audited(
                f"run.{run.kind}", f"runs/{run.pk}", collections=run.collections, model=run.model
            )
    except IntegrityError:
        raise _taken(run) from None
    return run


def _taken(run: Run) -> Conflict:
    held = RunHold.objects.filter(kind=run.kind, collection__in=run.collections).first()
    number = held.run_id if held else None
    return Conflict(
        f"run {number} works on that already; it can be cancelled, or waited for", run=number
    )


def retry(actor: Actor, number: int) -> Run:
    """A new run for the documents that a run failed at. Raises NotFound, Invalid, and as start."""
    run = find(number)
    if not run.failed or run.kind != Run.Kind.REINDEX:
        raise Invalid("this run failed at nothing; there is nothing to try again")
    wanted = Request(run.collections, run.model, retry_of=run.pk)
    return start_reindex(actor, wanted)


def cancel(actor: Actor, number: int) -> Run:
    """End a run now: what it has stored stays. Raises NotFound, Conflict when it has ended."""
    actor.require(Role.CURATOR)
    after = coverage_after(find(number))
    with clock.writing(actor) as tx:
        row = Run.objects.filter(pk=number, state__in=UNFINISHED)
        if not ended(row, Run.State.CANCELLED, coverage_after=after):
            raise Conflict("this run has ended already; there is nothing to cancel")
        tx.audited("run.cancel", f"runs/{number}")
    return find(number)


def ended(row: QuerySet[Run], state: str, **values: Any) -> bool:
    """Write that the one run of `row` has ended, in the caller's transaction, and let others of
    its kind begin; False when there is no such row any more."""
    numbers = list(row.values_list("pk", flat=True))
    over = {"owner": "", "lease_until": None, "finished_at": timezone.now()}
    if not row.update(state=state, **over, **values):
        return False
    RunHold.objects.filter(run__in=numbers).delete()
    return True


def coverage_of(collections: Sequence[str], target: Target) -> dict[str, Any]:
    """How much of each collection has a vector of the model."""
    return {name: CORPORA[name].coverage(target) for name in collections}


def coverage_after(run: Run) -> dict[str, Any] | None:
    """What a run leaves behind; None for one that embeds nothing or never began to."""
    now = Run.objects.get(pk=run.pk)
    if now.kind != Run.Kind.REINDEX or now.coverage_before is None:
        return None
    return coverage_of(now.collections, Target(now.model, now.dimension))


def all_runs() -> QuerySet[Run]:
    return Run.objects.order_by("-id")


def with_errors(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Fetch the first errors of each run with it, as `first_errors`."""
    first = RunError.objects.order_by("id")[:ERRORS_SHOWN]
    return rows.prefetch_related(Prefetch("errors", first, to_attr="first_errors"))


def find(number: int) -> Run:
    """Raises NotFound."""
    run = with_errors(Run.objects.filter(pk=number)).first()
    if run is None:
        raise NotFound("there is no such run")
    return run


def active(kind: str) -> Run | None:
    """A run of this kind that has not ended."""
    return Run.objects.filter(kind=kind, state__in=UNFINISHED).order_by("id").first()


def claim(owner: str, number: int | None = None) -> Run | None:
    """Take the oldest run that nobody works on, or that one; None when there is none.

    A lease that is longer than any was given by a clock that was ahead, and holds no more.
    """
    now = timezone.now()
    free = Run.objects.filter(state__in=UNFINISHED).filter(
        Q(lease_until=None) | Q(lease_until__lt=now) | Q(lease_until__gt=now + 2 * LEASE)
    )
    if number is not None:
        free = free.filter(pk=number)
    for pk in free.order_by("id").values_list("pk", flat=True)[:10]:
        lease = {"owner": owner, "lease_until": now + LEASE, "heartbeat_at": now}
        if free.filter(pk=pk).update(state=Run.State.RUNNING, **lease):
            Run.objects.filter(pk=pk, started_at=None).update(started_at=now)
            return Run.objects.get(pk=pk)
    return None


def held(run: Run, owner: str) -> QuerySet[Run]:
    """The run while this owner has it: an UPDATE of no row says that it was lost."""
    return Run.objects.filter(pk=run.pk, owner=owner, state=Run.State.RUNNING)


def beat(run: Run, owner: str) -> bool:
    """Prolong the lease; False when the run is this owner's no longer."""
    now = timezone.now()
    return bool(held(run, owner).update(lease_until=now + LEASE, heartbeat_at=now))


def release(owner: str) -> None:
    """Give back whatever this owner holds, for another process to go on with at once."""
    Run.objects.filter(owner=owner, state=Run.State.RUNNING).update(owner="", lease_until=None)


def shown(run: Run) -> dict[str, Any]:
    """The run in the API's shape. It must come from `with_errors`."""
    errors: Sequence[RunError] = run.first_errors  # type: ignore[attr-defined]
    told = [{"id": error.document, "reason": error.reason} for error in errors]
    if run.state == Run.State.FAILED and run.message:
        told.insert(0, {"id": "", "reason": run.message})
    return {
        "id": run.pk,
        "kind": run.kind,
        "state": run.state,
        "done": run.done,
        "total": run.total,
        "failed": run.failed,
        "rate": round(run.rate, 2),
        "eta_s": run.eta_s,
        "errors": told,
        "coverage_before": run.coverage_before,
        "coverage_after": run.coverage_after,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
    }
