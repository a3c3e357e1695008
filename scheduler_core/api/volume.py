# ruff: noqa: RUF012 - msgspec gives every value its own copy of an empty default
"""Claims, volumes, storage classes and CSI objects."""

from typing import ClassVar

import msgspec

from scheduler_core.api.meta import (
    ApiStruct,
    Int32,
    KubeObject,
    LabelSelector,
    NodeSelector,
    ObjectReference,
    QuantityText,
    ResourceList,
    TypedLocalObjectReference,
)


class VolumeResourceRequirements(ApiStruct, frozen=True, kw_only=True):
    requests: ResourceList = {}
    limits: ResourceList = {}


class PersistentVolumeClaimSpec(ApiStruct, frozen=True, kw_only=True):
    """``storage_class_name`` ``None`` asks for the default class, ``""`` for none."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str = ""
    data_source: TypedLocalObjectReference | None = None
    volume_attributes_class_name: str = ""


class PersistentVolumeClaimStatus(ApiStruct, frozen=True, kw_only=True):
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: ResourceList = {}


class PersistentVolumeClaim(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "PersistentVolumeClaim"
    api_version: ClassVar[str] = "v1"
    namespaced: ClassVar[bool] = True

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class CSIPersistentVolumeSource(ApiStruct, frozen=True, kw_only=True):
    driver: str = ""
    volume_handle: str = ""


class HostPathVolumeSource(ApiStruct, frozen=True, kw_only=True):
    path: str = ""


class LocalVolumeSource(ApiStruct, frozen=True, kw_only=True):
    path: str = ""


class InTreeDiskSource(ApiStruct, frozen=True, kw_only=True):
    """A disk of a cloud whose plugin was migrated to CSI; only the field it uses is set."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    pd_name: str = ""
    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    volume_path: str = ""
    share_name: str = ""
    secret_namespace: str = ""


class VolumeNodeAffinity(ApiStruct, frozen=True, kw_only=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(ApiStruct, frozen=True, kw_only=True):
    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str = ""
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str = ""
    volume_attributes_class_name: str = ""
    csi: CSIPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    local: LocalVolumeSource | None = None
    aws_elastic_block_store: InTreeDiskSource | None = None
    gce_persistent_disk: InTreeDiskSource | None = None
    azure_disk: InTreeDiskSource | None = None
    azure_file: InTreeDiskSource | None = None
    cinder: InTreeDiskSource | None = None
    vsphere_volume: InTreeDiskSource | None = None
    portworx_volume: InTreeDiskSource | None = None


class PersistentVolumeStatus(ApiStruct, frozen=True, kw_only=True):
    phase: str = ""


class PersistentVolume(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "PersistentVolume"
    api_version: ClassVar[str] = "v1"

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(ApiStruct, frozen=True, kw_only=True):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(ApiStruct, frozen=True, kw_only=True):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubeObject, frozen=True, kw_only=True):
    """An empty ``volume_binding_mode`` means ``Immediate``."""

    kind: ClassVar[str] = "StorageClass"
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = ("storage.k8s.io/v1beta1",)

    provisioner: str = ""
    reclaim_policy: str = ""
    volume_binding_mode: str = ""
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(ApiStruct, frozen=True, kw_only=True):
    count: Int32 | None = None


class CSINodeDriver(ApiStruct, frozen=True, kw_only=True):
    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(ApiStruct, frozen=True, kw_only=True):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "CSINode"
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = ("storage.k8s.io/v1beta1",)

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(ApiStruct, frozen=True, kw_only=True):
    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "CSIDriver"
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = ("storage.k8s.io/v1beta1",)

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubeObject, frozen=True, kw_only=True):
    """``capacity`` and ``maximum_volume_size`` are quantities as text, ``""`` when unknown."""

    kind: ClassVar[str] = "CSIStorageCapacity"
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = ("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1")
    namespaced: ClassVar[bool] = True

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: QuantityText = ""
    maximum_volume_size: QuantityText = ""


class VolumeAttachmentSource(ApiStruct, frozen=True, kw_only=True):
    persistent_volume_name: str = ""


class VolumeAttachmentSpec(ApiStruct, frozen=True, kw_only=True):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachmentStatus(ApiStruct, frozen=True, kw_only=True):
    attached: bool = False


class VolumeAttachment(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "VolumeAttachment"
    api_version: ClassVar[str] = "storage.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = ("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1")

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
