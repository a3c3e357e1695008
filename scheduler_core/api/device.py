# ruff: noqa: RUF012 - msgspec gives every value its own copy of an empty default
"""Devices: slices of them, classes, claims and the templates of claims (dynamic resources).

Opaque parameters of drivers have no field here: they never enter kviz.

Upstream: v1.36 staging/src/k8s.io/api/resource/v1/types.go.
"""

from typing import ClassVar

import msgspec

from scheduler_core.api.meta import (
    ApiStruct,
    Int64,
    KubeObject,
    NodeSelector,
    ObjectMeta,
    QuantityText,
    Timestamp,
)

GROUP_VERSION = "resource.k8s.io/v1"
OLDER_VERSIONS = ("resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2")

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
"""The finalizer of allocated claims."""

EXTENDED_RESOURCE_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of claims that the scheduler makes for extended resources."""

# ---------------------------------------------------------------- what there is


class DeviceAttribute(ApiStruct, frozen=True, kw_only=True):
    """One value: whichever field is set. Drivers need DRAListTypeAttributes to write lists."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: tuple[Int64, ...] = msgspec.field(default=(), name="ints")
    bool_values: tuple[bool, ...] = msgspec.field(default=(), name="bools")
    string_values: tuple[str, ...] = msgspec.field(default=(), name="strings")
    version_values: tuple[str, ...] = msgspec.field(default=(), name="versions")


class CapacityRequestPolicyRange(ApiStruct, frozen=True, kw_only=True):
    """Bounds and step of what may be consumed; ``""`` is an absent amount."""

    min: QuantityText = ""
    max: QuantityText = ""
    step: QuantityText = ""


class CapacityRequestPolicy(ApiStruct, frozen=True, kw_only=True):
    """How requests for a share of a capacity are rounded; ``default`` ``""`` is absent."""

    default: QuantityText = ""
    valid_values: tuple[QuantityText, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(ApiStruct, frozen=True, kw_only=True):
    value: QuantityText = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(ApiStruct, frozen=True, kw_only=True):
    value: QuantityText = "0"


class CounterSet(ApiStruct, frozen=True, kw_only=True):
    """Counters of a pool that its partitionable devices share."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(ApiStruct, frozen=True, kw_only=True):
    counter_set: str = ""
    counters: dict[str, Counter] = {}
    compatibility_groups: tuple[str, ...] = ()


class DeviceTaint(ApiStruct, frozen=True, kw_only=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Timestamp | None = None


class NodeAllocatableResourceMapping(ApiStruct, frozen=True, kw_only=True):
    """How a device draws on its node's resources. kviz reports it; the engine does not model it."""


class Device(ApiStruct, frozen=True, kw_only=True):
    """One device of a slice. Where it can be used says the slice, unless it is per device.

    ``basic`` is how v1beta1 has it; parsing moves its fields here.
    """

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = {}
    basic: "Device | None" = None


class ResourcePool(ApiStruct, frozen=True, kw_only=True):
    """The pool a slice belongs to; it is complete with so many slices of the generation."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(ApiStruct, frozen=True, kw_only=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool = False
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ResourceSlice"
    api_version: ClassVar[str] = GROUP_VERSION
    also_read: ClassVar[tuple[str, ...]] = OLDER_VERSIONS

    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceTaintSelector(ApiStruct, frozen=True, kw_only=True):
    """The devices that a rule taints: all that is set must match."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(ApiStruct, frozen=True, kw_only=True):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(KubeObject, frozen=True, kw_only=True):
    """A taint that an administrator adds to devices, beside those of the driver."""

    kind: ClassVar[str] = "DeviceTaintRule"
    api_version: ClassVar[str] = GROUP_VERSION
    also_read: ClassVar[tuple[str, ...]] = (
        "resource.k8s.io/v1beta2",
        "resource.k8s.io/v1alpha3",
    )

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


# ---------------------------------------------------------------- what is asked for


class CELDeviceSelector(ApiStruct, frozen=True, kw_only=True):
    expression: str = ""


class DeviceSelector(ApiStruct, frozen=True, kw_only=True):
    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(ApiStruct, frozen=True, kw_only=True):
    driver: str = ""


class DeviceClassConfiguration(ApiStruct, frozen=True, kw_only=True):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(ApiStruct, frozen=True, kw_only=True):
    """``extended_resource_name`` is the plain resource that pods may ask for instead."""

    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str = ""


class DeviceClass(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "DeviceClass"
    api_version: ClassVar[str] = GROUP_VERSION
    also_read: ClassVar[tuple[str, ...]] = OLDER_VERSIONS

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceToleration(ApiStruct, frozen=True, kw_only=True):
    """An empty ``operator`` means Equal, an empty ``effect`` every effect."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(ApiStruct, frozen=True, kw_only=True):
    requests: dict[str, QuantityText] = {}


class DeviceDerivedAttribute(ApiStruct, frozen=True, kw_only=True):
    """An attribute that a request computes. Its gate is off, so that it counts as being there."""


class ExactDeviceRequest(ApiStruct, frozen=True, kw_only=True):
    """Devices of one class. ``admin_access`` devices may be in use by others."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = ()


class DeviceSubRequest(ApiStruct, frozen=True, kw_only=True):
    """One alternative of a prioritised list."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = ()


class DeviceRequest(ApiStruct, frozen=True, kw_only=True):
    """Either ``exactly`` or the first of ``first_available`` that is available.

    The other fields are how v1beta1 has it; parsing moves them to ``exactly``.
    """

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceConstraint(ApiStruct, frozen=True, kw_only=True):
    """What the devices of some requests (none named: all) have in common, or must not."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(ApiStruct, frozen=True, kw_only=True):
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(ApiStruct, frozen=True, kw_only=True):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(ApiStruct, frozen=True, kw_only=True):
    devices: DeviceClaim = DeviceClaim()


# ---------------------------------------------------------------- what was given


class DeviceRequestAllocationResult(ApiStruct, frozen=True, kw_only=True):
    """One device given to one request; with a ``share_id`` it is a share of the device."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str = msgspec.field(default="", name="shareID")
    consumed_capacity: dict[str, QuantityText] = {}


class DeviceAllocationConfiguration(ApiStruct, frozen=True, kw_only=True):
    """Which parameters apply; ``source`` is ``FromClass`` or ``FromClaim``."""

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(ApiStruct, frozen=True, kw_only=True):
    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(ApiStruct, frozen=True, kw_only=True):
    """The devices of a claim and where they can be used (``node_selector`` ``None``: anywhere)."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp | None = None


class ResourceClaimConsumerReference(ApiStruct, frozen=True, kw_only=True):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(ApiStruct, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class AllocatedDeviceStatus(ApiStruct, frozen=True, kw_only=True):
    """What a driver reports of a device it has prepared."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    conditions: tuple[DeviceCondition, ...] = ()


class ResourceClaimStatus(ApiStruct, frozen=True, kw_only=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ResourceClaim"
    api_version: ClassVar[str] = GROUP_VERSION
    also_read: ClassVar[tuple[str, ...]] = OLDER_VERSIONS
    namespaced: ClassVar[bool] = True

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ApiStruct, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject, frozen=True, kw_only=True):
    """From which a claim is made for each pod that names the template."""

    kind: ClassVar[str] = "ResourceClaimTemplate"
    api_version: ClassVar[str] = GROUP_VERSION
    also_read: ClassVar[tuple[str, ...]] = OLDER_VERSIONS
    namespaced: ClassVar[bool] = True

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
