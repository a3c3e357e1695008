"""Which nodes could go with everything still placed, and an order that keeps every budget.

Each drain is run: the node is cordoned, its pods are deleted in waves that leave every
PodDisruptionBudget what it wants, owners make them again, and the next wave waits until they are on
nodes. What a run shows to fail is not done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from scheduler_core.analysis.advice.budgets import Budget, budgets_over, is_healthy
from scheduler_core.analysis.advice.harm import CONTROL_PLANE
from scheduler_core.analysis.advice.survival import goes_with_node
from scheduler_core.api import Node, Pod, PodDisruptionBudget
from scheduler_core.changes.owners import comes_back, is_terminating
from scheduler_core.changes.vocabulary import Cordon, Delete, Target, target_of
from scheduler_core.sim.eviction import pods_on
from scheduler_core.sim.run import Run
from scheduler_core.trace.events import PodEvicted
from scheduler_core.trace.tables import TERMINAL_PHASES
from scheduler_core.wording import say

MAX_CANDIDATES: Final = 100
"""So many nodes are tried, those with the fewest pods, unless another number is given."""


@dataclass(frozen=True, slots=True)
class Drained:
    """A node that is empty afterwards, and its pods in the waves in which they left."""

    node: str
    waves: tuple[tuple[str, ...], ...]

    @property
    def n_pods(self) -> int:
        return sum(map(len, self.waves))


@dataclass(frozen=True, slots=True)
class Kept:
    """A node that cannot be drained, and why."""

    node: str
    why: str


def candidates(run: Run, limit: int = MAX_CANDIDATES) -> list[str]:
    """Return the nodes to try, those with the fewest pods to move first; no control planes."""
    server = run.simulation.server
    names = [
        node.name
        for node in server.all(Node)
        if not any(label in node.metadata.labels for label in CONTROL_PLANE)
    ]
    n_pods = Counter(pod.spec.node_name for pod in server.all(Pod) if not goes_with_node(pod))
    return sorted(names, key=lambda name: n_pods[name])[:limit]


def drain(run: Run, node: str) -> Drained | Kept:
    """Drain a node in the run, wave by wave, and delete it; the run continues from there.

    `run` is one whose owners make lost pods again. Pods of DaemonSets and static pods go with it.
    """
    pods = [pod for pod in pods_on(run.simulation.server, node) if not goes_with_node(pod)]
    pods = [pod for pod in pods if pod.status.phase not in TERMINAL_PHASES]
    alone = next((pod.key for pod in pods if not comes_back(pod)), "")
    stays = next((pod.key for pod in pods if is_terminating(pod)), "")
    if stays:
        return Kept(node, say("nodes.terminating", "{pod} is terminating there", pod=stays))
    if alone:
        return Kept(node, say("nodes.bare_pod", "{pod} is a bare pod (no controller)", pod=alone))
    budgets, pending = _budgets(run), _pending(run)
    waves: list[tuple[str, ...]] = []
    _go_on(run, [Cordon(node, True)])
    while pods:
        wave, blocked_by = _wave(run, pods, budgets)
        if not wave:
            return Kept(
                node,
                say("nodes.budget_spent", "budget {budget} allows no eviction", budget=blocked_by),
            )
        n_evicted = _go_on(run, [Delete(target_of(pod)) for pod in wave])
        if why := _harm(run, n_evicted, pending):
            return Kept(node, why)
        waves.append(tuple(pod.key for pod in wave))
        left = {pod.uid for pod in wave}
        pods = [pod for pod in pods if pod.uid not in left]
    why = _harm(run, _go_on(run, [Delete(Target(Node, "", node))]), pending)
    return Kept(node, why) if why else Drained(node, tuple(waves))


def _go_on(run: Run, changes: Sequence[Cordon] | Sequence[Delete]) -> int:
    """Make changes, let everything settle, and return how many pods were preempted."""
    return sum(isinstance(event, PodEvicted) for event in run.go_on(changes))


def _harm(run: Run, n_evicted: int, pending: Set[str]) -> str:
    """Return what is wrong after a step, empty if nothing is."""
    if n_evicted:
        if n_evicted == 1:
            return say("nodes.preempts_one", "1 pod would be preempted for those that move")
        return say(
            "nodes.preempts_many", "{n:,} pods would be preempted for those that move", n=n_evicted
        )
    stuck = sorted(_pending(run) - pending)
    return say("nodes.finds_no_node", "{pod} would find no node", pod=stuck[0]) if stuck else ""


def _budgets(run: Run) -> list[Budget]:
    server = run.simulation.server
    return budgets_over(server.all(PodDisruptionBudget), list(server.all(Pod)))


def _pending(run: Run) -> set[str]:
    pods = run.simulation.server.all(Pod)
    return {
        pod.key
        for pod in pods
        if not pod.spec.node_name and pod.status.phase not in TERMINAL_PHASES
    }


def _wave(run: Run, pods: Sequence[Pod], budgets: Sequence[Budget]) -> tuple[list[Pod], str]:
    """Choose pods that may leave together; name the budget that holds back the first that may not.

    A pod that several budgets cover is not evicted by the API server at all.
    """
    healthy = [pod for pod in run.simulation.server.all(Pod) if is_healthy(pod)]
    allowed = [sum(map(each.covers, healthy)) - each.desired for each in budgets]
    wave, blocked_by = [], ""
    for pod in pods:
        covering = [i for i, each in enumerate(budgets) if each.covers(pod)]
        if len(covering) > 1 or any(allowed[i] < 1 for i in covering):
            blocked_by = blocked_by or " and ".join(budgets[i].key for i in covering)
            continue
        for i in covering:
            allowed[i] -= 1
        wave.append(pod)
    return wave, blocked_by


Try = Callable[[Sequence[str]], Sequence[Drained | Kept]]


def plan(names: Sequence[str], run: Run, try_each: Try, width: int) -> Iterator[Drained | Kept]:
    """Drain one node after the other in the run, if possible; yield the result for each.

    `try_each` drains nodes, each in a copy of the run as it stands; `width` of them at a time. A
    node that cannot be drained is not tried again: the others only leave less room.
    """
    left = list(names)
    while left:
        for found in try_each(left[:width]):
            left.remove(found.node)
            yield found
            if isinstance(found, Drained):
                drain(run, found.node)
                break
