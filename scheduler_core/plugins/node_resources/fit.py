"""Room for the pod's requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler_core.api import DeviceClass, Node
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import CPU, MEMORY, integer_resources
from scheduler_core.config.types import NodeResourcesFitArgs
from scheduler_core.devices.classes import IMPLICIT_PREFIX
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.resource_names import (
    is_counted,
    is_extended_resource_name,
)
from scheduler_core.framework.signatures import Signed, resources
from scheduler_core.framework.status import MAX_REASONS, Code, Status, Verdict
from scheduler_core.plugins.node_resources.allocation import (
    Allocation,
    allocations,
    backed_requests,
    counted_requests,
    dependence_of_scores,
)
from scheduler_core.plugins.node_resources.strategies import strategy_of

# Whether a change may help a pod for which no node had room.
#
# Upstream: v1.36 plugins/noderesources/fit.go (isSchedulableAfter...).


class FitHints:
    """The events that may help, with their hints."""

    def __init__(self, handle: Handle) -> None:
        self._devices = handle.devices
        self._backs_extended_resources = handle.features.enabled("DRAExtendedResource")

    def events(self) -> list[ClusterEventWithHint]:
        changed = ActionType.ADD | ActionType.UPDATE
        pod = ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        device_class = ClusterEvent(EventResource.DEVICE_CLASS, changed)
        events = [
            ClusterEventWithHint(pod, after_pod_event),
            ClusterEventWithHint(node, self.after_node_change),
        ]
        if self._backs_extended_resources:
            events.append(ClusterEventWithHint(device_class, after_device_class_change))
        return events

    def after_node_change(self, pod: PodInfo, old: object, new: object) -> QueueingHint:
        """Queue when the pod would fit the node if it were empty, and could not be sure before.

        As in upstream, resources that the arguments tell to ignore are not ignored here.
        """
        node_before = expect_or_none(Node, old)
        after = integer_resources(expect(Node, new).status.allocatable)
        requests = counted_requests(pod)
        by_devices = [
            name
            for name in requests
            if not after.get(name, 0) and self._devices.class_for(name) is not None
        ]
        if after.get(PODS, 0) < 1 or any(
            amount > after.get(name, 0)
            for name, amount in requests.items()
            if name not in by_devices
        ):
            return QueueingHint.SKIP
        if node_before is None or by_devices:
            return QueueingHint.QUEUE
        before = integer_resources(node_before.status.allocatable)
        return queue_if(any(after.get(name, 0) > before.get(name, 0) for name in (PODS, *requests)))


def after_device_class_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when a class begins to back a resource that the pod requests."""
    before, after = expect_or_none(DeviceClass, old), expect(DeviceClass, new)
    asked = pod.template.requests.asked
    name = after.spec.extended_resource_name
    if before is not None and before.spec.extended_resource_name == name:
        return QueueingHint.SKIP
    implicit = before is None and IMPLICIT_PREFIX + after.name in asked
    return queue_if(implicit or bool(name and name in asked))


def after_pod_event(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when a pod with a place goes, or shrinks in something the pod requests."""
    before, after = expect(PodInfo, old), expect_or_none(PodInfo, new)
    if after is None:
        return queue_if(bool(before.node_name or before.nominated_node_name))
    if after.uid == pod.uid:
        return QueueingHint.QUEUE
    return queue_if(bool(after.node_name) and _frees_something(pod, before, after))


def _frees_something(pod: PodInfo, before: PodInfo, after: PodInfo) -> bool:
    was, now = before.template.requests.in_events, after.template.requests.in_events
    return any(
        amount and is_counted(name) and was.get(name, 0) > now.get(name, 0)
        for name, amount in pod.template.requests.in_events.items()
    )


TOO_MANY_PODS = "Too many pods"
INSUFFICIENT_OTHERS = "Insufficient further resources"
NO_STATE = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'

Requests = Mapping[str, int]
Shortage = tuple[BoolArray, Code, str]


class Fit:
    """Reject nodes without room for the pod's requests; prefer nodes by a scoring strategy.

    A node is short of a resource if `request > allocatable - requested`. It is unresolvable,
    beyond what preemption can mend, if `request > allocatable`. Requests of extended resources
    may be ignored by name or by the group before the slash (arguments `ignoredResources` and
    `ignoredResourceGroups`).

    LeastAllocated (default): `score = sum(100 * (allocatable - requested) / allocatable * weight)
    / sum(weight)`; MostAllocated with `requested` in place of the difference;
    RequestedToCapacityRatio with a curve over `100 * requested / allocatable`. Here every
    container without a request for cpu or memory counts as 100 millicores or 200 MiB.

    An extended resource that a class of devices backs is left to DynamicResources on nodes that
    have none of it themselves.

    Upstream: v1.36 plugins/noderesources/fit.go.
    """

    name = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        self._devices = handle.devices
        self._hints = FitHints(handle)
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._resources = args.scoring_strategy.resources
        self.scoring_strategy = args.scoring_strategy
        self._strategy = strategy_of(args.scoring_strategy)
        self.depends_on = dependence_of_scores(self._resources)

    def sign_pod(self, pod: PodInfo) -> Signed:
        if backed_requests(pod, self._devices):
            return None
        return (resources(counted_requests(pod)),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[Requests] | Status:
        requests = counted_requests(pod)
        return Prepared({name: requests[name] for name in requests if not self._ignores(name)})

    def filter(self, state: Requests | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        full = nodes.n_pods + 1 > nodes.allowed_pods
        shortages: list[Shortage] = [(full, Code.UNSCHEDULABLE, TOO_MANY_PODS)]
        unresolvable = np.zeros(nodes.n, np.bool_)
        for name, request in state.items():
            allocatable = nodes.allocatable(name)
            short = request > allocatable - nodes.requested(name)
            if self.is_backed(name):
                short &= allocatable > 0
            shortages.append((short, Code.UNSCHEDULABLE, f"Insufficient {name}"))
            unresolvable |= short & (request > allocatable)
        if not any(np.count_nonzero(short) for short, _, _ in shortages):
            return Verdict.passed(nodes.n)
        verdict = Verdict.of(nodes.n, _at_most_max_reasons(shortages))
        code = np.where(unresolvable, np.int8(Code.UNSCHEDULABLE_AND_UNRESOLVABLE), verdict.code)
        return Verdict(code, verdict.reasons, verdict.texts)

    def is_backed(self, name: str) -> bool:
        """Return whether a class of devices backs a resource, for nodes that have none of it."""
        return self._devices.class_for(name) is not None

    def _ignores(self, name: str) -> bool:
        return is_extended_resource_name(name) and (
            name in self._ignored or name.partition("/")[0] in self._ignored_groups
        )

    # ------------------------------------------------------------ scoring

    def pre_score(self, state: object, pod: PodInfo, nodes: Nodes) -> Prepared[Requests] | Status:
        return Prepared(self._scored_requests(pod))

    def score(self, state: Requests | None, pod: PodInfo, nodes: Nodes) -> Scores:
        requests = self._scored_requests(pod) if state is None else state
        return self._strategy(self._allocations(requests, nodes), nodes.n)

    def scored_allocations(self, pod: PodInfo, nodes: Nodes) -> list[Allocation]:
        """Return what Score compares: the resources that count for a pod."""
        return self._allocations(self._scored_requests(pod), nodes)

    def _allocations(self, requests: Requests, nodes: Nodes) -> list[Allocation]:
        return allocations(
            nodes, self._resources, requests, _requested_with_defaults, self._devices
        )

    def _scored_requests(self, pod: PodInfo) -> Requests:
        requests = pod.template.container_requests
        return {resource.name: requests.get(resource.name, 0) for resource in self._resources}

    # ------------------------------------------------------------ queueing

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return self._hints.events()


def _requested_with_defaults(nodes: Nodes, resource: str) -> IntArray:
    if resource == CPU:
        return nodes.nonzero_cpu_milli
    if resource == MEMORY:
        return nodes.nonzero_memory_bytes
    return nodes.requested(resource)


def _at_most_max_reasons(shortages: list[Shortage]) -> list[Shortage]:
    """Fold the last shortages into one where a verdict has no bits left for all."""
    if len(shortages) > MAX_REASONS:
        shortages = [each for each in shortages if np.count_nonzero(each[0])]
    if len(shortages) <= MAX_REASONS:
        return shortages
    rest = [where for where, _, _ in shortages[MAX_REASONS - 1 :]]
    folded = (np.logical_or.reduce(rest), Code.UNSCHEDULABLE, INSUFFICIENT_OTHERS)
    return [*shortages[: MAX_REASONS - 1], folded]
