"""Extended resources that classes of devices back: the claim the scheduler makes for them.

Upstream: v1.36 plugins/dynamicresources/extendeddynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from scheduler_core.api import (
    Container,
    ContainerExtendedResourceRequest,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectMeta,
    OwnerReference,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
)
from scheduler_core.api.device import EXTENDED_RESOURCE_CLAIM
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import NANO_PER_UNIT, parse_resources
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.resource_names import may_be_backed_by_devices
from scheduler_core.plugins.dynamic_resources.requests import EXACT_COUNT

IN_MEMORY_NAME: Final = "<extended-resources>"
"""Names the claim until it is written; no name that an object may have."""

Mapped = ContainerExtendedResourceRequest


@dataclass(frozen=True, slots=True)
class NodeClaim:
    """The claim as one node needs it, and which container gets what of it."""

    claim: ResourceClaim
    mappings: Sequence[Mapped]


def backable_requests(pod: PodInfo) -> dict[str, int]:
    """Return the pod's requests that a class may back, by resource."""
    asked = pod.template.requests.asked
    return {name: n for name, n in asked.items() if n and may_be_backed_by_devices(name)}


def special_claim(pod: PodInfo, devices: Devices) -> ResourceClaim | None:
    """Return the pod's claim for extended resources, None if no class backs any it requests.

    One from an earlier attempt has requests; a new one gets them node by node.
    """
    if not any(devices.class_for(name) for name in backable_requests(pod)):
        return None
    for claim in devices.claims():
        if claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true" and _is_owner(
            pod.pod, claim
        ):
            return claim
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=pod.pod.name, uid=pod.uid, controller=True
    )
    return ResourceClaim(
        metadata=ObjectMeta(
            name=IN_MEMORY_NAME,
            namespace=pod.pod.namespace,
            uid=f"{pod.uid}/{IN_MEMORY_NAME}",
            owner_references=(owner,),
            annotations={EXTENDED_RESOURCE_CLAIM: "true"},
        )
    )


def _is_owner(pod: Pod, claim: ResourceClaim) -> bool:
    return any(
        owner.name == pod.name and owner.controller and owner.uid == pod.uid
        for owner in claim.metadata.owner_references
    )


def is_in_memory(claim: ResourceClaim) -> bool:
    return claim.name == IN_MEMORY_NAME


def written_name(pod: Pod, number: int) -> str:
    """Return a name for the claim in the cluster. The real API server draws the suffix."""
    return f"{pod.name}-extended-resources-{number}"


def node_claim(
    claim: ResourceClaim, pod: Pod, resources: Iterable[str], devices: Devices
) -> NodeClaim:
    """Return the claim for a node that provides `resources` as devices only."""
    requests: list[DeviceRequest] = []
    mappings: list[Mapped] = []
    for resource in sorted(resources):
        device_class = devices.class_for(resource)
        if device_class is not None:
            served = _serve(pod, resource, device_class.name)
            requests += served.requests
            mappings += served.mappings
    requests.sort(key=lambda request: request.name)
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests)))
    return NodeClaim(replace(claim, spec=spec), mappings)


@dataclass(frozen=True, slots=True)
class _Served:
    requests: Sequence[DeviceRequest]
    mappings: Sequence[Mapped]


def _serve(pod: Pod, resource: str, class_name: str) -> _Served:
    """Return the requests for one resource: containers each their own, init containers reuse.

    An init container that ends may use what later ones have, and all such share their largest
    request beyond that.
    """
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    n_init = len(pod.spec.init_containers)
    ending = [i for i, c in enumerate(containers[:n_init]) if c.restart_policy != "Always"]
    lasting: dict[int, DeviceRequest] = {}
    lasting_mappings: list[Mapped] = []
    for i, container in enumerate(containers):
        if i not in ending:
            request, mapped = _request(i, container, resource, class_name, ())
            lasting_mappings += mapped
            if request is not None:
                lasting[i] = request
    largest: DeviceRequest | None = None
    ending_mappings: list[Mapped] = []
    names: set[str] = set()
    for i in ending:
        later = [request for at, request in lasting.items() if at >= i]
        request, mapped = _request(i, containers[i], resource, class_name, later)
        ending_mappings += mapped
        if request is not None:
            names.add(request.name)
            if largest is None or count_of(largest) < count_of(request):
                largest = request
    if largest is not None:
        ending_mappings = [
            replace(each, request_name=largest.name) if each.request_name in names else each
            for each in ending_mappings
        ]
    requests = ([] if largest is None else [largest]) + list(lasting.values())
    return _Served(requests, [*lasting_mappings, *ending_mappings])


def _request(
    index: int,
    container: Container,
    resource: str,
    class_name: str,
    reusable: Sequence[DeviceRequest],
) -> tuple[DeviceRequest | None, list[Mapped]]:
    """Return what a container has to request itself, and all it uses."""
    requests = container.resources.requests
    wanted = _whole(requests, resource)
    if not wanted:
        return None, []

    def mapped(name: str) -> Mapped:
        return Mapped(container_name=container.name, resource_name=resource, request_name=name)

    mappings: list[Mapped] = []
    found = 0
    for request in reusable:
        found += count_of(request)
        mappings.append(mapped(request.name))
        if found >= wanted:
            return None, mappings
    name = f"container-{index}-request-{sorted(requests).index(resource)}"
    exactly = ExactDeviceRequest(
        device_class_name=class_name, allocation_mode=EXACT_COUNT, count=wanted - found
    )
    return DeviceRequest(name=name, exactly=exactly), [*mappings, mapped(name)]


def count_of(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _whole(requests: Mapping[str, str], resource: str) -> int:
    """Return how many are requested; a fraction is none."""
    amount = parse_resources(requests).get(resource, 0)
    return 0 if amount % NANO_PER_UNIT else amount // NANO_PER_UNIT
