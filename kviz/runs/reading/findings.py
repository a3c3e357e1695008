"""Reads: what a run found out, as its page shows it. Findings first, evidence behind a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from kviz.runs import selectors
from kviz.runs.models import Cycle, PodOutcome, Run
from kviz.runs.reading.evidence import lead_of_outcome
from kviz.runs.reading.projection import CycleDocument, Json
from kviz.runs.reading.trace import cycle_get
from kviz.runs.selectors import CycleKind, cycles_filtered
from scheduler_core.evidence.fit_error import reasons_in

SHOWN = 20
"""Rows of a list that the page shows before it links to the full one."""
PODS_SHOWN = 5
FEW_CAUSES = 3
"""The number of pods with different causes that are listed at once."""
MAX_PODS_NAMED = 500
"""Of one cause; the CSV of a run's pods has them all."""


@dataclass(frozen=True)
class PendingPod:
    """A pod without a node, and the reasons its last attempt gave, if there was one."""

    pod: str
    queue: str
    reasons: str


@dataclass
class PendingCause:
    """Pending pods of one owner that share a cause; without owner they share the cause alone.

    `plugin` is the plugin that rejected first; with `gated` it keeps the pods out of the queue.
    `sentence` says why, with values, and `also` what else is known; empty where nothing is.
    An empty name stands for pods that never had a cycle: with `queued` it is still to come, as
    the run has not come so far; the others have no profile (they are another scheduler's).
    """

    plugin: str
    gated: bool
    queued: bool
    owner: str = ""
    sentence: str = ""
    also: list[str] = field(default_factory=list)
    pods: list[PendingPod] = field(default_factory=list)

    @property
    def shown(self) -> list[PendingPod]:
        return self.pods[:PODS_SHOWN]

    @property
    def rest(self) -> list[PendingPod]:
        return self.pods[PODS_SHOWN:MAX_PODS_NAMED]

    @property
    def n_rest(self) -> int:
        return max(0, len(self.pods) - PODS_SHOWN)

    @property
    def n_unnamed(self) -> int:
        return max(0, len(self.pods) - MAX_PODS_NAMED)


@dataclass(frozen=True)
class Eviction:
    """An evicted pod, and if a preemption did it, its node and the budgets that this breaks."""

    pod: PodOutcome
    node: str = ""
    budgets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    causes: list[PendingCause]
    evicted: list[Eviction]
    n_evicted: int
    ties: list[Cycle]
    n_ties: int
    preemptions: list[Cycle]
    n_preemptions: int
    n_scheduled: int
    """Cycles that found a node; pods that had one before the run do not count."""
    n_unschedulable: int
    n_waiting: int
    """Pending pods that are still in a queue from which they will be tried."""

    @property
    def main_causes(self) -> list[PendingCause]:
        """The causes that keep the most pods pending; several where they keep equally many."""
        most = max((len(cause.pods) for cause in self.causes), default=0)
        return [cause for cause in self.causes if len(cause.pods) == most]

    @property
    def few_causes(self) -> list[PendingCause]:
        """All causes, where each keeps one pod pending and few do; else none."""
        alone = [cause for cause in self.causes if len(cause.pods) == 1 and cause.sentence]
        return alone if 1 < len(alone) == len(self.causes) <= FEW_CAUSES else []


def findings(*, run: Run) -> Findings:
    """Gather the findings of a run, finished or not."""
    evicted = selectors.pods_evicted(run=run)
    ties = cycles_filtered(run=run, kind=CycleKind.TIES)
    preemptions = cycles_filtered(run=run, kind=CycleKind.PREEMPTIONS)
    causes = pending_causes(run=run)
    return Findings(
        causes=causes,
        evicted=list(_evictions(run, evicted[:SHOWN])),
        n_evicted=evicted.count(),
        ties=list(ties[:SHOWN]),
        n_ties=ties.count(),
        preemptions=list(preemptions[:SHOWN]),
        n_preemptions=preemptions.count(),
        n_scheduled=cycles_filtered(run=run, kind=CycleKind.SCHEDULED).count(),
        n_unschedulable=cycles_filtered(run=run, kind=CycleKind.UNSCHEDULABLE).count(),
        n_waiting=sum(pod.queue == "active" for cause in causes for pod in cause.pods),
    )


def _evictions(run: Run, pods: Iterable[PodOutcome]) -> Iterator[Eviction]:
    """Yield the pods with what the cycles that evicted them found out about them."""
    cycles: dict[int, CycleDocument | None] = {}
    for pod in pods:
        number = pod.evicted_in_cycle or 0
        if not pod.evicted_by or not number:
            yield Eviction(pod)
            continue
        if number not in cycles:
            cycles[number] = cycle_get(run=run, cycle=number)
        yield _eviction(pod, cycles[number])


def _eviction(pod: PodOutcome, cycle: CycleDocument | None) -> Eviction:
    preemption = cycle["preemption"] if cycle is not None else None
    node = str(preemption.get("winner") or "") if preemption else ""
    run = preemption["candidates"].get(node) if preemption and node else None
    namespace = pod.pod.partition("/")[0]
    budgets = [
        f"{namespace}/{name}"
        for each in cast("list[Json]", run["reprieves"] if run else [])
        if each["pod"] == pod.pod
        for name in cast("list[str]", each.get("budgets", []))
    ]
    return Eviction(pod, node, budgets)


def pending_causes(*, run: Run) -> list[PendingCause]:
    """Group the pending pods by what rejected them first, the largest group first."""
    pods = list(selectors.pods_pending(run=run))
    numbers = {pod.last_cycle for pod in pods if pod.last_cycle}
    attempts = {
        number: (cause, reasons_in(message))
        for number, cause, message in run.cycle_rows.filter(number__in=numbers).values_list(
            "number", "first_cause", "message"
        )
    }
    groups: dict[tuple[str, bool, bool, str, str, str], PendingCause] = {}
    for pod in pods:
        cause, reasons = attempts.get(pod.last_cycle, ("", ""))
        untried = not pod.last_cycle and pod.queue != ""
        lead = lead_of_outcome(pod)
        rejecting = lead.plugin if lead is not None else cause
        found = (pod.gated_by, True, False) if pod.gated_by else (rejecting, False, untried)
        namespace = pod.pod.partition("/")[0] if pod.owner else ""
        key = (*found, namespace, pod.owner, lead.text if lead is not None else "")
        group = groups.get(key)
        if group is None:
            group = groups[key] = PendingCause(*found, owner=pod.owner)
            if lead is not None:
                group.sentence = lead.text
                group.also = [*filter(None, [lead.in_full]), *lead.also, *lead.elsewhere]
        group.pods.append(PendingPod(pod.pod, pod.queue, reasons))
    return sorted(groups.values(), key=lambda cause: (-len(cause.pods), cause.plugin))
