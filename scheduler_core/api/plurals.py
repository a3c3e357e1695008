"""What an API server calls the kinds that scheduling reads."""

from __future__ import annotations

from typing import Final

PLURALS: Final = {
    "Namespace": "namespaces",
    "Node": "nodes",
    "PriorityClass": "priorityclasses",
    "StorageClass": "storageclasses",
    "CSIDriver": "csidrivers",
    "CSINode": "csinodes",
    "CSIStorageCapacity": "csistoragecapacities",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "VolumeAttachment": "volumeattachments",
    "DeviceClass": "deviceclasses",
    "ResourceSlice": "resourceslices",
    "DeviceTaintRule": "devicetaintrules",
    "ResourceClaim": "resourceclaims",
    "Service": "services",
    "ReplicationController": "replicationcontrollers",
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "Pod": "pods",
}
"""Of a ResourceClaimTemplate, which is not among them, a controller makes claims."""
