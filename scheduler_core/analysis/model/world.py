"""A cluster at rest as its scheduler knows it: nodes, bound pods, and the pods that wait.

Nothing has been scheduled yet. Waiting pods can be put on nodes and taken off again, and the
plugins asked about any pod in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scheduler_core.api import KubeObject
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo, TemplateTable
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.individual import Preparation, prepare_individually
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.scheduler.cycle_record import Scoring
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.scenario import Scenario


class RestingWorld:
    """The cluster before its first scheduling cycle.

    `waiting` are the pods that would be tried, in the order in which the queue gives them: not
    those that are gated, that are being deleted, or that no profile schedules.
    """

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        """Load the cluster. Raises ConfigError for a bad configuration."""
        quiet = replace(options, details=False, scenario=Scenario(), later=(), transport=None)
        run = Run(objects, quiet)
        next(run.events())  # all is loaded when the first event comes, and nothing tried yet
        self._simulation = run.simulation
        self.waiting: tuple[PodInfo, ...] = tuple(self._popped())
        self._placed: dict[str, PodInfo] = {}

    def _popped(self) -> list[PodInfo]:
        scheduler = self._simulation.scheduler
        pods = []
        while (popped := scheduler.queue.pop()) is not None:
            pod = popped.queued.pod
            if pod.pod.spec.scheduler_name in scheduler.profiles and not pod.terminating:
                pods.append(pod)
        return pods

    @property
    def handle(self) -> Handle:
        """The scheduler as its plugins see it."""
        return self._simulation.plugin_handle

    @property
    def objects(self) -> ObjectStore:
        return self._simulation.objects

    @property
    def templates(self) -> TemplateTable:
        return self._simulation.plugin_handle.cluster.templates

    def framework(self, pod: PodInfo) -> Framework:
        """Return the profile that schedules a waiting pod."""
        return self._simulation.scheduler.profiles[pod.pod.spec.scheduler_name]

    @property
    def frameworks(self) -> Sequence[Framework]:
        return tuple(self._simulation.scheduler.profiles.values())

    def nodes(self) -> Nodes:
        """Return all nodes, with the pods that are on them now."""
        return self._simulation.scheduler.cache.update_snapshot()

    # ------------------------------------------------------------ pods on and off nodes

    def put(self, pod: PodInfo, node: str) -> None:
        """Count a waiting pod on a node."""
        self._placed[pod.uid] = self._simulation.scheduler.cache.assume_pod(pod, node)

    def take_off(self, pod: PodInfo) -> None:
        """Take a pod that was put on a node off again, as if it had never been there.

        Upstream's books free a port when one of two pods that share it goes; so would these.
        """
        placed = self._placed.pop(pod.uid)
        cache = self._simulation.scheduler.cache
        cache.forget_pod(placed)
        row = cache.columns.row_of[placed.node_name]
        freed = cache.columns.freed_ports.pop(row, set())
        for other in cache.columns.pods.on_row(row):
            freed.difference_update(other.template.host_ports)
        if freed:
            cache.columns.freed_ports[row] = freed

    # ------------------------------------------------------------ asking the plugins

    def prepare(self, pod: PodInfo, nodes: Nodes) -> Preparation:
        """Let every plugin prepare, each as if it were alone; `nodes` are all nodes."""
        return prepare_individually(self.framework(pod), pod, nodes)

    def verdict(self, pod: PodInfo, node: str) -> Status:
        """Return how PreFilter and Filter answer about a pod and one node, as things stand."""
        nodes, framework, state = self.nodes(), self.framework(pod), CycleState()
        prepared = framework.run_pre_filter(state, pod, nodes)
        if not prepared.status.is_success:
            return prepared.status
        names = prepared.node_names
        if names is not None and node not in names:
            return Status(prepared.status.code, (f"PreFilter leaves only {sorted(names)}",))
        at = nodes.names.index(node)
        only = nodes.slice(at, at + 1)
        verdicts = framework.run_filter(state, pod, only)
        return SUCCESS if verdicts.all_fit else verdicts.status(0)

    def feasible(self, pod: PodInfo) -> tuple[CycleState, Nodes]:
        """Return what plugins prepared, and all nodes that pass PreFilter and Filter now."""
        nodes, framework, state = self.nodes(), self.framework(pod), CycleState()
        prepared = framework.run_pre_filter(state, pod, nodes)
        if not prepared.status.is_success:
            return state, nodes.slice(0, 0)
        names = prepared.node_names
        if names is not None:
            left = [i for i, name in enumerate(nodes.names) if name in names]
            nodes = nodes.take(_positions(left))
        return state, nodes.take(framework.run_filter(state, pod, nodes).fits)

    def score(self, pod: PodInfo, state: CycleState, nodes: Nodes) -> Scoring:
        """Rate `nodes`, at least one, as the scheduler does; also where there is only one."""
        algorithm = self._simulation.scheduler.algorithm
        return algorithm.prioritize(self.framework(pod), state, pod, nodes)


def _positions(at: Sequence[int]) -> IntArray:
    return np.array(at, np.int64)
