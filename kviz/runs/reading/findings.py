"""Reads: what a run found out, as its page shows it. Findings first, evidence behind a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from kviz.common.wording import translated
from kviz.reference.plugin_guide import reason_guide
from kviz.runs import selectors
from kviz.runs.models import Cycle, PodOutcome, Run
from kviz.runs.reading.evidence import lead_of_outcome
from kviz.runs.reading.projection import CycleDocument, Json
from kviz.runs.reading.trace import cycle_get
from kviz.runs.selectors import CycleKind, cycles_filtered
from scheduler_core.changes.owners import daemons_in_vain, kind_of_owner
from scheduler_core.evidence.fit_error import fit_error, reasons_in
from scheduler_core.wording import say

SHOWN = 20
"""Rows of a list that the page shows before it links to the full one."""
PODS_SHOWN = 5
MAX_PODS_NAMED = 500
"""Of one cause; the CSV of a run's pods has them all."""

Kind = Literal["nodes", "volume", "untried"]
"""What kind of cause it is: no node takes the pod, it lacks a volume, it was never attempted."""
KINDS: Final[tuple[Kind, ...]] = ("nodes", "volume", "untried")


@dataclass(frozen=True)
class PendingPod:
    """A pod without a node, and its last cycle, 0 without one."""

    pod: str
    queue: str
    last_cycle: int


@dataclass
class PendingCause:
    """Pending pods of one owner that share a cause; without owner they share the cause alone.

    `plugin` is the plugin that rejected first; with `gated` it keeps the pods out of the queue.
    `sentence` says why, with values where they are known; empty where nothing is. `node` is the
    nearest miss, and `near` what to call it.
    An empty name stands for pods that never had a cycle: with `queued` it is still to come, as
    the run has not come so far; the others have no profile (they are another scheduler's).
    """

    plugin: str
    gated: bool
    queued: bool
    owner: str = ""
    sentence: str = ""
    node: str = ""
    near: str = ""
    pods: list[PendingPod] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        if self.gated or self.queued or not self.plugin:
            return "untried"
        return "volume" if self.plugin.startswith("Volume") and not self.node else "nodes"

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
class CauseGroup:
    """The causes of one kind, those that keep the most pods pending first."""

    kind: Kind
    causes: list[PendingCause]

    @property
    def n_pods(self) -> int:
        return sum(len(cause.pods) for cause in self.causes)


@dataclass(frozen=True)
class Eviction:
    """An evicted pod, and if a preemption did it, its node and the budgets that this breaks."""

    pod: PodOutcome
    node: str = ""
    budgets: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """What the pod is called by who makes it, empty where its owner is an ordinary one."""
        return translated(kind_of_owner(self.pod.owner.partition("/")[0]))


@dataclass(frozen=True)
class OtherVerdict:
    """What the cluster says of pods, what kviz says, and why these differ: one sentence."""

    text: str
    pods: list[str] = field(default_factory=list)

    @property
    def shown(self) -> list[str]:
        return self.pods[:PODS_SHOWN]


@dataclass(frozen=True)
class Findings:
    causes: list[PendingCause]
    evicted: list[Eviction]
    n_evicted: int
    afterwards: list[str]
    """Sentences on DaemonSets that will recreate pods of these, which will not fit."""
    ties: list[Cycle]
    n_ties: int
    preemptions: list[Cycle]
    n_preemptions: int
    n_scheduled: int
    """Cycles that found a node; pods that had one before the run do not count."""
    n_unschedulable: int
    other_verdicts: list[OtherVerdict]

    @property
    def n_pending(self) -> int:
        """The pods of all causes."""
        return sum(len(cause.pods) for cause in self.causes)

    @property
    def groups(self) -> list[CauseGroup]:
        """The causes by kind."""
        groups = (
            CauseGroup(kind, [cause for cause in self.causes if cause.kind == kind])
            for kind in KINDS
        )
        return [group for group in groups if group.causes]


def findings(*, run: Run) -> Findings:
    """Gather the findings of a run, finished or not."""
    evicted = selectors.pods_evicted(run=run)
    ties = cycles_filtered(run=run, kind=CycleKind.TIES)
    preemptions = cycles_filtered(run=run, kind=CycleKind.PREEMPTIONS)
    causes = pending_causes(run=run)
    evictions = list(_evictions(run, evicted[:SHOWN]))
    return Findings(
        causes=causes,
        evicted=evictions,
        n_evicted=evicted.count(),
        afterwards=[translated(each) for each in daemons_in_vain(_displaced(run, evictions))],
        ties=list(ties[:SHOWN]),
        n_ties=ties.count(),
        preemptions=list(preemptions[:SHOWN]),
        n_preemptions=preemptions.count(),
        n_scheduled=cycles_filtered(run=run, kind=CycleKind.SCHEDULED).count(),
        n_unschedulable=cycles_filtered(run=run, kind=CycleKind.UNSCHEDULABLE).count(),
        other_verdicts=_other_verdicts(run),
    )


def _other_verdicts(run: Run) -> list[OtherVerdict]:
    """What the cluster says else, with the pods of which it says so, the first few."""
    found: dict[str, OtherVerdict] = {}
    for pod in selectors.pods_of_another_verdict(run=run):
        text = str(pod.cluster_says["text"])
        if text in found or len(found) < SHOWN:
            found.setdefault(text, OtherVerdict(text)).pods.append(pod.pod)
    return list(found.values())


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


def _displaced(run: Run, evictions: list[Eviction]) -> Iterator[tuple[str, str]]:
    """Yield the evicted pods with their owners whose node the pod has that they went for."""
    by = {each.pod.evicted_by for each in evictions if each.node}
    nodes = dict(run.pod_outcomes.filter(pod__in=by).values_list("pod", "node"))
    for each in evictions:
        if each.node and nodes.get(each.pod.evicted_by) == each.node:
            yield each.pod.pod, each.pod.owner


def pending_causes(*, run: Run) -> list[PendingCause]:
    """Group the pending pods by what rejected them first, the largest group first."""
    pods = list(selectors.pods_pending(run=run))
    numbers = {pod.last_cycle for pod in pods if pod.last_cycle}
    cycles = {each.number: each for each in run.cycle_rows.filter(number__in=numbers)}
    groups: dict[tuple[str, bool, bool, str, str, str], PendingCause] = {}
    for pod in pods:
        lead, cycle = lead_of_outcome(pod), cycles.get(pod.last_cycle)
        untried = not pod.last_cycle and pod.queue != ""
        rejecting = lead.plugin if lead is not None else cycle.first_cause if cycle else ""
        found = (pod.gated_by, True, False) if pod.gated_by else (rejecting, False, untried)
        namespace = pod.pod.partition("/")[0] if pod.owner else ""
        sentence = (lead.headline or lead.sentence) if lead is not None else _of_message(cycle)
        key = (*found, namespace, pod.owner, sentence)
        group = groups.get(key)
        if group is None:
            group = groups[key] = PendingCause(*found, owner=pod.owner, sentence=sentence)
            if lead is not None:
                group.node, group.near = lead.node, lead.nearest
        group.pods.append(PendingPod(pod.pod, pod.queue, pod.last_cycle))
    return sorted(groups.values(), key=lambda cause: (-len(cause.pods), cause.plugin))


def _is_of(reason: str, plugin: str) -> bool:
    guide = reason_guide(reason)
    return guide is not None and guide[0].name == plugin


def _of_message(cycle: Cycle | None) -> str:
    """What keeps a pod from most nodes, where no values are known: as its message counts them."""
    if cycle is None:
        return ""
    found = fit_error(cycle.message)
    counted = (
        [(each.n_nodes, each.reason) for each in found.reasons if each.n_nodes] if found else []
    )
    if not counted:
        return reasons_in(cycle.message)
    n, why = max(counted, key=lambda each: (_is_of(each[1], cycle.first_cause), *each))
    return say(
        "findings.most_nodes",
        "{n:,} of {n_nodes:,} nodes: {why}",
        n=n,
        n_nodes=cycle.n_nodes,
        why=why.removeprefix("node(s) "),
    )
