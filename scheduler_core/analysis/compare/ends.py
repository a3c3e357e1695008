"""What two runs came to: where pods are in the end, what pends, what is left of each resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler_core.analysis.compare.difference import natural, tied_nodes
from scheduler_core.analysis.compare.lines import RunLines
from scheduler_core.analysis.compare.stored import StoredCycles
from scheduler_core.trace.fold import TraceState
from scheduler_core.trace.records import NONE
from scheduler_core.trace.tables import PODS, TERMINAL_PHASES

# How much of what is free is of no use to the pods that there are.

MOST_SHAPES: Final = 500
"""Requests that are looked at, the most frequent ones first."""

Shape = tuple[tuple[str, int], ...]
"""What a pod requests: resources by name, without those it does not."""
Workload = Mapping[Shape, int]
Free = npt.NDArray[np.int64]
"""(n_nodes, n_resources): what nodes have left; below 0 where they are overcommitted."""


def workload(states: Iterable[TraceState]) -> Workload:
    """Count pods by what they request, over all states: the same workload for both sides."""
    counted: Counter[Shape] = Counter()
    for state in states:
        by_requests = Counter([pod.requests for pod in state.pods.values()])
        for requests, count in by_requests.items():
            named = zip(state.resources, requests, strict=False)
            counted[tuple((name, amount) for name, amount in named if amount > 0)] += count
    common = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return dict(common[:MOST_SHAPES])


def fragmentation(
    resources: Sequence[str], free: Free, shapes: Workload
) -> dict[str, float | None]:
    """Return by resource which share of what is free a pod cannot use, on average over pods.

    A pod that requests a resource can use what a node has free of it if all that it requests fits
    there; pods that do not request it do not count. None where no pod requests it, or nothing is
    free. Only resources are looked at: not taints, not affinity. After Weng et al., Beware of
    Fragmentation, USENIX ATC 2023.
    """
    left = np.maximum(free, 0)
    total = left.sum(axis=0)
    useless, pods = np.zeros(len(resources)), np.zeros(len(resources))
    for shape, count in shapes.items():
        needs = _needs(shape, resources)
        room = np.all(left >= needs, axis=1) & all(name in resources for name, _ in shape)
        asked = needs > 0
        useless[asked] += count * left[~room].sum(axis=0)[asked]
        pods[asked] += count
    return {
        name: float(useless[i] / (pods[i] * total[i])) if pods[i] and total[i] else None
        for i, name in enumerate(resources)
    }


def _needs(shape: Shape, resources: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return (n_resources,): what a pod takes, its place on the node among it."""
    amounts = {PODS: 1, **dict(shape)}
    return np.array([amounts.get(name, 0) for name in resources], dtype=np.int64)


MAX_EXAMINED: Final = 1_000
"""Moved pods of which columns are read to say whether a tie moved them."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A pod on node `a` in run A and on `b` in B; cycles are those that placed it, 0 for none.

    `luck`: in each run the other's node was tied with the one picked. None: not examined.
    """

    pod: str
    a: str
    b: str
    cycle_a: int
    cycle_b: int
    luck: bool | None


@dataclass(frozen=True, slots=True)
class NewlyBound:
    """A pod on `node` in B that is pending in A, with A's last `message` about it."""

    pod: str
    node: str
    message: str


@dataclass(frozen=True, slots=True)
class NewlyPending:
    """A pod on `node` in A that is pending in B, with B's last `message` about it."""

    pod: str
    node: str
    message: str


@dataclass(frozen=True, slots=True)
class Message:
    """A pod that is pending in both runs, for other reasons."""

    pod: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Use:
    """A resource over all nodes, in its units (cpu in milli).

    `largest_free` is the most that one node has free: what a single pod may request of it.
    `fragmentation` is the share of what is free that pods like those of both runs cannot use, from
    0 to 1; None where no pod requests it or nothing is free.
    """

    allocatable: int = 0
    requested: int = 0
    largest_free: int = 0
    fragmentation: float | None = None


@dataclass(frozen=True, slots=True)
class Utilisation:
    resource: str
    a: Use
    b: Use


@dataclass(frozen=True)
class Ends:
    """Pods by name; those that only one run has are in neither table."""

    moved: list[Moved] = field(default_factory=list)
    newly_bound: list[NewlyBound] = field(default_factory=list)
    newly_pending: list[NewlyPending] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    utilisation: list[Utilisation] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        uses = any(each.a != each.b for each in self.utilisation)
        return uses or any((self.moved, self.newly_bound, self.newly_pending, self.messages))


def ends(a: StoredCycles, b: StoredCycles) -> Ends:
    """Return how two runs ended, held against each other."""
    places_a, places_b = places(a.read.end), places(b.read.end)
    last_a, last_b = _last_cycles(a.read), _last_cycles(b.read)
    found = Ends(utilisation=_utilisation(a.read.end, b.read.end))
    for pod in _to_look_at(places_a, places_b):
        node_a, node_b = places_a[pod], places_b[pod]
        if node_a and node_b and node_a != node_b:
            cycles = last_a.get(pod, 0), last_b.get(pod, 0)
            found.moved.append(Moved(pod, node_a, node_b, *cycles, None))
            continue
        message_a, message_b = _message(a.read, last_a, pod), _message(b.read, last_b, pod)
        if node_b and not node_a:
            found.newly_bound.append(NewlyBound(pod, node_b, message_a))
        elif node_a and not node_b:
            found.newly_pending.append(NewlyPending(pod, node_a, message_b))
        elif not node_a and message_a != message_b:
            found.messages.append(Message(pod, message_a, message_b))
    found.moved[:] = _with_luck(found.moved, a, b)
    return found


def _to_look_at(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    """Return by name the pods of both runs that are not on one and the same node."""
    pods = (pod for pod, node in a.items() if pod in b and (not node or b[pod] != node))
    return sorted(pods, key=natural)


def places(state: TraceState) -> dict[str, str]:
    """Return the node of every pod that is not over, empty for one that waits.

    Those bound to a node that never was there are left out.
    """
    names = state.names
    return {
        names.pod(number): names.node(pod.node)
        for number, pod in state.pods.items()
        if (pod.node != NONE or pod.phase not in TERMINAL_PHASES) and names.knows_node(pod.node)
    }


def _last_cycles(read: RunLines) -> dict[str, int]:
    """Return the last cycle of every pod that had one."""
    return {line.pod: number for number, line in enumerate(read.lines, 1)}


def _message(read: RunLines, last: Mapping[str, int], pod: str) -> str:
    number = last.get(pod)
    return read.lines[number - 1].message if number else ""


# ---------------------------------------------------------------- luck


def _with_luck(moved: list[Moved], a: StoredCycles, b: StoredCycles) -> Iterator[Moved]:
    """Say of moved pods whether only a tie moved them; of the earliest where there are many."""
    early = sorted(moved, key=lambda each: max(each.cycle_a, each.cycle_b))[:MAX_EXAMINED]
    by_pod = {each.pod: _is_luck(each, a, b) for each in early}
    for each in moved:
        yield replace(each, luck=by_pod[each.pod]) if each.pod in by_pod else each


def _is_luck(moved: Moved, a: StoredCycles, b: StoredCycles) -> bool:
    if not moved.cycle_a or not moved.cycle_b:
        return False
    lines = a.read.lines[moved.cycle_a - 1], b.read.lines[moved.cycle_b - 1]
    if any(line.n_tied < 2 for line in lines):
        return False
    both = {moved.a, moved.b}
    return both <= _tied(a, moved.cycle_a) and both <= _tied(b, moved.cycle_b)


def _tied(stored: StoredCycles, cycle: int) -> set[str]:
    return tied_nodes(stored.names_at(cycle), stored.scores(cycle))


# ---------------------------------------------------------------- what is left


def _utilisation(a: TraceState, b: TraceState) -> list[Utilisation]:
    shapes = workload((a, b))
    uses_a, uses_b = _uses(a, shapes), _uses(b, shapes)
    return [
        Utilisation(resource, uses_a.get(resource, Use()), uses_b.get(resource, Use()))
        for resource in dict.fromkeys([*uses_a, *uses_b])
    ]


def _uses(state: TraceState, shapes: Workload) -> dict[str, Use]:
    """Return how much of each resource is taken; one that no node has is left out."""
    has, takes = _amounts(state)
    free = has - takes
    useless = fragmentation(state.resources, free, shapes)
    largest = free.max(axis=0, initial=0)
    return {
        resource: Use(int(allocatable), int(requested), int(most), useless[resource])
        for resource, allocatable, requested, most in zip(
            state.resources, has.sum(axis=0), takes.sum(axis=0), largest, strict=True
        )
        if allocatable
    }


def _amounts(state: TraceState) -> tuple[Free, Free]:
    """Return what nodes have and what is taken of it, both (n_nodes, n_resources)."""
    shape = (len(state.nodes), len(state.resources))
    has, takes = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, (node, each) in enumerate(state.nodes.items()):
        has[row, : len(each.allocatable)] = each.allocatable
        usage = state.usage.get(node)
        if usage is None:
            continue
        takes[row, : len(usage.requested)] = usage.requested
        if PODS in state.resources:
            takes[row, state.resources.index(PODS)] = usage.n_pods
    return has, takes
