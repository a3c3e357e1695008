"""TeachingGang: all pods of a gang start, or none does.

A gang is what the lightweight form of kubernetes-sigs/scheduler-plugins' Coscheduling made of two
labels: pods of one namespace with one name, and how many of them have to start together. Each pod
holds its place on a node while it waits on Permit; when enough are there, all of them go.

Simpler than Coscheduling: pods wait also while too few of the gang exist, which Coscheduling
rejects in PreFilter; neither the queue's order nor PodGroup objects are used; and a pod that begins
to wait does not activate the others, so that a gang which cannot fit comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import JsonValue
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import (
    NodeToStatus,
    PermitOutcome,
    PostFilterOutcome,
    Refilter,
)
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.framework.waiting import WaitingPod

NAME_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/name"
MIN_AVAILABLE_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/min-available"
TIMEOUT_ARGUMENT: Final = "permitWaitingTimeSeconds"
DEFAULT_TIMEOUT_SECONDS: Final = 60
_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that belong together; `min_available` of them have to have a node before any starts."""

    namespace: str
    name: str
    min_available: int

    def has(self, pod: PodInfo) -> bool:
        return (
            pod.pod.namespace == self.namespace and pod.template.labels.get(NAME_LABEL) == self.name
        )


def gang_of(pod: PodInfo) -> Gang | None:
    """Return a pod's gang; None for a pod without one, or whose number is no whole number."""
    labels = pod.template.labels
    name, number = labels.get(NAME_LABEL, ""), labels.get(MIN_AVAILABLE_LABEL, "")
    if not name or not (number.isascii() and number.isdecimal()):
        return None
    return Gang(pod.pod.namespace, name, int(number))


class TeachingGang:
    """Hold the pods of a gang on Permit until enough of them have a node.

    When one waits too long, loses its place or finds no node, all that wait are rejected.
    Argument: `permitWaitingTimeSeconds`, how long each pod waits.
    """

    name = "TeachingGang"

    def __init__(self, args: JsonValue, handle: Handle) -> None:
        self._timeout_ns = _timeout_s(args) * _SECOND_NS
        self._handle = handle

    def post_filter(
        self, state: None, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PostFilterOutcome:
        """Reject the gang at once if it cannot be complete without this pod."""
        gang = gang_of(pod)
        if gang is None or self._n_placed(gang) >= gang.min_available:
            return PostFilterOutcome(Status(Code.UNSCHEDULABLE))
        self._reject_waiting(gang, f"{pod.key} found no node")
        return PostFilterOutcome(Status(Code.UNSCHEDULABLE, (f'gang "{gang.name}" rejected',)))

    def reserve(self, state: None, pod: PodInfo, node_name: str) -> Status:
        """Claim nothing: only what implements Reserve hears of Unreserve."""
        return SUCCESS

    def unreserve(self, state: None, pod: PodInfo, node_name: str) -> None:
        """Reject the others: without this pod the gang is not complete."""
        gang = gang_of(pod)
        if gang is not None:
            self._reject_waiting(gang, f"{pod.key} lost its place")

    def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
        """Let the whole gang go with the pod that completes it; before that, wait."""
        gang = gang_of(pod)
        if gang is None:
            return PermitOutcome(SUCCESS)
        if self._n_placed(gang) < gang.min_available:
            return PermitOutcome(Status(Code.WAIT), self._timeout_ns)
        for waiting in self._waiting(gang):
            waiting.allow(self.name)
        return PermitOutcome(SUCCESS)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Try a gang again when one of it is bound, or when there may be room for the rest."""
        bound = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
        gone = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
        room = (
            ActionType.ADD
            | ActionType.UPDATE_NODE_ALLOCATABLE
            | ActionType.UPDATE_NODE_LABEL
            | ActionType.UPDATE_NODE_TAINT
        )
        return (
            ClusterEventWithHint(bound, _after_pod_bound),
            ClusterEventWithHint(gone, self._after_pod_gone),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, room)),
        )

    def _waiting(self, gang: Gang) -> Iterator[WaitingPod]:
        return (waiting for waiting in self._handle.waiting_pods if gang.has(waiting.pod))

    def _reject_waiting(self, gang: Gang, why: str) -> None:
        for waiting in self._waiting(gang):
            waiting.reject(self.name, f'gang "{gang.name}" rejected: {why}')

    def _n_placed(self, gang: Gang) -> int:
        """Count the gang's pods that have a node: bound, waiting, or just reserved."""
        cluster = self._handle.cluster
        members = cluster.templates.matching(
            (self.name, gang.namespace, gang.name),
            lambda template: (
                template.namespace == gang.namespace
                and template.labels.get(NAME_LABEL) == gang.name
            ),
        )
        return int(cluster.count_pods(members).sum())

    def _after_pod_gone(self, pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
        """Try again when a pod has left the cluster.

        One that only lost its place is still there. If that counted, two gangs that each hold
        what the other needs would wake each other without end.
        """
        gone = isinstance(old, PodInfo) and self._handle.live_pod(old.key) is None
        return QueueingHint.QUEUE if gone else QueueingHint.SKIP


def _after_pod_bound(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Try again when another pod of the gang has got its node."""
    gang = gang_of(pod)
    joined = isinstance(new, PodInfo) and new.uid != pod.uid and gang is not None and gang.has(new)
    return QueueingHint.QUEUE if joined else QueueingHint.SKIP


def _timeout_s(args: JsonValue) -> int:
    """Read the arguments. Raises ValueError."""
    given = {} if args is None else args
    if not isinstance(given, dict) or given.keys() - {TIMEOUT_ARGUMENT}:
        raise ValueError(f"TeachingGang takes one argument, {TIMEOUT_ARGUMENT}")
    seconds = given.get(TIMEOUT_ARGUMENT, DEFAULT_TIMEOUT_SECONDS)
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds < 1:
        raise ValueError(f"{TIMEOUT_ARGUMENT} must be a whole number of seconds, at least 1")
    return seconds
