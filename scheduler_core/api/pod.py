# ruff: noqa: RUF012 - msgspec gives every value its own copy of an empty default
"""Pods: the fields that the scheduler and the pages read.

Environment variables, commands and arguments have no field here: they never enter kviz.
"""

from typing import ClassVar

import msgspec
from msgspec.structs import force_setattr

from scheduler_core.api.meta import (
    ApiStruct,
    Int32,
    Int64,
    KubeObject,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    ResourceList,
    Timestamp,
)
from scheduler_core.api.volume import PersistentVolumeClaimSpec


class ResourceClaimName(ApiStruct, frozen=True, kw_only=True):
    """A container's use of one of its pod's resource claims."""

    name: str = ""
    request: str = ""


class ResourceRequirements(ApiStruct, frozen=True, kw_only=True):
    requests: ResourceList = {}
    limits: ResourceList = {}
    claims: tuple[ResourceClaimName, ...] = ()


class ContainerPort(ApiStruct, frozen=True, kw_only=True):
    """A port of a container; only ports with a host port matter to the scheduler.

    An empty ``protocol`` means TCP and an empty ``host_ip`` means ``0.0.0.0``.
    """

    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class ContainerRestartRule(ApiStruct, frozen=True, kw_only=True):
    action: str = ""


class VolumeMount(ApiStruct, frozen=True, kw_only=True):
    bind_mount_options: tuple[str, ...] = ()


class Container(ApiStruct, frozen=True, kw_only=True):
    """A container or init container. ``restart_policy`` ``Always`` makes the latter a sidecar.

    Of ``volume_mounts`` those with options are kept.
    """

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()

    def __post_init__(self) -> None:
        if self.volume_mounts:
            kept = tuple(mount for mount in self.volume_mounts if mount.bind_mount_options)
            force_setattr(self, "volume_mounts", kept)


class PreferredSchedulingTerm(ApiStruct, frozen=True, kw_only=True):
    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(ApiStruct, frozen=True, kw_only=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(ApiStruct, frozen=True, kw_only=True):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ApiStruct, frozen=True, kw_only=True):
    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(ApiStruct, frozen=True, kw_only=True):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class PodAntiAffinity(ApiStruct, frozen=True, kw_only=True):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(ApiStruct, frozen=True, kw_only=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(ApiStruct, frozen=True, kw_only=True):
    """An empty ``operator`` means Equal, an empty ``effect`` every effect."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(ApiStruct, frozen=True, kw_only=True):
    """``None`` and ``""`` stand for what upstream leaves to its defaults."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


class PodSchedulingGate(ApiStruct, frozen=True, kw_only=True):
    name: str = ""


class PodResourceClaim(ApiStruct, frozen=True, kw_only=True):
    """A claim of dynamic resources: one by name, or one made for this pod from a template."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSchedulingGroup(ApiStruct, frozen=True, kw_only=True):
    """The pod group a pod belongs to. kviz reports it; the engine does not model it."""

    pod_group_name: str = ""


class WorkloadReference(ApiStruct, frozen=True, kw_only=True):
    """What v1.35 had in place of the scheduling group."""

    name: str = ""


class PersistentVolumeClaimVolumeSource(ApiStruct, frozen=True, kw_only=True):
    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeClaimTemplate(ApiStruct, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(ApiStruct, frozen=True, kw_only=True):
    """A generic ephemeral volume: its claim is named ``POD-VOLUME``."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class CSIVolumeSource(ApiStruct, frozen=True, kw_only=True):
    driver: str = ""
    read_only: bool = False


class GCEPersistentDiskVolumeSource(ApiStruct, frozen=True, kw_only=True):
    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(ApiStruct, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class ISCSIVolumeSource(ApiStruct, frozen=True, kw_only=True):
    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBDVolumeSource(ApiStruct, frozen=True, kw_only=True):
    """``monitors``, ``pool`` and ``image`` identify the device; an empty pool means ``rbd``."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class AzureDiskVolumeSource(ApiStruct, frozen=True, kw_only=True):
    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")


class AzureFileVolumeSource(ApiStruct, frozen=True, kw_only=True):
    share_name: str = ""


class CinderVolumeSource(ApiStruct, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")


class VsphereVirtualDiskVolumeSource(ApiStruct, frozen=True, kw_only=True):
    volume_path: str = ""


class PortworxVolumeSource(ApiStruct, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")


class ImageVolumeSource(ApiStruct, frozen=True, kw_only=True):
    """An OCI image mounted as a volume; nodes that have it pulled score higher."""

    reference: str = ""


class Volume(ApiStruct, frozen=True, kw_only=True):
    """A volume of a pod. Parsing drops those whose source has no field here."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    image: ImageVolumeSource | None = None


class PodSpec(ApiStruct, frozen=True, kw_only=True):
    """What a pod asks for. ``priority`` is ``None`` before admission has resolved it."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: ResourceList = {}
    node_name: str = ""
    scheduler_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    priority: Int32 | None = None
    priority_class_name: str = ""
    runtime_class_name: str = ""
    preemption_policy: str = ""
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    host_network: bool = False
    host_users: bool | None = None
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None


class PodCondition(ApiStruct, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class ContainerStatus(ApiStruct, frozen=True, kw_only=True):
    """What the kubelet reports of a container's resources, for resizing in place."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}


class PodResourceClaimStatus(ApiStruct, frozen=True, kw_only=True):
    """The claim made from a template for a pod; ``None`` says that none is needed."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(ApiStruct, frozen=True, kw_only=True):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(ApiStruct, frozen=True, kw_only=True):
    """The claim the scheduler made for the extended resources that classes of devices back."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class PodStatus(ApiStruct, frozen=True, kw_only=True):
    """Reported state of a pod.

    ``resources`` and ``allocated_resources`` are those of the pod level; container statuses
    that say nothing of resources are dropped while parsing.
    """

    phase: str = ""
    reason: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    start_time: Timestamp | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = {}
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Pod"
    api_version: ClassVar[str] = "v1"
    namespaced: ClassVar[bool] = True

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
