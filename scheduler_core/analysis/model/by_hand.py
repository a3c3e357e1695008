"""Waiting pods placed by hand, each move judged by the scheduler's own plugins.

A player may take the pods in any order. A node is refused with the reason and the values of
the first plugin that rejects it, given all pods that were placed before; a move is worth the total
of the score plugins at its turn. The whole is measured as the optimum is (docs/optimum.md): pods
placed, for each priority from the highest down, then their worth in the cluster as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scheduler_core.analysis.model.building import build
from scheduler_core.analysis.model.check import objections
from scheduler_core.analysis.model.feasibility import values_of
from scheduler_core.analysis.model.instance import Instance, Placement
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.api import KubeObject
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.topology_keys import ZONE
from scheduler_core.evidence.cycle import CycleEvidence, CycleFacts
from scheduler_core.evidence.taints import taint_text
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.runtime import CycleState
from scheduler_core.sim.run import RunOptions

PLAIN_RESOURCES = ("cpu", "memory")


class NotPlaced(ValueError):
    """A pod cannot be put where it was to go; the text says why."""


@dataclass(frozen=True)
class Refusal:
    """Why a node is not feasible: the first plugin, its own message, and the values behind it."""

    plugin: str
    message: str
    sentence: str


@dataclass(frozen=True)
class Turn:
    """A pod's move: the node's total then, the highest of any node, and the weighted scores."""

    pod: str
    node: str
    total: int
    best: int
    scores: Mapping[str, int]


@dataclass(frozen=True)
class Room:
    """A node as it is: the names of its pods; of each resource what is requested, and all of it."""

    name: str
    zone: str
    taints: tuple[str, ...]
    pods: tuple[str, ...]
    resources: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class WaitingPod:
    """What a waiting pod asks for; cpu in milli, all else in bytes or units."""

    name: str
    priority: int
    requests: Mapping[str, int]


@dataclass(frozen=True)
class Reached:
    """What a placement comes to; `objections` are pods whose node is not feasible in the end."""

    placed: Mapping[int, int]
    worth: int
    objections: tuple[str, ...]

    @property
    def key(self) -> tuple[int, ...]:
        """Return what placements are compared by, the more the better."""
        return (*self.placed.values(), self.worth)


class Table:
    """A cluster at rest whose waiting pods are placed by hand; not to be used by two at once."""

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        """Load the cluster. Raises ConfigError."""
        self._world = RestingWorld(objects, options)
        self._pods = {pod.key: pod for pod in self._world.waiting}

    @property
    def n_nodes(self) -> int:
        return self._world.nodes().n

    @property
    def waiting(self) -> tuple[WaitingPod, ...]:
        """Return the pods that wait, in the order of the queue."""
        return tuple(
            WaitingPod(
                pod.key,
                pod.priority,
                {name: n for name, n in pod.template.requests.asked.items() if n},
            )
            for pod in self._world.waiting
        )

    @cached_property
    def of_priority(self) -> dict[int, int]:
        """How many pods wait, by priority, the highest first."""
        everybody = self._instance.counts_of(dict.fromkeys(self._pods, self._instance.nodes[0]))
        return self._instance.placed(everybody)

    def rooms(self, placement: Placement) -> tuple[Room, ...]:
        """Return the nodes with the pods of a placement on them, by zone and name."""
        with self._placed(placement) as nodes:
            asked = {name for pod in self.waiting for name in pod.requests}
            names = [*PLAIN_RESOURCES, *sorted(asked.difference(PLAIN_RESOURCES))]
            return tuple(sorted(_rooms(nodes, names), key=lambda room: (room.zone, room.name)))

    def look(self, placement: Placement, pod: str) -> dict[str, Refusal | None]:
        """Return for every node why it is not feasible for a pod; None where it is.

        Raises NotPlaced for a pod that does not wait.
        """
        info = self._pod(pod)
        with self._placed({key: at for key, at in placement.items() if key != pod}) as nodes:
            state, feasible = self._world.feasible(info)
            fits, evidence = set(feasible.names), self._evidence(info, nodes, state)
            return {
                name: None if name in fits else self._refusal(evidence, info, name)
                for name in nodes.names
            }

    def move(self, placement: Placement, pod: str, node: str) -> Turn:
        """Return what a move is worth. Raises NotPlaced where it is not feasible."""
        info = self._pod(pod)
        if pod in placement:
            raise NotPlaced(f"{pod} is placed already")
        with self._placed(placement) as nodes:
            state, feasible = self._world.feasible(info)
            if node not in feasible.names:
                if node not in nodes.names:
                    raise NotPlaced(f"there is no node {node}")
                refusal = self._refusal(self._evidence(info, nodes, state), info, node)
                raise NotPlaced(f"{refusal.plugin}: {refusal.sentence or refusal.message}")
            scoring = self._world.score(info, state, feasible)
            if scoring.error:
                raise NotPlaced(scoring.error)
            at = feasible.names.index(node)
            scores = {
                each.plugin: int(each.weight * each.normalized[at]) for each in scoring.scores
            }
            totals = scoring.totals
            return Turn(pod, node, int(totals[at]), int(totals.max()), scores)

    def reached(self, placement: Placement) -> Reached:
        """Return what a placement of waiting pods comes to; others and unknown nodes are left."""
        known = self._instance.node_numbers
        own = {pod: at for pod, at in placement.items() if pod in self._pods and at in known}
        counts = self._instance.counts_of(own)
        return Reached(
            self._instance.placed(counts),
            int(values_of(self._instance, counts[np.newaxis])[0]),
            tuple(each.text for each in objections(self._world, own)),
        )

    # ------------------------------------------------------------ inside

    @cached_property
    def _instance(self) -> Instance:
        return build(self._world, "snapshot")

    def _pod(self, key: str) -> PodInfo:
        found = self._pods.get(key)
        if found is None:
            raise NotPlaced(f"no pod {key} waits here")
        return found

    @contextmanager
    def _placed(self, placement: Placement) -> Iterator[Nodes]:
        """Have the pods of a placement on their nodes for as long as something is asked."""
        put: list[PodInfo] = []
        try:
            for key, node in placement.items():
                pod = self._pod(key)
                self._world.put(pod, node)
                put.append(pod)
            yield self._world.nodes()
        finally:
            for pod in reversed(put):
                self._world.take_off(pod)

    def _evidence(self, pod: PodInfo, nodes: Nodes, state: CycleState) -> CycleEvidence:
        """Return what explains refusals; as if all nodes were feasible: nobody is evicted."""
        framework, objects = self._world.framework(pod), self._world.objects
        facts = CycleFacts(framework, pod, nodes, objects, state, Diagnosis(nodes), nodes)
        return CycleEvidence(facts)

    def _refusal(self, evidence: CycleEvidence, pod: PodInfo, node: str) -> Refusal:
        status = self._world.verdict(pod, node)
        found = [*evidence.pod, *evidence.node(node).rejections]
        named = [each for each in found if each.plugin == status.plugin] or found
        sentence = named[0].sentence if named else ""
        plugin = status.plugin or (named[0].plugin if named else "")
        return Refusal(plugin, named[0].status.message if named else status.message, sentence)


def _rooms(nodes: Nodes, resources: Sequence[str]) -> Iterator[Room]:
    used = {name: nodes.requested(name) for name in resources}
    whole = {name: nodes.allocatable(name) for name in resources}
    for i, name in enumerate(nodes.names):
        node = nodes.node(i)
        yield Room(
            name,
            node.metadata.labels.get(ZONE, ""),
            tuple(map(taint_text, node.spec.taints)),
            tuple(sorted(pod.key for pod in nodes.pods(i))),
            {each: (int(used[each][i]), int(whole[each][i])) for each in resources},
        )
