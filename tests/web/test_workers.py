"""Workers: claiming, storing in chunks, dying and going on."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kviz.common.claiming import MAX_CLAIMS
from kviz.engine_build import engine_build
from kviz.runs import services
from kviz.runs.execution.claim import run_claim, runs_release
from kviz.runs.execution.engine import simulate_run
from kviz.runs.execution.record import run_execute
from kviz.runs.models import Run
from kviz.runs.signals import run_advanced
from scheduler_core import ENGINE_VERSION
from scheduler_core.trace.codec import MAX_CYCLES, read_details, read_headers
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    RunStarted,
)
from tests.web.cast import CLUSTER, NODES, Person, crowd, execute, person, pod


class Died(BaseException):
    """The worker's process is gone, as far as this test is concerned."""


def dying_after(n_cycles: int) -> Any:
    """The real engine in a worker that dies when that many cycles are over."""

    def engine(run: Run) -> Iterator[AnyEvent]:
        for event in simulate_run(run):
            if isinstance(event, CycleStarted) and event.cycle > n_cycles:
                raise Died
            yield event

    return engine


def trace_of(run: Run) -> tuple[list[Any], dict[int, Any]]:
    """All header events and all details, whatever the chunks."""
    headers: list[Any] = []
    details: dict[int, Any] = {}
    for chunk in run.chunks.order_by("last_seq"):
        first_seq, events = read_headers(bytes(chunk.headers))
        assert first_seq == chunk.first_seq == len(headers)
        headers += events
        assert chunk.last_seq == len(headers) - 1
        details |= read_details(bytes(chunk.details))
    return headers, details


def index_of(run: Run) -> tuple[list[Any], list[Any]]:
    def rows(manager: Any, key: str) -> list[Any]:
        found = list(manager.order_by(key).values())
        return [{k: v for k, v in row.items() if k not in ("id", "run_id")} for row in found]

    return rows(run.cycle_rows, "number"), rows(run.pod_outcomes, "pod")


def test_a_run_is_claimed_by_one_of_many_workers(transactional_db: None) -> None:
    run = person().queued()
    barrier, claims = threading.Barrier(6), []

    def claim(name: str) -> None:
        try:
            barrier.wait()
            claims.append((name, run_claim(worker=name)))
        finally:
            connection.close()

    threads = [threading.Thread(target=claim, args=(f"w{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [(winner, claimed)] = [(name, found) for name, found in claims if found is not None]
    assert claimed.pk == run.pk
    run.refresh_from_db()
    assert run.claimed_by == winner


def test_the_oldest_run_is_claimed_first(ada: Person) -> None:
    first, second = ada.queued(), ada.queued()

    claimed = [run_claim(worker="w") for _ in range(3)]

    assert [run and run.pk for run in claimed] == [first.pk, second.pk, None]


def test_a_run_goes_on_where_a_dead_worker_left_it(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = crowd(3 * MAX_CYCLES) + pod("giant", "64")
    whole = ada.finished(text)
    run = ada.queued(text)
    with pytest.raises(Died):
        execute(worker="dies", engine=dying_after(2 * MAX_CYCLES + 5))
    run.refresh_from_db()
    assert (run.status, run.last_seq > 0) == ("running", True)
    stored = run.last_seq
    assert run_claim(worker="too early") is None

    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - dt.timedelta(minutes=5))
    assert execute(worker="heir").pk == run.pk

    run.refresh_from_db()
    assert run.status == "finished"
    assert run.trace_hash == whole.trace_hash
    assert run.chunks.filter(last_seq=stored).exists()
    assert trace_of(run) == trace_of(whole)
    assert index_of(run) == index_of(whole)


def test_a_worker_that_is_started_again_gets_its_run_back_at_once(ada: Person) -> None:
    run = ada.queued()
    with pytest.raises(Died):
        execute(worker="w", engine=dying_after(1))

    assert runs_release(worker="other") == 0
    assert runs_release(worker="w") == 1
    assert execute(worker="w").pk == run.pk
    run.refresh_from_db()
    assert run.status == "finished"


def test_a_run_that_kills_its_workers_is_given_up(ada: Person) -> None:
    run = ada.queued()
    for _ in range(MAX_CLAIMS):
        with pytest.raises(Died):
            execute(worker="w", engine=dying_after(0))
        runs_release(worker="w")

    execute(worker="w")

    run.refresh_from_db()
    assert run.status == "failed"
    assert "workers died" in run.error


def test_a_worker_that_lost_its_claim_stores_nothing_more(ada: Person) -> None:
    run = ada.queued(crowd(2 * MAX_CYCLES))

    def robbed(run: Run) -> Iterator[AnyEvent]:
        for event in simulate_run(run):
            if isinstance(event, CycleStarted) and event.cycle == MAX_CYCLES + 2:
                Run.objects.filter(pk=run.pk).update(claimed_by="robber")
            yield event

    execute(worker="victim", engine=robbed)

    run.refresh_from_db()
    assert (run.status, run.claimed_by) == ("running", "robber")
    assert max(run.chunks.values_list("last_cycle", flat=True)) == MAX_CYCLES


def test_a_cancelled_run_stops_and_keeps_what_it_has(ada: Person) -> None:
    run = ada.queued(crowd(2 * MAX_CYCLES))

    def cancelled(run: Run) -> Iterator[AnyEvent]:
        for event in simulate_run(run):
            if isinstance(event, CycleStarted) and event.cycle == MAX_CYCLES + 2:
                assert services.run_cancel(run=run)
            yield event

    execute(worker="w", engine=cancelled)

    run.refresh_from_db()
    assert run.status == "cancelled"
    assert run.trace_hash == ""
    assert run.cycles == MAX_CYCLES


def test_a_paused_run_goes_on_where_it_stopped(ada: Person) -> None:
    cluster = crowd(2 * MAX_CYCLES)
    whole = ada.finished(cluster)
    run = ada.queued(cluster)

    def paused(run: Run) -> Iterator[AnyEvent]:
        for event in simulate_run(run):
            if isinstance(event, CycleStarted) and event.cycle == MAX_CYCLES + 2:
                assert services.run_pause(run=run)
            yield event

    execute(worker="w", engine=paused)

    run.refresh_from_db()
    assert (run.status, run.cycles, run.trace_hash) == ("paused", MAX_CYCLES, "")

    assert services.run_resume(run=run)
    execute(worker="w")

    run.refresh_from_db()
    assert (run.status, run.trace_hash) == ("finished", whole.trace_hash)
    assert list(run.chunks.values_list("first_cycle", flat=True)) == list(
        whole.chunks.values_list("first_cycle", flat=True)
    )


def test_a_bug_in_the_engine_fails_the_run_and_not_the_worker(ada: Person) -> None:
    run = ada.queued()

    def buggy(run: Run) -> Iterator[AnyEvent]:
        yield next(iter(simulate_run(run)))
        raise ZeroDivisionError("secret detail")

    execute(worker="w", engine=buggy)

    run.refresh_from_db()
    assert run.status == "failed"
    assert "secret detail" not in run.error
    assert execute_next(ada).status == "finished"


def execute_next(ada: Person) -> Run:
    return ada.finished()


def test_a_trace_of_another_engine_version_is_begun_again(ada: Person) -> None:
    whole = ada.finished(crowd(MAX_CYCLES + 9))
    run = ada.queued(crowd(MAX_CYCLES + 9))

    def older(run: Run) -> Iterator[AnyEvent]:
        for event in dying_after(MAX_CYCLES + 5)(run):
            if isinstance(event, RunStarted):
                yield RunStarted("0.0", event.seed, event.now_ns, event.plugins, event.profiles)
            else:
                yield event

    with pytest.raises(Died):
        execute(worker="w", engine=older)
    runs_release(worker="w")
    execute(worker="w")

    run.refresh_from_db()
    assert run.trace_hash == whole.trace_hash
    assert trace_of(run) == trace_of(whole)
    assert index_of(run) == index_of(whole)


def test_a_trace_of_another_build_of_the_engine_is_begun_again(ada: Person) -> None:
    whole = ada.finished(crowd(MAX_CYCLES + 9))
    run = ada.queued(crowd(MAX_CYCLES + 9))
    with pytest.raises(Died):
        execute(worker="w", engine=dying_after(MAX_CYCLES + 5))
    runs_release(worker="w")
    Run.objects.filter(pk=run.pk).update(engine_version=f"{ENGINE_VERSION}+0123456789ab")
    of_the_other = set(run.chunks.values_list("pk", flat=True))
    execute(worker="w")

    run.refresh_from_db()
    assert of_the_other
    assert of_the_other.isdisjoint(run.chunks.values_list("pk", flat=True))
    assert run.engine_version == whole.engine_version == engine_build()
    assert run.trace_hash == whole.trace_hash


def test_viewers_are_notified_of_every_chunk(ada: Person) -> None:
    run = ada.queued(crowd(2 * MAX_CYCLES + 3))
    hints: list[int] = []
    claimed = run_claim(worker="w")
    assert claimed is not None

    def advanced(seq: int, **_: object) -> None:
        hints.append(seq)

    run_advanced.connect(advanced)
    run_execute(run=claimed, worker="w")
    run_advanced.disconnect(advanced)

    stored = list(run.chunks.order_by("last_seq").values_list("last_seq", flat=True))
    assert hints == [-1, *stored, stored[-1]]
    assert len(stored) >= 3


def test_the_index_knows_every_cycle_and_waiting_pod(ada: Person) -> None:
    run = ada.finished(CLUSTER + pod("foreign", schedulerName="other"))

    cycles = {row.pod: row for row in run.cycle_rows.all()}
    pods = {row.pod: row for row in run.pod_outcomes.all()}

    assert cycles.keys() == {"shop/giant", *(f"shop/web-{i}" for i in range(4))}
    assert cycles["shop/giant"].first_cause == "NodeResourcesFit"
    assert cycles["shop/giant"].n_examined == 2
    assert cycles["shop/web-0"].result == "scheduled"
    assert cycles["shop/web-0"].n_feasible == 2
    assert pods["shop/giant"].queue == "unschedulable"
    assert pods["shop/gated"].gated_by == "SchedulingGates"
    assert pods["shop/foreign"].queue == ""
    assert pods["shop/web-0"].node in ("north", "south")
    assert "shop/old" not in pods


def test_a_cluster_without_pending_pods_finishes(ada: Person) -> None:
    run = ada.finished(NODES)

    assert (run.status, run.cycles, run.pending) == ("finished", 0, 0)
    assert run.chunks.count() == 1


def test_the_next_run_over_a_snapshot_finds_its_objects_read(db: None) -> None:
    owner = person()
    one, other = owner.snapshot(CLUSTER), owner.snapshot(NODES)
    runs = [
        services.run_create(workspace=owner.workspace, snapshot=snapshot)
        for snapshot in (one, one, other)
    ]
    with CaptureQueriesContext(connection) as queries:
        traces = [list(simulate_run(run)) for run in (runs[0], runs[1], runs[2], runs[0])]
    read = [each["sql"] for each in queries if "packed" in each["sql"]]
    assert len(read) == 2  # each small one is read once
    assert traces[0] == traces[1] == traces[3] != traces[2]


@pytest.mark.parametrize("hours", [-1, 1], ids=["put back", "put forward"])
def test_a_clock_that_was_moved_strands_no_run(ada: Person, hours: int) -> None:
    whole = ada.finished(crowd(150))
    run = ada.queued(crowd(150))
    with pytest.raises(Died):
        execute(worker="dies", engine=dying_after(130))
    moved = timezone.now() - dt.timedelta(hours=hours)
    Run.objects.filter(pk=run.pk).update(heartbeat_at=moved)

    assert execute(worker="heir").pk == run.pk

    run.refresh_from_db()
    assert (run.status, run.trace_hash) == ("finished", whole.trace_hash)
