"""The resource claims of a pod.

Upstream: v1.36 dynamic-resource-allocation/resourceclaim/resourceclaim.go and
plugins/dynamicresources (foreachPodResourceClaim).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scheduler_core.api import Pod, PodResourceClaim, ResourceClaim, ResourceClaimConsumerReference
from scheduler_core.devices.inventory import Devices
from scheduler_core.plugins.dynamic_resources.requests import alternatives

NOT_CREATED: Final = "ResourceClaim not created yet"
NOT_FOUND: Final = "could not find ResourceClaim"
UNSUPPORTED: Final = "none of the supported fields are set"


def claims_of(pod: Pod, devices: Devices) -> Sequence[ResourceClaim] | str:
    """Return the pod's claims in the pod's order, or why it has to wait for one.

    A claim that the pod's status says was not needed is left out.
    """
    claims = []
    for use in pod.spec.resource_claims:
        name = _claim_name(pod, use)
        if isinstance(name, _Missing):
            return name.why
        if name is None:
            continue
        claim = devices.claim(f"{pod.namespace}/{name}")
        if claim is None:
            return f'{NOT_FOUND} "{pod.namespace}/{name}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'resourceclaim "{claim.name}" is being deleted'
        if not use.resource_claim_name and not is_controlled_by(claim, pod):
            what = f"ResourceClaim {claim.key} was not created for Pod {pod.key}"
            return f"{what} (Pod is not owner)"
        claims.append(claim)
    return claims


class _Missing:
    def __init__(self, why: str) -> None:
        self.why = why


def _claim_name(pod: Pod, use: PodResourceClaim) -> str | _Missing | None:
    """Return the name of the claim that a pod means; None if it turned out to need none."""
    if use.resource_claim_name:
        return use.resource_claim_name
    if not use.resource_claim_template_name:
        return _Missing(f'pod "{pod.key}", spec.resourceClaim "{use.name}": {UNSUPPORTED}')
    for made in pod.status.resource_claim_statuses:
        if made.name == use.name:
            return made.resource_claim_name
    return _Missing(f'pod "{pod.key}": {NOT_CREATED}')


def is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    """Tell whether the pod is the controller among the claim's owners."""
    owners = claim.metadata.owner_references
    return any(owner.controller and owner.uid == pod.uid for owner in owners)


def is_reserved_for(claim: ResourceClaim, pod: Pod) -> bool:
    return any(consumer.uid == pod.uid for consumer in claim.status.reserved_for)


def consumer_of(pod: Pod) -> ResourceClaimConsumerReference:
    """Return how a claim refers to a pod that uses it."""
    return ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)


def request_problem(claim: ResourceClaim, devices: Devices, *, lists: bool) -> str:
    """Return why a claim's requests cannot be served at all, empty if they may be.

    `lists` is the gate DRAPrioritizedList.
    """
    for given in claim.spec.devices.requests:
        where = f"resource claim {claim.key}, request {given.name}"
        if given.exactly is None and not given.first_available:
            return f"{where}: unknown request type"
        if given.exactly is None and not lists:
            return f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled"
        for request in alternatives(given):
            name = request.class_name
            if devices.device_class(name) is None:
                return f"request {request.full_name}: device class {name} does not exist"
    return ""
