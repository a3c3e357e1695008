"""Every API type by name, and the kinds kviz models.

Upstream: v1.36 staging/src/k8s.io/api.
"""

from scheduler_core.api.device import *  # noqa: F403
from scheduler_core.api.device import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.api.meta import *  # noqa: F403
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.node import *  # noqa: F403
from scheduler_core.api.node import Node
from scheduler_core.api.pod import *  # noqa: F403
from scheduler_core.api.pod import Pod
from scheduler_core.api.volume import *  # noqa: F403
from scheduler_core.api.volume import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler_core.api.workload import *  # noqa: F403
from scheduler_core.api.workload import (
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

KINDS: dict[str, type[KubeObject]] = {
    kind.kind: kind
    for kind in (
        Namespace,
        Node,
        PriorityClass,
        StorageClass,
        CSIDriver,
        CSINode,
        CSIStorageCapacity,
        PersistentVolume,
        PersistentVolumeClaim,
        VolumeAttachment,
        DeviceClass,
        ResourceSlice,
        DeviceTaintRule,
        ResourceClaimTemplate,
        ResourceClaim,
        Service,
        ReplicationController,
        ReplicaSet,
        StatefulSet,
        PodDisruptionBudget,
        Pod,
    )
}
"""The modelled kinds by name, in an order in which nothing refers to something later."""
