"""The part of DynamicResources that shows when nothing claims a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.event_objects import expect, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.interface import (
    NodeToStatus,
    PostFilterOutcome,
    Prepared,
    Refilter,
    Scores,
)
from scheduler_core.framework.scoring import default_normalize_score
from scheduler_core.framework.signatures import Signed
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict

NOTHING_TO_DEALLOCATE = "no new claims to deallocate"
NO_STATE = "not found"

FAILED = Status(Code.ERROR, (NO_STATE,))


@dataclass(frozen=True, slots=True)
class ClaimsState:
    """What PreFilter found out: the pod has no claims."""


class DynamicResources:
    """Have no claims to allocate, and say so.

    Claims, device classes and resource slices are not modelled; whoever feeds the engine
    reports pods that refer to claims. What remains is the plugin's place among the others:
    every pod is skipped by Filter, every node scores 0, and PostFilter adds
    `no new claims to deallocate` to the message of every pod that finds no node. When another
    plugin ended PreFilter first, PostFilter finds no state of its own and fails with
    `not found`, before preemption has its turn.

    Upstream: v1.36 plugins/dynamicresources.
    """

    name = "DynamicResources"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=NodeFacts.OBJECT)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        return SUCCESS

    def sign_pod(self, pod: PodInfo) -> Signed:
        return None if pod.pod.spec.resource_claims else ()

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[ClaimsState] | Status:
        return Prepared(ClaimsState(), skip=True)

    def filter(self, state: ClaimsState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.error(nodes.n, NO_STATE) if state is None else Verdict.passed(nodes.n)

    def post_filter(
        self, state: ClaimsState | None, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PostFilterOutcome:
        if state is None:
            return PostFilterOutcome(FAILED)
        return PostFilterOutcome(Status(Code.UNSCHEDULABLE, (NOTHING_TO_DEALLOCATE,)))

    def score(self, state: object, pod: PodInfo, nodes: Nodes) -> Scores:
        return np.zeros(nodes.n, np.int64)

    def normalize_score(self, state: object, pod: PodInfo, nodes: Nodes, scores: Scores) -> Scores:
        return default_normalize_score(scores)

    def reserve(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> Status:
        return FAILED if state is None else SUCCESS

    def unreserve(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> None:
        return None

    def pre_bind_pre_flight(
        self, state: ClaimsState | None, pod: PodInfo, node_name: str
    ) -> Status:
        return FAILED if state is None else SKIP

    def pre_bind(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> Status:
        return FAILED if state is None else SUCCESS

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        generated = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, add_or_update)),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, generated), _after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, add_or_update)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, add_or_update)),
        )


def _after_pod_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    return queue_if(expect(PodInfo, new).uid == pod.uid)
