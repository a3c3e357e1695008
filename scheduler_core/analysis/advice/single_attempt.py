"""One attempt at one pod, in a cluster as it is: what a scheduler decides, with what it ties.

Nothing that follows from the attempt is done. Pods that pend beside it are not placed first, but
nominations among them count, as they do for a scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal

import numpy as np

from scheduler_core.api import KubeObject
from scheduler_core.queue.scheduling_queue import Popped
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Failed, Scheduled, Unschedulable
from scheduler_core.scheduler.selection import num_feasible_nodes_to_find
from scheduler_core.sim.run import admitted, in_sync_order, start_ns
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.cycle_record import device_name
from scheduler_core.trace.events import AnyEvent, DevicesAllocated
from scheduler_core.trace.recorder import Recorder

Ending = Literal["bound", "pending", "error", "not tried"]
NO_TIMING: Final = Timing(kubelet_start_ns=None)


class InAnySample(Enum):
    """What may become of a node where a scheduler stops looking at enough feasible ones."""

    REJECTED = "it does not fit"
    BEATEN = "more nodes are better than are ever left out"
    MAY_WIN = "a sample leaves out the nodes that are better"


@dataclass(frozen=True, slots=True)
class SingleAttempt:
    """How it ends. `tied` are the nodes with the top total, `node` among them.

    `feasible` are the nodes that fit; `victims` the pods that are evicted on the `nominated` one;
    `devices` what it gets, by claim. `n_examined` of `n_nodes` were looked at. `why` says why a pod
    was not tried: it is gated, or another scheduler's. `asked` says of the node that was asked
    about what the sample leaves open, None if it is another one for another reason.
    """

    ending: Ending
    node: str = ""
    tied: tuple[str, ...] = ()
    feasible: frozenset[str] = frozenset()
    message: str = ""
    nominated: str = ""
    victims: tuple[str, ...] = ()
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_nodes: int = 0
    n_examined: int = 0
    why: str = ""
    asked: InAnySample | None = None


def attempt_once(
    objects: Sequence[KubeObject], pod: str, options: SchedulerOptions, ask_about: str = ""
) -> SingleAttempt:
    """Attempt a pending pod (`namespace/name`) among `objects`.

    With `ask_about`, a node, it is also found out whether that may be picked where others are
    left unexamined. Raises LookupError if the pod is not there, ConfigError for a bad
    configuration, PluginFailure.
    """
    items, _ = admitted(objects)
    devices: dict[str, tuple[str, ...]] = {}

    def take(event: AnyEvent) -> None:
        if isinstance(event, DevicesAllocated):
            devices[event.claim] = tuple(map(device_name, event.devices))

    recorder = Recorder(take, details=False)
    asked: InAnySample | None = None

    def look(cycle: Cycle) -> None:
        nonlocal asked
        filtering = cycle.filtering
        if not ask_about or filtering is None or filtering.by_nomination:
            return
        if filtering.examined.n < cycle.nodes.n and cycle.suggested_host != ask_about:
            asked = in_any_sample(cycle, ask_about)

    options = replace(options, on_decision=look)
    simulation = Simulation(options, recorder, start_ns(items), NO_TIMING)
    simulation.load(in_sync_order(items))
    scheduler = simulation.scheduler
    queued = scheduler.queue.get(pod)
    if queued is None:
        return _not_queued(items, pod)
    if queued.gated:
        return SingleAttempt("not tried", why=f"{queued.gating_plugin} holds it")

    def pop() -> Popped | None:
        while (popped := scheduler.queue.pop()) is not None:
            if popped.queued.key == pod:
                return popped
        return None

    scheduler.schedule_one(pop)
    cycle = scheduler.last_cycle
    if cycle is None:
        return SingleAttempt("not tried", why="not in a queue")
    return replace(_ended(cycle), asked=asked, devices=devices)


def in_any_sample(cycle: Cycle, name: str) -> InAnySample:
    """Tell whether a cycle that has just decided might have picked a node.

    Which nodes are examined is a matter of where the search began and of how fast threads were.
    Only how many feasible ones are enough is certain: so many nodes may have been left out.
    """
    assert cycle.pre_filter is not None
    framework, narrowed = cycle.framework, cycle.pre_filter.node_names
    nodes = cycle.nodes
    if narrowed is not None:
        nodes = nodes.take(np.array([each in narrowed for each in nodes.names], np.bool_))
    fits = framework.run_filter_with_nominated_pods(cycle.state, cycle.pod, nodes).fits
    feasible = nodes.take(fits)
    if name not in feasible.names:
        return InAnySample.REJECTED
    percentage = framework.percentage_of_nodes_to_score or 0
    n_enough = num_feasible_nodes_to_find(nodes.n, percentage)
    while feasible.n > 1:
        state = replace(cycle.state, pre_score={}, skip_score=set())
        if not framework.run_pre_score(state, cycle.pod, feasible).is_success:
            return InAnySample.BEATEN
        scores = framework.run_score(state, cycle.pod, feasible)
        totals = np.sum([each.normalized * each.weight for each in scores], axis=0)
        at = list(feasible.names).index(name)
        no_better = np.asarray(totals <= totals[at])
        if no_better.all():
            return InAnySample.MAY_WIN
        feasible = feasible.take(no_better)
        if feasible.n < n_enough:
            return InAnySample.BEATEN
    return InAnySample.MAY_WIN


def _not_queued(items: Sequence[KubeObject], pod: str) -> SingleAttempt:
    found = next((item for item in items if item.kind == "Pod" and item.key == pod), None)
    if found is None:
        raise LookupError(f"there is no pod {pod}")
    return SingleAttempt("not tried", why="no profile of this configuration schedules it")


def _ended(cycle: Cycle) -> SingleAttempt:
    outcome, filtering, post_filter = cycle.outcome, cycle.filtering, cycle.post_filter
    feasible = frozenset(filtering.feasible.names) if filtering is not None else frozenset()
    n_examined = filtering.examined.n if filtering is not None else 0
    n_nodes = cycle.nodes.n
    match outcome:
        case Scheduled():
            return SingleAttempt(
                "bound",
                node=cycle.suggested_host,
                tied=_tied(cycle),
                feasible=feasible,
                n_nodes=n_nodes,
                n_examined=n_examined,
            )
        case Unschedulable():
            return SingleAttempt(
                "pending",
                message=outcome.message,
                nominated=outcome.nominated_node,
                victims=tuple(each.key for each in post_filter.victims) if post_filter else (),
                n_nodes=n_nodes,
                n_examined=n_examined,
            )
        case Failed():
            return SingleAttempt("error", message=outcome.message, n_nodes=n_nodes)
        case None:
            return SingleAttempt("not tried", why="it is being deleted")


def _tied(cycle: Cycle) -> tuple[str, ...]:
    """Return the nodes with the top total; the one that was taken if none was scored."""
    filtering, scoring = cycle.filtering, cycle.scoring
    if filtering is None or scoring is None:
        return (cycle.suggested_host,)
    best = np.flatnonzero(scoring.totals == scoring.totals.max())
    return tuple(filtering.feasible.name(int(i)) for i in best)
