"""Filling a cluster with copies of pods, a scheduling cycle for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from msgspec.structs import replace

from scheduler_core.analysis.advice.room import Amounts, NodeRejection, Placement
from scheduler_core.api import Pod
from scheduler_core.changes.editing import admitted
from scheduler_core.changes.owners import like
from scheduler_core.changes.refusals import Refused
from scheduler_core.cluster.requests import pod_requests
from scheduler_core.evidence.cycle import pre_enqueue_evidence
from scheduler_core.evidence.lead import lead_of_pod, lead_of_scheduler
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Scheduled, Unschedulable
from scheduler_core.sim.api_server import DEFAULT_NAMESPACE, DEFAULT_SCHEDULER
from scheduler_core.sim.run import Run

StopKind = Literal["unschedulable", "limit", "gated", "refused", "other-scheduler", "failed"]
"""Why there are no more copies of a template.

`limit`: as many as were asked for fit. `gated`: a copy is held back and never gets a cycle.
`refused`: the API server would not create it. `failed`: a plugin met an error.
"""


@dataclass(frozen=True)
class Stop:
    """What ended the copies of a template.

    `message` is kube-scheduler's; `rejections` are of the nodes. `victims` are the pods that
    preemption would evict from `nominated_node` for the copy that found no room.
    """

    kind: StopKind
    message: str = ""
    rejections: tuple[NodeRejection, ...] = ()
    nominated_node: str = ""
    victims: tuple[str, ...] = ()

    @property
    def by(self) -> Mapping[str, int]:
        """How many nodes each plugin was the first to reject, by the name of the plugin."""
        counts: dict[str, int] = {}
        for each in sorted(self.rejections, key=lambda each: each.plugin):
            counts[each.plugin] = counts.get(each.plugin, 0) + 1
        return counts


class Filling:
    """A settled run into which copies of templates are put, one after the other."""

    def __init__(self, run: Run, templates: Sequence[Pod], max_copies: int) -> None:
        self._run = run
        self._max_copies = max_copies
        self._templates = [as_new(pod) for pod in templates]
        self._refusals = [self._admit(i) for i in range(len(templates))]
        self._names = [count(1) for _ in templates]
        self._placed: list[tuple[int, str]] = []
        """The template's index and the key of every copy that was given a node."""
        self.stops: dict[int, Stop] = {}
        """By template, the last one last."""

    @property
    def n_templates(self) -> int:
        return len(self._templates)

    @property
    def requests(self) -> list[Amounts]:
        """What a copy of each template takes of its node."""
        return [pod_requests(pod).placed for pod in self._templates]

    def _admit(self, template: int) -> str:
        try:
            pod = admitted(self._templates[template], self._run.simulation.server)
        except Refused as refusal:
            return str(refusal)
        assert isinstance(pod, Pod)
        self._templates[template] = pod
        return ""

    def place_copy(self, template: int) -> bool:
        """Create a copy and give it its cycle; return whether it was given a node."""
        stop = self._stop_before(template)
        if stop is None:
            pod = self._create(template)
            cycle = self._cycle_of(pod)
            if cycle is not None and isinstance(cycle.outcome, Scheduled):
                self._placed.append((template, pod.key))
                return True
            stop = self._gated(pod) if cycle is None else _stop_of(cycle)
            self._take_away(pod)
        self.stops[template] = stop
        return False

    def _stop_before(self, template: int) -> Stop | None:
        """Return what keeps a copy from being tried at all, None if nothing does."""
        if len(self._placed) >= self._max_copies:
            return Stop("limit")
        if refusal := self._refusals[template]:
            return Stop("refused", refusal)
        name = self._templates[template].spec.scheduler_name
        if name not in self._run.simulation.scheduler.profiles:
            return Stop("other-scheduler", lead_of_scheduler(name).text)
        return None

    def _create(self, template: int) -> Pod:
        server, pod = self._run.simulation.server, self._templates[template]
        while True:
            name = f"{pod.name}-{next(self._names[template])}"
            if server.get(Pod, f"{pod.namespace}/{name}") is None:
                break
        copy = replace(pod, metadata=replace(pod.metadata, name=name))
        return server.create(copy, self._run.simulation.clock.now_ns())

    def _cycle_of(self, pod: Pod) -> Cycle | None:
        """Run cycles until the pod has had its own; None if it gets none."""
        simulation, scheduler = self._run.simulation, self._run.simulation.scheduler
        simulation.advance_to(simulation.clock.now_ns())
        found = None
        while found is None and simulation.attempt():
            simulation.advance_to(simulation.clock.now_ns() + simulation.timing.attempt_ns)
            cycle = scheduler.last_cycle
            if cycle is not None and cycle.pod.uid == pod.uid:
                found = cycle
        self._forget_events()
        return found

    def _forget_events(self) -> None:
        for _ in self._run.drain():
            pass

    def _gated(self, pod: Pod) -> Stop:
        """Return what holds back a pod that got no cycle."""
        scheduler, objects = self._run.simulation.scheduler, self._run.simulation.objects
        queued = next((q for q in scheduler.queue.gated_pods() if q.key == pod.key), None)
        if queued is None:
            return Stop("gated", "the copy got no scheduling cycle")
        framework = scheduler.profiles[pod.spec.scheduler_name]
        rejections = pre_enqueue_evidence(framework, queued.pod, objects)
        return Stop("gated", lead_of_pod(rejections).text if rejections else queued.gating_plugin)

    def _take_away(self, pod: Pod) -> None:
        live = self._run.simulation.server.get(Pod, pod.key)
        if live is not None:
            self._run.simulation.delete_pod(live)
        self._forget_events()

    def placements(self) -> tuple[Placement, ...]:
        """Let the bindings end that are under way, and return the copies that are on nodes."""
        simulation = self._run.simulation
        timing = simulation.timing
        simulation.advance_to(
            simulation.clock.now_ns() + timing.pre_bind_ns + timing.binding_ns + timing.attempt_ns
        )
        self._forget_events()
        pods = ((i, simulation.server.get(Pod, key)) for i, key in self._placed)
        return tuple(
            Placement(i, pod.spec.node_name)
            for i, pod in pods
            if pod is not None and pod.spec.node_name
        )


def as_new(pod: Pod) -> Pod:
    """Return a pod as one sends it to the API server: it may have been read from a cluster."""
    fresh = like(pod, pod.name)
    metadata = replace(fresh.metadata, namespace=pod.namespace or DEFAULT_NAMESPACE)
    name = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    return replace(fresh, metadata=metadata, spec=replace(fresh.spec, scheduler_name=name))


def _stop_of(cycle: Cycle) -> Stop:
    """Return how a cycle ended that found no node."""
    outcome, after = cycle.outcome, cycle.post_filter
    assert outcome is not None
    assert not isinstance(outcome, Scheduled)
    if not isinstance(outcome, Unschedulable):
        return Stop("failed", outcome.message)
    return Stop(
        "unschedulable",
        outcome.message,
        tuple(_rejections(cycle)),
        after.node_name if after is not None else "",
        tuple(pod.key for pod in after.victims) if after is not None else (),
    )


def _rejections(cycle: Cycle) -> Iterator[NodeRejection]:
    """Yield what the first plugin against each node said.

    Nodes that PreFilter has left out have no status of their own: they count for the plugins
    that narrowed the nodes, in order of their names.
    """
    pre_filter = cycle.pre_filter
    narrowed_by = ", ".join(sorted(pre_filter.narrowed_by)) if pre_filter is not None else ""
    for name in cycle.nodes.names:
        status = cycle.diagnosis.status(name)
        yield NodeRejection(name, status.plugin or narrowed_by, status.reasons)
