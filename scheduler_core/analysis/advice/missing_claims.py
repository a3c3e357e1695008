"""Claims of devices that a pod uses and that are not there: made, or gone without.

A claim that a pod names is made with one device of some class. Where the claim is to come from a
template, the template is made so, for the controller makes the claim then; where there is one, but
nobody who makes claims from it, the claim is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from scheduler_core.analysis.advice.actions import PER_QUARTER, Action, action, set_on
from scheduler_core.api import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from scheduler_core.changes.owners import name_suffix
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import Put, SetField
from scheduler_core.plugins.dynamic_resources.pod_claims import NOT_CREATED, NOT_FOUND
from scheduler_core.sim.resource_claims import MAX_BASE_LENGTH
from scheduler_core.wording import say, series

MAX_CLASSES: Final = 5
"""So many classes of devices are tried for claims of which nobody knows what they ask for."""
QUARTERS: Final = 4
"""All that a claim asks for is given up with it."""
REQUEST: Final = "device"
UNKNOWN: Final = "?"
"""No claim has this name."""


def says_missing(messages: Iterable[str]) -> bool:
    """Return whether DynamicResources rejects a pod because a claim of it is not there."""
    return any(NOT_CREATED in each or NOT_FOUND in each for each in messages)


def claims_made(pod: Pod, objects: Objects) -> Iterator[Action]:
    """Yield what makes the claims of a pod that are not there."""
    missing = _missing(pod, objects)
    named = dict.fromkeys(each.resource_claim_name for each in missing)
    templates = dict.fromkeys(
        each.resource_claim_template_name
        for each in missing
        if not each.resource_claim_name and _template(pod, each, objects) is None
    )
    names, of_templates = [each for each in named if each], [each for each in templates if each]
    if names or of_templates:
        for each in islice(objects.all(DeviceClass), MAX_CLASSES):
            spec = _one_of(each.name)
            made = (ResourceClaim(metadata=_meta(name, pod), spec=spec) for name in names)
            from_now_on = (
                ResourceClaimTemplate(
                    metadata=_meta(name, pod), spec=ResourceClaimTemplateSpec(spec=spec)
                )
                for name in of_templates
            )
            yield action("claim", Put((*made, *from_now_on)))
    elif missing:
        yield _from_templates(pod, missing, objects)


def claims_dropped(pod: Pod, objects: Objects) -> Iterator[Action]:
    """Yield the pod without its claims that are not there: it runs then, but has no devices."""
    names = {each.name for each in _missing(pod, objects)}
    drops = [
        set_on(pod, f"spec.resourceClaims[{i}]", None)
        for i, each in reversed(list(enumerate(pod.spec.resource_claims)))
        if each.name in names
    ]
    if drops:
        dropped = action("devices", *drops, *_unused(pod, names))
        yield dropped.dearer(PER_QUARTER * QUARTERS)


def told(made: ResourceClaim | ResourceClaimTemplate) -> str:
    """Say that a claim, or the template that it comes from, is made."""
    if isinstance(made, ResourceClaim) and made.metadata.owner_references:
        return say(
            "devices.create_from_template", "create claim {key} from its template", key=made.key
        )
    kind = (
        say("devices.claim", "claim")
        if isinstance(made, ResourceClaim)
        else say("devices.claim_template", "claim template")
    )
    spec = made.spec if isinstance(made, ResourceClaim) else made.spec.spec
    classes = (each.exactly.device_class_name for each in spec.devices.requests if each.exactly)
    return say(
        "devices.create_with_class",
        "create {kind} {key} with one device of class {classes}",
        kind=kind,
        key=made.key,
        classes=series(classes),
    )


def _missing(pod: Pod, objects: Objects) -> list[PodResourceClaim]:
    """Return the pod's uses of claims that are not there.

    The controller makes claims from templates that are there, once it can make all of the pod's.
    """
    unmade = [use for use in pod.spec.resource_claims if _is_unmade(pod, use, objects)]
    nowhere = [use for use in unmade if _template(pod, use, objects) is None]
    return nowhere or unmade


def _is_unmade(pod: Pod, use: PodResourceClaim, objects: Objects) -> bool:
    if not use.resource_claim_name and not use.resource_claim_template_name:
        return False
    name = use.resource_claim_name or _made(pod).get(use.name, UNKNOWN)
    # The status names no claim where the pod turned out to need none.
    return bool(name) and objects.get(ResourceClaim, f"{pod.namespace}/{name}") is None


def _made(pod: Pod) -> dict[str, str]:
    """Return the names of the claims that were made from templates, by the pod's names for them."""
    made = pod.status.resource_claim_statuses
    return {each.name: each.resource_claim_name or "" for each in made}


def _template(pod: Pod, use: PodResourceClaim, objects: Objects) -> ResourceClaimTemplate | None:
    """Return the template that a claim comes from; None where it is not there, or none is named."""
    key = f"{pod.namespace}/{use.resource_claim_template_name}"
    return None if use.resource_claim_name else objects.get(ResourceClaimTemplate, key)


def _meta(name: str, pod: Pod) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=pod.namespace)


def _one_of(device_class: str) -> ResourceClaimSpec:
    exactly = ExactDeviceRequest(
        device_class_name=device_class, allocation_mode="ExactCount", count=1
    )
    return ResourceClaimSpec(
        devices=DeviceClaim(requests=(DeviceRequest(name=REQUEST, exactly=exactly),))
    )


def _from_templates(pod: Pod, uses: Iterable[PodResourceClaim], objects: Objects) -> Action:
    """Return claims made as the controller makes them, and the pod's status that names them."""
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=pod.name, uid=pod.uid or pod.key, controller=True
    )
    claims: list[ResourceClaim] = []
    named: list[SetField] = []
    for number, use in enumerate(uses, 1):
        template, name = _template(pod, use, objects), _made(pod).get(use.name, "")
        assert template is not None
        if not name:
            base = f"{pod.name}-{use.name}-"[:MAX_BASE_LENGTH]
            name = f"{base}{name_suffix(number)}"
            value = {"name": use.name, "resourceClaimName": name}
            named.append(set_on(pod, "status.resourceClaimStatuses[+]", value))
        metadata = ObjectMeta(
            name=name,
            namespace=pod.namespace,
            labels=template.spec.metadata.labels,
            owner_references=(owner,),
        )
        claims.append(ResourceClaim(metadata=metadata, spec=template.spec.spec))
    return action("claim", Put(tuple(claims)), *named)


def _unused(pod: Pod, names: set[str]) -> Iterator[SetField]:
    """Yield the end of what containers use of claims that the pod does not have any more."""
    for kind, containers in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
    ):
        for i, container in enumerate(containers):
            for j, claim in reversed(list(enumerate(container.resources.claims))):
                if claim.name in names:
                    yield set_on(pod, f"spec.{kind}[{i}].resources.claims[{j}]", None)
