"""Trying preemption on many nodes at once: remove all lesser pods, then reprieve many.

All nodes of a batch go in lockstep: one run of the Filter plugins tries the next victim of every
node, each in a separate copy of the cluster.

Upstream: v1.36 plugins/defaultpreemption/default_preemption.go (SelectVictimsOnNode) and
framework/preemption/preemption.go (DryRunPreemption).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Verdicts
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.preemption.budgets import Budgets, broken_budgets
from scheduler_core.preemption.go_sort import go_sorted
from scheduler_core.preemption.importance import by_importance
from scheduler_core.preemption.report import DryRun, Reprieve

RunFilter = Callable[[Nodes], Verdicts]
"""Runs the cycle's Filter plugins over a (hypothetical) view."""

FEW_NODES = 64

NO_VICTIMS = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("No preemption victims found for incoming pod",)
)


@dataclass(slots=True)
class _Trial:
    """A dry run in progress on one node. `queue` holds the pods still to be tried."""

    node_name: str
    removed: tuple[PodInfo, ...]
    broken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The budgets that evicting a pod breaks, by its uid."""
    queue: list[PodInfo] = field(default_factory=list)
    kept: tuple[PodInfo, ...] = ()
    reprieves: list[Reprieve] = field(default_factory=list)
    victims: list[PodInfo] = field(default_factory=list)
    status: Status = SUCCESS

    def change(self) -> Change:
        """Return the world in which all lesser pods are gone and those reprieved are back.

        So is the pod to be tried next. They are removed and added again rather than left, as
        upstream does it: to NodePorts that is not the same when pods share a port.
        """
        return Change((*self.kept, *self.queue[:1]), self.removed)

    def settle(self, status: Status) -> None:
        """Take the answer about the pod at the head of the queue."""
        pod = self.queue.pop(0)
        self.reprieves.append(
            Reprieve(pod, status.is_success, self.broken.get(pod.uid, ()), status.plugin)
        )
        if status.is_success:
            self.kept = (*self.kept, pod)
        else:
            self.victims.append(pod)


def dry_run(
    pod: PodInfo,
    nodes: Nodes,
    run_filter: RunFilter,
    budgets: Budgets,
    now_ns: int,
) -> list[DryRun]:
    """Select the victims on each of `nodes`, in their order."""
    results = [DryRun(name, (), (), (), 0, NO_VICTIMS) for name in nodes.names]
    priority = pod.priority
    trials = {
        i: _Trial(nodes.name(i), lesser)
        for i in _with_lesser(nodes, priority)
        if (lesser := tuple([other for other in nodes.pods(i) if other.priority < priority]))
    }
    started = list(trials)
    for i, status in _filter(nodes, started, [trials[i].change() for i in started], run_filter):
        trials[i].status = status
    for trial in trials.values():
        if trial.status.is_success:
            _line_up(trial, budgets, now_ns)
    while open_trials := [i for i, trial in trials.items() if trial.queue]:
        changes = [trials[i].change() for i in open_trials]
        for i, status in _filter(nodes, open_trials, changes, run_filter):
            trials[i].settle(status)
    for i, trial in trials.items():
        results[i] = _result(trial, now_ns)
    return results


def _with_lesser(nodes: Nodes, priority: int) -> Sequence[int]:
    """Return where pods of lower priority may be; most often there are none at all."""
    lesser = nodes.cluster.templates.matching(
        ("of lower priority than", priority),
        lambda template: (template.pod.spec.priority or 0) < priority,
    )
    if not lesser.any():
        return ()
    # Counting looks at all pods of the cluster, which a few nodes are not worth.
    if nodes.n <= FEW_NODES:
        return range(nodes.n)
    found: list[int] = np.flatnonzero(nodes.count_pods(lesser)).tolist()
    return found


def _filter(
    nodes: Nodes, at: list[int], changes: list[Change], run_filter: RunFilter
) -> list[tuple[int, Status]]:
    """Run the Filter plugins over hypothetical nodes; return each position with its status."""
    if not at:
        return []
    view = nodes.take(np.array(at, np.int64)).with_changes(changes)
    verdicts = run_filter(view)
    return [(i, verdicts.status(k)) for k, i in enumerate(at)]


def _line_up(trial: _Trial, budgets: Budgets, now_ns: int) -> None:
    """Order the removed pods for their reprieve: those under a budget first."""
    ordered = go_sorted(trial.removed, by_importance(now_ns))
    trial.broken = broken_budgets(ordered, budgets)
    trial.queue = sorted(ordered, key=lambda pod: pod.uid not in trial.broken)


def _result(trial: _Trial, now_ns: int) -> DryRun:
    victims = trial.victims
    if trial.broken and len(trial.broken) < len(trial.removed):
        victims = go_sorted(victims, by_importance(now_ns))
    status = trial.status
    if status.is_success and not victims:
        text = f'expected at least one victim pod on node "{trial.node_name}"'
        status = Status(Code.ERROR, (text,))
    return DryRun(
        node_name=trial.node_name,
        removed=trial.removed,
        reprieves=tuple(trial.reprieves),
        victims=tuple(victims),
        n_pdb_violations=sum(pod.uid in trial.broken for pod in victims),
        status=status,
    )
