"""Devices, slices, classes and claims for tests, in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.api import (
    AllocationResult,
    CapacityRequirements,
    CELDeviceSelector,
    Counter,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)

DRIVER = "gpu.example.com"


def attribute(value: object) -> DeviceAttribute:
    """Return an attribute of the value's kind; text that begins with `v:` is a version.

    A tuple is a list of texts.
    """
    if isinstance(value, tuple):
        return DeviceAttribute(string_values=value)
    if isinstance(value, bool):
        return DeviceAttribute(bool_value=value)
    if isinstance(value, int):
        return DeviceAttribute(int_value=value)
    text = str(value)
    if text.startswith("v:"):
        return DeviceAttribute(version_value=text[2:])
    return DeviceAttribute(string_value=text)


def device(
    name: str,
    *,
    capacity: Mapping[str, str | DeviceCapacity] | None = None,
    counters: Mapping[str, str] | None = None,
    groups: tuple[str, ...] = (),
    **rest: object,
) -> Device:
    """Return a device; `counters` are of the set `shared` and have compatibility `groups`; other
    names that are no field of a device are attributes.
    """
    fields = {name: rest.pop(name) for name in list(rest) if name in Device.__struct_fields__}
    consumed = {key: Counter(value=text) for key, text in (counters or {}).items()}
    return Device(
        name=name,
        attributes={key: attribute(value) for key, value in rest.items()},
        capacity={
            key: DeviceCapacity(value=value) if isinstance(value, str) else value
            for key, value in (capacity or {}).items()
        },
        consumes_counters=(
            (
                DeviceCounterConsumption(
                    counter_set="shared", counters=consumed, compatibility_groups=groups
                ),
            )
            if consumed
            else ()
        ),
        **fields,  # type: ignore[arg-type]
    )


def resource_slice(
    name: str,
    *devices: Device,
    node: str = "",
    pool: str = "",
    count: int = 1,
    generation: int = 1,
    driver: str = DRIVER,
    **spec: object,
) -> ResourceSlice:
    """Return a slice of a pool named like its node; without `node` it is for all nodes."""
    if not node and "node_selector" not in spec and "per_device_node_selection" not in spec:
        spec["all_nodes"] = True
    return ResourceSlice(
        metadata=ObjectMeta(name=name, uid=name),
        spec=ResourceSliceSpec(
            driver=driver,
            node_name=node,
            devices=devices,
            pool=ResourcePool(
                name=pool or node or "network", generation=generation, resource_slice_count=count
            ),
            **spec,  # type: ignore[arg-type]
        ),
    )


def selector(expression: str) -> DeviceSelector:
    return DeviceSelector(cel=CELDeviceSelector(expression=expression))


def device_class(name: str = "gpu", expression: str = "", extended: str = "") -> DeviceClass:
    selectors = (selector(expression),) if expression else ()
    return DeviceClass(
        metadata=ObjectMeta(name=name, uid=name),
        spec=DeviceClassSpec(selectors=selectors, extended_resource_name=extended),
    )


def exactly(
    name: str = "r0",
    *,
    of: str = "gpu",
    count: int = 1,
    where: str = "",
    capacity: Mapping[str, str] | None = None,
    **rest: object,
) -> DeviceRequest:
    """Return a request for so many devices, 0 meaning all, that an expression selects."""
    return DeviceRequest(
        name=name,
        exactly=ExactDeviceRequest(
            device_class_name=of,
            allocation_mode="ExactCount" if count else "All",
            count=count,
            selectors=(selector(where),) if where else (),
            capacity=CapacityRequirements(requests=dict(capacity)) if capacity else None,
            **rest,  # type: ignore[arg-type]
        ),
    )


def first_of(name: str, *alternatives: DeviceSubRequest) -> DeviceRequest:
    return DeviceRequest(name=name, first_available=alternatives)


def alternative(name: str, *, count: int = 1, where: str = "", of: str = "gpu") -> DeviceSubRequest:
    return DeviceSubRequest(
        name=name,
        device_class_name=of,
        allocation_mode="ExactCount",
        count=count,
        selectors=(selector(where),) if where else (),
    )


def claim(
    name: str = "c",
    *requests: DeviceRequest,
    constraints: Sequence[DeviceConstraint] = (),
    holds: Sequence[str] = (),
    on: str = "",
    users: Sequence[str] = (),
    consumed: Mapping[str, str] | None = None,
) -> ResourceClaim:
    """Return a claim; one that `holds` devices, each `pool/device`, is usable on one node.

    A held share of a device is `pool/device/share`; each has `consumed` so much of its capacities.
    """
    allocation = None
    if holds:
        results = tuple(
            DeviceRequestAllocationResult(
                request="r0",
                driver=DRIVER,
                pool=pool,
                device=name,
                share_id="".join(share),
                consumed_capacity=dict(consumed or {}),
            )
            for pool, name, *share in (held.split("/") for held in holds)
        )
        allocation = AllocationResult(
            devices=DeviceAllocationResult(results=results),
            node_selector=named_node(on) if on else None,
        )
    reserved = tuple(
        ResourceClaimConsumerReference(resource="pods", name=user, uid=f"default/{user}")
        for user in users
    )
    return ResourceClaim(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"default/{name}"),
        spec=ResourceClaimSpec(
            devices=DeviceClaim(requests=requests or (exactly(),), constraints=tuple(constraints))
        ),
        status=ResourceClaimStatus(allocation=allocation, reserved_for=reserved),
    )


def named_node(name: str) -> NodeSelector:
    requirement = NodeSelectorRequirement(key="metadata.name", operator="In", values=(name,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(requirement,)),))
