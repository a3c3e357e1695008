"""Cluster events that may make a pending pod schedulable, and the hints about them.

Upstream: v1.36 kube-scheduler/framework/types.go (ActionType, EventResource, ClusterEvent) and
pkg/scheduler/framework/events.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntFlag, StrEnum
from functools import cache

from scheduler_core.api import KubeObject
from scheduler_core.cluster.pods import PodInfo


class ActionType(IntFlag):
    NONE = 0
    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    UPDATE_POD_SCALE_UP = 1 << 13
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_POD_SCALE_UP
    )
    ALL = ADD | DELETE | UPDATE


class EventResource(StrEnum):
    """What a cluster event is about; values are upstream's labels."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    WILD_CARD = "*"


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    resource: EventResource
    action: ActionType
    custom_label: str = ""

    @property
    def label(self) -> str:
        """Upstream's label, e.g. `NodeAdd` or `AssignedPodUpdatePodLabel`."""
        return self.custom_label or f"{self.resource}{_action_label(self.action)}"


class QueueingHint(Enum):
    """Whether an event may make the pod schedulable; values are upstream's words."""

    QUEUE = "Queue"
    SKIP = "QueueSkip"


EventObject = KubeObject | PodInfo | None
"""An object before or after an event: a pod as PodInfo, others as API objects."""

HintFn = Callable[[PodInfo, EventObject, EventObject], QueueingHint]
"""`(pending pod, old object, new object) -> hint`."""


@dataclass(frozen=True, slots=True)
class ClusterEventWithHint:
    """An event a plugin registers for; without `hint` it always queues the pod."""

    event: ClusterEvent
    hint: HintFn | None = None


@cache
def single_events(events: tuple[ClusterEvent, ...]) -> tuple[ClusterEvent, ...]:
    """Split events that stand for several actions, each once, but for the general update."""
    single: dict[ClusterEvent, None] = {}
    for event in events:
        action = event.action
        if action & ActionType.UPDATE == ActionType.UPDATE:
            single[ClusterEvent(event.resource, ActionType.UPDATE)] = None
            action &= ~ActionType.UPDATE
        for one in action:
            single[ClusterEvent(event.resource, one)] = None
    return tuple(sorted(single, key=lambda event: (event.resource, event.action.value)))


def _action_label(action: ActionType) -> str:
    name = action.name
    if name is None or "|" in name:
        return ""
    return name.title().replace("_", "")
