"""Writes: a run is created, claimed by a worker, executed, paused, cancelled.

The engine is called from here and from nowhere else in the web application.
"""

from __future__ import annotations

import datetime as dt
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from operator import attrgetter
from tempfile import TemporaryFile
from typing import BinaryIO, Final
from uuid import UUID

import msgspec
import zstandard
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.common.upsert import upsert
from kviz.run_file import RunFileError
from kviz.runs import inputs, saved
from kviz.runs.models import Cycle, PodOutcome, Run, TraceChunk
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import snapshot_adopt
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.trace.codec import Chunk, TraceWriter, starts_cycle
from scheduler_core.trace.events import (
    AnyEvent,
    DetailEvent,
    RunStarted,
)
from scheduler_core.trace.index import CycleRow, Delta, PodRow, TraceIndex

log = logging.getLogger(__name__)

CLAIM_EXPIRES: Final = dt.timedelta(seconds=30)
"""A worker silent for so long is taken for dead, and its run is claimed by another."""
HEARTBEAT_S: Final = 1.0
MAX_CLAIMS: Final = 3
"""Workers that may die on a run without having stored anything new, before it is given up."""
FLUSH_S: Final = 0.25
"""How long events wait at most (to the end of their cycle) before viewers can see them."""

Engine = Callable[[Run], Iterable[AnyEvent]]
Advanced = Callable[[UUID, int], None]
"""Told the run and its last stored seq when there is news of it; a hint, not a promise."""


class ClaimLost(Exception):
    """The run was paused, cancelled, deleted, or taken over by another worker: store nothing."""


class WorkersDied(Exception):
    """Worker after worker died on the run, for want of memory perhaps; it is given up."""

    def __init__(self) -> None:
        super().__init__(
            f"{MAX_CLAIMS} workers died while executing this run, perhaps for want of memory."
        )


# ---------------------------------------------------------------- create, share, stop, delete


def run_create(
    *,
    workspace: Workspace,
    snapshot: Snapshot,
    scheduler_config: str = "",
    scenario: str = "",
    seed: int = 0,
) -> Run:
    """Queue a run. Raises what `inputs.check` raises when configuration or scenario is bad."""
    plugins = inputs.check(scheduler_config=scheduler_config, scenario=scenario)
    return Run.objects.create(
        workspace=workspace,
        snapshot=snapshot,
        scheduler_config=scheduler_config,
        scenario=scenario,
        seed=seed,
        out_of_tree_plugins=[asdict(plugin) for plugin in plugins],
    )


def run_open(*, workspace: Workspace, file: BinaryIO) -> Run:
    """Store a run that was saved as a file, all of it or nothing. Raises RunFileError.

    The file is checked to its end before anything is written, so that no lock waits for it.
    """
    file.seek(0)
    with TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as spool:
        found = saved.check(file, spool)
        try:
            with transaction.atomic():
                return _run_store(workspace, found)
        except (DatabaseError, OverflowError) as error:
            raise RunFileError("This file holds values that no run of kviz has.") from error


def _run_store(workspace: Workspace, found: saved.SavedRun) -> Run:
    made_of, index, outcome = found.inputs, found.index, found.outcome
    snapshot = None
    if found.has_cluster:
        like = found.snapshot()
        snapshot = snapshot_adopt(workspace=workspace, packed=made_of.objects, like=like)
    run = Run.objects.create(
        workspace=workspace,
        kind=Run.Kind.OBSERVED if found.observed else Run.Kind.SIMULATED,
        name=made_of.name if found.observed else "",
        snapshot=snapshot,
        scheduler_config=made_of.scheduler_config,
        scenario=made_of.scenario,
        seed=made_of.seed,
        engine_version=found.engine_version,
        not_modelled=list(index.not_modelled),
        out_of_tree_plugins=[msgspec.structs.asdict(plugin) for plugin in made_of.plugins],
        status=outcome.status,
        cycles=index.n_cycles,
        bound=index.n_bound,
        pending=index.n_pending,
        last_seq=found.last_seq,
        trace_hash=outcome.trace_hash if outcome.status == Run.Status.FINISHED else "",
        stop_reason=index.finished.reason if index.finished else "",
        error=outcome.error,
        finished_at=timezone.now(),
    )
    for part in found.parts():
        chunk_store(run=run, chunk=part.chunk, delta=part.delta)
    for answer in found.answers:
        values = msgspec.structs.asdict(answer) | {"body": zstandard.compress(answer.body)}
        run.extender_answers.create(**values)
    return run


def run_share(*, run: Run) -> str:
    """Return the token that opens this run to whoever has it (`?share=`)."""
    Run.objects.filter(pk=run.pk, share_token="").update(share_token=secrets.token_urlsafe(24))
    run.refresh_from_db(fields=["share_token"])
    return run.share_token


def run_pause(*, run: Run) -> bool:
    """Take a waiting or running run from its worker, until it is resumed; False if it is neither.

    What is stored stays. The worker notices when it next wants to store something.
    """
    active = Run.objects.filter(
        pk=run.pk,
        kind=Run.Kind.SIMULATED,
        status__in=(Run.Status.QUEUED, Run.Status.RUNNING),
    )
    return active.update(status=Run.Status.PAUSED, claimed_by="") == 1


def run_resume(*, run: Run) -> bool:
    """Queue a paused run again; it goes on after its last stored event. False if not paused."""
    paused = Run.objects.filter(pk=run.pk, status=Run.Status.PAUSED)
    return paused.update(status=Run.Status.QUEUED, claims=0) == 1


def run_cancel(*, run: Run) -> bool:
    """Stop a run that is not over; what it stored so far stays. False if it was over."""
    cancelled = Run.objects.filter(pk=run.pk, status__in=Run.LIVE).update(
        status=Run.Status.CANCELLED, finished_at=timezone.now()
    )
    return cancelled == 1


def run_delete(*, run: Run) -> None:
    run.delete()


# ---------------------------------------------------------------- claim


def run_claim(*, worker: str) -> Run | None:
    """Claim the oldest run that waits, or whose worker fell silent; None if there is none.

    `worker` is a name no other live worker has.
    """
    now = timezone.now()
    free = Q(status=Run.Status.QUEUED) | Q(
        status=Run.Status.RUNNING, heartbeat_at__lt=now - CLAIM_EXPIRES
    )
    free &= Q(kind=Run.Kind.SIMULATED)
    for run_id in Run.objects.filter(free).order_by("created_at").values_list("pk", flat=True)[:5]:
        claimed = Run.objects.filter(free, pk=run_id).update(
            status=Run.Status.RUNNING,
            claimed_by=worker,
            claims=F("claims") + 1,
            heartbeat_at=now,
            started_at=Coalesce(F("started_at"), now),
        )
        if claimed:
            return Run.objects.select_related("snapshot").get(pk=run_id)
    return None


def runs_release(*, worker: str) -> int:
    """Give back what `worker` held when it died; for whoever starts it again."""
    held = Run.objects.filter(status=Run.Status.RUNNING, claimed_by=worker)
    return held.update(status=Run.Status.QUEUED, claimed_by="")


# ---------------------------------------------------------------- execute


def run_execute(
    *, run: Run, worker: str, advanced: Advanced, engine: Engine = inputs.simulate_run
) -> None:
    """Simulate a claimed run and store its trace; continue one that another worker began.

    Ends with the run finished or failed, unless the claim was lost meanwhile.
    """
    advanced(run.pk, run.last_seq)
    try:
        if run.claims > MAX_CLAIMS:
            raise WorkersDied
        recording = _Recording(run, worker, advanced)
        try:
            for event in engine(run):
                recording.take(event)
        except PluginFailure:
            recording.keep()
            raise
        recording.finish()
    except ClaimLost:
        log.info("run %s is no longer ours", run.pk)
    except inputs.InvalidInput as invalid:
        _fail(run, worker, str(invalid))
    except WorkersDied as died:
        _fail(run, worker, str(died))
    except PluginFailure as failure:
        log.warning("run %s failed", run.pk, exc_info=failure)
        _fail(run, worker, str(failure))
    except Exception:
        log.exception("run %s failed", run.pk)
        _fail(run, worker, "The engine failed. This is a bug; the server's log has the details.")
    else:
        return
    advanced(run.pk, run.last_seq)


def _fail(run: Run, worker: str, error: str) -> None:
    _owned(run, worker).update(
        status=Run.Status.FAILED, error=error, finished_at=timezone.now(), claimed_by=""
    )


def _owned(run: Run, worker: str) -> QuerySet[Run]:
    return Run.objects.filter(pk=run.pk, status=Run.Status.RUNNING, claimed_by=worker)


class _Recording:
    """Stores a run's trace chunk by chunk, with its index, while the engine emits it."""

    def __init__(self, run: Run, worker: str, advanced: Advanced) -> None:
        self._run = run
        self._worker = worker
        self._advanced = advanced
        self._index = TraceIndex()
        self._writer = TraceWriter(resume_after=run.last_seq)
        self._stored_seq = run.last_seq
        self._alive()

    def _alive(self) -> None:
        now = time.monotonic()
        self._flush_at = now + FLUSH_S
        self._heartbeat_at = now + HEARTBEAT_S

    def take(self, event: AnyEvent) -> None:
        """Record the next event; store a chunk first if one is due."""
        now = time.monotonic()
        if starts_cycle(event) and self._is_due(now):
            self._flush()
        elif now >= self._heartbeat_at:
            self._update(heartbeat_at=timezone.now())
            self._heartbeat_at = now + HEARTBEAT_S
        if isinstance(event, RunStarted):
            self._begin(event)
        self._writer.add(event)
        if not isinstance(event, DetailEvent):
            self._index.take(event)

    def _is_due(self, now: float) -> bool:
        """The end of what was stored before is a border, too: the index starts afresh there."""
        return (
            now >= self._flush_at
            or self._writer.is_full
            or self._writer.last_seq == self._stored_seq
        )

    def _begin(self, event: RunStarted) -> None:
        """Start over if the stored part was written by another version of the engine."""
        run = self._run
        if self._stored_seq >= 0 and run.engine_version != event.engine_version:
            with transaction.atomic():
                self._update(last_seq=-1)
                run.chunks.all().delete()
                run.cycle_rows.all().delete()
                run.pod_outcomes.all().delete()
            self._writer, self._stored_seq = TraceWriter(), -1
        self._update(engine_version=event.engine_version, not_modelled=list(event.not_modelled))

    def keep(self) -> None:
        """Store what came before a failure: the engine hands over whole cycles only."""
        self._flush()

    def finish(self) -> None:
        """Store the rest and close the run."""
        self._flush()
        end = self._index.finished
        if end is None:
            raise RuntimeError("the engine stopped without RunFinished")
        self._update(
            status=Run.Status.FINISHED,
            cycles=end.n_cycles,
            bound=end.n_bound,
            pending=end.n_pending,
            stop_reason=end.reason,
            trace_hash=self._writer.trace_hash(),
            finished_at=timezone.now(),
            claimed_by="",
        )
        self._advanced(self._run.pk, self._stored_seq)

    def _flush(self) -> None:
        chunk, delta = self._writer.cut(), self._index.drain()
        if chunk is not None:
            with transaction.atomic():
                self._update(
                    last_seq=chunk.last_seq,
                    cycles=self._index.n_cycles,
                    bound=self._index.n_bound,
                    pending=self._index.n_pending,
                    claims=0,
                    heartbeat_at=timezone.now(),
                )
                chunk_store(run=self._run, chunk=chunk, delta=delta)
            self._stored_seq = chunk.last_seq
            self._advanced(self._run.pk, chunk.last_seq)
        else:
            self._update(heartbeat_at=timezone.now())
        self._alive()

    def _update(self, **values: object) -> None:
        """Change the run as long as it is ours."""
        if not _owned(self._run, self._worker).update(**values):
            raise ClaimLost
        for name, value in values.items():
            setattr(self._run, name, value)


def chunk_store(*, run: Run, chunk: Chunk, delta: Delta) -> None:
    """Append a chunk to the trace, and bring the index up to it. Call it in a transaction."""
    TraceChunk.objects.create(
        run=run,
        first_seq=chunk.first_seq,
        last_seq=chunk.last_seq,
        first_cycle=chunk.first_cycle,
        last_cycle=chunk.last_cycle,
        defines=delta.defines,
        headers=chunk.headers,
        details=chunk.details,
    )
    run_id = Run._meta.pk.get_db_prep_save(run.pk, connection)
    upsert(
        Cycle,
        ("run", *_CYCLE_FIELDS, "n_victims"),
        [(run_id, *_CYCLE_VALUES(row), len(row.victims)) for row in delta.cycles],
        unique=("run", "number"),
    )
    upsert(
        PodOutcome,
        ("run", *_POD_FIELDS),
        [(run_id, *_POD_VALUES(row)) for row in delta.pods],
        unique=("run", "pod"),
    )


_CYCLE_FIELDS: Final = [field.name for field in fields(CycleRow) if field.name != "victims"]
_CYCLE_VALUES: Final = attrgetter(*_CYCLE_FIELDS)
_POD_FIELDS: Final = [field.name for field in fields(PodRow)]
_POD_VALUES: Final = attrgetter(*_POD_FIELDS)
