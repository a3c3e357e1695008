"""What scoring compares: what nodes have, what is taken, and what the pod would add.

Upstream: v1.36 plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import ResourceSpec
from scheduler_core.framework.resource_names import (
    BASIC_RESOURCES,
    is_counted,
    is_scalar_resource_name,
)


@dataclass(frozen=True, slots=True)
class Allocation:
    """One resource on `n` nodes, int64 (n,) each: cpu in milli, others in units or bytes.

    `requested` is `allocated` and the incoming pod. A node whose `allocatable` is 0 does not
    have the resource, and a scorer leaves the resource out there.
    """

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
) -> list[Allocation]:
    """Return the resources that count for a pod with these requests.

    An extended resource counts only if the pod requests it.
    """
    return [
        _allocation(nodes, resource, pod_requests.get(resource.name, 0), requested)
        for resource in resources
        if resource.name in BASIC_RESOURCES
        or (pod_requests.get(resource.name, 0) and is_scalar_resource_name(resource.name))
    ]


def _allocation(
    nodes: Nodes, resource: ResourceSpec, pod_request: int, requested: Requested
) -> Allocation:
    allocated = requested(nodes, resource.name)
    return Allocation(
        weight=resource.weight,
        allocatable=nodes.allocatable(resource.name),
        allocated=allocated,
        requested=allocated + pod_request,
    )
