"""A run's tables as rows: every cycle, and where every pod stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kviz.common.csv_file import Cell
from kviz.runs.models import Cycle, PodOutcome, Run
from kviz.runs.selectors import CycleKind, cycles_filtered

BATCH: Final = 1000
CYCLE_COLUMNS: Final = (
    "cycle",
    "time_ns",
    "pod",
    "attempt",
    "result",
    "node",
    "nominated_node",
    "nodes",
    "examined",
    "feasible",
    "tied",
    "victims",
    "first_cause",
    "message",
    "not_modelled",
    "release",
)
POD_COLUMNS: Final = (
    "pod",
    "priority",
    "scheduler_name",
    "queue",
    "node",
    "nominated_node",
    "attempts",
    "last_cycle",
    "first_cause",
    "message",
    "gated_by",
    "moved_by",
    "evicted_in_cycle",
    "evicted_by",
    "deleted",
    "not_modelled",
    "release",
)
"""`not_modelled` and `release` are of the run: what the input asks for and the engine does not do,
and whose scheduler it follows and why."""


def cycle_rows(run: Run, *, kind: CycleKind, pod: str) -> Iterator[list[Sequence[Cell]]]:
    """Cycles in batches, all or those of one kind or pod; no query stays open between two."""
    after, of_run = 0, _of_run(run)
    while batch := list(cycles_filtered(run=run, kind=kind, pod=pod, after=after)[:BATCH]):
        yield [(*_cycle(cycle), *of_run) for cycle in batch]
        after = batch[-1].number


def pod_rows(run: Run) -> Iterator[list[Sequence[Cell]]]:
    """Pods that were queued or evicted, in batches, with what their last cycle came to."""
    after, of_run = "", _of_run(run)
    pods = run.pod_outcomes.order_by("pod")
    while batch := list(pods.filter(pod__gt=after)[:BATCH]):
        numbers = {pod.last_cycle for pod in batch if pod.last_cycle}
        last = {cycle.number: cycle for cycle in run.cycle_rows.filter(number__in=numbers)}
        yield [(*_pod(pod, last.get(pod.last_cycle)), *of_run) for pod in batch]
        after = batch[-1].pod


def _of_run(run: Run) -> Sequence[Cell]:
    return "; ".join(run.not_modelled), run.release_text


def _cycle(cycle: Cycle) -> Sequence[Cell]:
    return (
        cycle.number,
        cycle.now_ns,
        cycle.pod,
        cycle.attempt,
        cycle.result,
        cycle.node,
        cycle.nominated_node,
        cycle.n_nodes,
        cycle.n_examined,
        cycle.n_feasible,
        cycle.n_tied,
        cycle.n_victims,
        cycle.first_cause,
        cycle.message,
    )


def _pod(pod: PodOutcome, last: Cycle | None) -> Sequence[Cell]:
    return (
        pod.pod,
        pod.priority,
        pod.scheduler_name,
        pod.queue,
        pod.node,
        pod.nominated_node,
        pod.attempts,
        pod.last_cycle or None,
        last.first_cause if last else "",
        last.message if last else "",
        pod.gated_by,
        pod.moved_by,
        pod.evicted_in_cycle,
        pod.evicted_by,
        "yes" if pod.deleted else "",
    )
