"""What scoring compares: what nodes have, what is taken, and what the pod would add.

A node that has none of an extended resource may have devices of a class that backs it.

Upstream: v1.36 plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import ResourceSpec
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.totals import device_totals
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.resource_names import (
    BASIC_RESOURCES,
    is_counted,
    is_scalar_resource_name,
    may_be_backed_by_devices,
)


@dataclass(frozen=True, slots=True)
class Allocation:
    """One resource on `n` nodes, int64 (n,) each: cpu in milli, others in units or bytes.

    `requested` is `allocated` and the incoming pod. A node whose `allocatable` is 0 does not
    have the resource, and a scorer leaves the resource out there.
    """

    resource: str
    weight: int
    allocatable: IntArray
    allocated: IntArray
    requested: IntArray


Requested = Callable[[Nodes, str], IntArray]
"""`(nodes, resource) -> what the pods on each node request`, int64 (n,)."""


def counted_requests(pod: PodInfo) -> dict[str, int]:
    """Return what a pending pod asks for and a node must have, basic resources first."""
    asked = pod.template.requests.asked
    names = sorted(asked, key=lambda name: name not in BASIC_RESOURCES)
    return {name: asked[name] for name in names if asked[name] > 0 and is_counted(name)}


def allocations(
    nodes: Nodes,
    resources: Sequence[ResourceSpec],
    pod_requests: Mapping[str, int],
    requested: Requested,
    devices: Devices,
) -> list[Allocation]:
    """Return the resources that count for a pod with these requests.

    An extended resource counts only if the pod requests it.
    """
    return [
        _allocation(nodes, resource, pod_requests.get(resource.name, 0), requested, devices)
        for resource in resources
        if resource.name in BASIC_RESOURCES
        or (pod_requests.get(resource.name, 0) and is_scalar_resource_name(resource.name))
    ]


def dependence_of_scores(resources: Sequence[ResourceSpec]) -> DependsOn:
    """Return what a plugin's answers depend on that scores these resources.

    Devices that are counted for one are no part of the node, nor is their use by other pods.
    """
    counts_devices = any(may_be_backed_by_devices(resource.name) for resource in resources)
    per_node = NodeFacts.CLUSTER if counts_devices else NodeFacts.RESOURCES
    return DependsOn(prepared=PreparedFrom.TEMPLATE, per_node=per_node)


def backed_requests(pod: PodInfo, devices: Devices) -> list[str]:
    """Return the resources the pod requests that classes of devices back."""
    return [name for name in counted_requests(pod) if devices.class_for(name) is not None]


def _allocation(
    nodes: Nodes,
    resource: ResourceSpec,
    pod_request: int,
    requested: Requested,
    devices: Devices,
) -> Allocation:
    allocatable = nodes.allocatable(resource.name)
    allocated = requested(nodes, resource.name)
    if resource.name not in BASIC_RESOURCES:
        allocatable, allocated = _with_devices(
            nodes, resource.name, allocatable, allocated, devices
        )
    return Allocation(
        resource=resource.name,
        weight=resource.weight,
        allocatable=allocatable,
        allocated=allocated,
        requested=allocated + pod_request,
    )


def _with_devices(
    nodes: Nodes, resource: str, allocatable: IntArray, allocated: IntArray, devices: Devices
) -> tuple[IntArray, IntArray]:
    """Count devices where a node has none of the resource itself."""
    device_class = devices.class_for(resource)
    lacking = np.flatnonzero(allocatable == 0)
    if device_class is None or not lacking.size:
        return allocatable, allocated
    allocatable, allocated = allocatable.copy(), allocated.copy()
    state = devices.allocated_state()
    for i in lacking.tolist():
        totals = device_totals(devices.slices, device_class, state, nodes.node(i))
        if totals.n_devices:
            allocatable[i], allocated[i] = totals
    return allocatable, allocated
