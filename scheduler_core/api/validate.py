"""Rules the API server enforces on which the engine relies: amounts, names, topology keys."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from scheduler_core.api.coerce import key_path
from scheduler_core.api.device import (
    CapacityRequestPolicy,
    CapacityRequirements,
    Device,
    DeviceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.api.errors import FieldError
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.node import Node
from scheduler_core.api.pod import (
    Affinity,
    Container,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    ResourceRequirements,
    TopologySpreadConstraint,
    Volume,
)
from scheduler_core.api.priority import SYSTEM_PRIORITY_CLASSES
from scheduler_core.api.quantity import QuantityError, parse_quantity
from scheduler_core.api.volume import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
)
from scheduler_core.api.workload import PriorityClass
from scheduler_core.wording import say, told

# Where amounts stand in slices and claims of devices.

Amounts = tuple[str, Mapping[str, str]]
"""A field path and the amounts that stand there."""


def device_amounts(
    item: ResourceSlice | ResourceClaim | ResourceClaimTemplate,
) -> Iterator[Amounts]:
    """All amounts of an object, each with its field path."""
    match item:
        case ResourceSlice(spec=spec):
            for i, counters in enumerate(spec.shared_counters):
                amounts = {name: each.value for name, each in counters.counters.items()}
                yield f"spec.sharedCounters[{i}].counters", amounts
            for i, device in enumerate(spec.devices):
                yield from _of_device(device, f"spec.devices[{i}]")
                if device.basic is not None:
                    yield from _of_device(device.basic, f"spec.devices[{i}].basic")
        case ResourceClaim():
            yield from _of_claim(item.spec.devices, "spec.devices")
            allocation = item.status.allocation
            for i, result in enumerate(allocation.devices.results if allocation else ()):
                at = f"status.allocation.devices.results[{i}].consumedCapacity"
                yield at, result.consumed_capacity
        case ResourceClaimTemplate():
            yield from _of_claim(item.spec.spec.devices, "spec.spec.devices")


def _of_device(device: Device, path: str) -> Iterator[Amounts]:
    yield f"{path}.capacity", {name: each.value for name, each in device.capacity.items()}
    for name, capacity in device.capacity.items():
        if capacity.request_policy is not None:
            yield from _of_policy(capacity.request_policy, f"{path}.capacity[{name}].requestPolicy")
    for i, consumed in enumerate(device.consumes_counters):
        amounts = {name: each.value for name, each in consumed.counters.items()}
        yield f"{path}.consumesCounters[{i}].counters", amounts


def _of_policy(policy: CapacityRequestPolicy, path: str) -> Iterator[Amounts]:
    named = {"default": policy.default}
    yield path, {name: text for name, text in named.items() if text}
    yield f"{path}.validValues", {str(i): text for i, text in enumerate(policy.valid_values)}
    valid = policy.valid_range
    if valid is not None:
        bounds = {"min": valid.min, "max": valid.max, "step": valid.step}
        yield f"{path}.validRange", {name: text for name, text in bounds.items() if text}


def _of_claim(claim: DeviceClaim, path: str) -> Iterator[Amounts]:
    for i, request in enumerate(claim.requests):
        at = f"{path}.requests[{i}]"
        yield from _of_requirements(request.capacity, at)
        if request.exactly is not None:
            yield from _of_requirements(request.exactly.capacity, f"{at}.exactly")
        for k, alternative in enumerate(request.first_available):
            yield from _of_requirements(alternative.capacity, f"{at}.firstAvailable[{k}]")


def _of_requirements(capacity: CapacityRequirements | None, path: str) -> Iterator[Amounts]:
    if capacity is not None:
        yield f"{path}.capacity.requests", capacity.requests


MAX_NAME_CHARS = 253
"""Of an object, and of what names one: more is no DNS subdomain."""

HIGHEST_USER_PRIORITY = 1_000_000_000
"""Of a PriorityClass (HighestUserDefinablePriority)."""
SYSTEM_NAMES = frozenset(known.name for known in SYSTEM_PRIORITY_CLASSES)

_UNSATISFIABLE_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")

# A field path and the amounts that stand there.
_Amounts = tuple[str, Mapping[str, str]]


def validate(item: KubeObject) -> None:
    """Checks one decoded object. Raises :class:`FieldError` for the first broken rule."""
    if not item.metadata.name:
        raise FieldError("metadata.name", say("field.missing", "is missing"))
    _validate_path_segment("metadata.name", item.metadata.name)
    _validate_path_segment("metadata.namespace", item.metadata.namespace)
    for index, owner in enumerate(item.metadata.owner_references):
        _validate_length(f"metadata.ownerReferences[{index}].kind", owner.kind)
        _validate_length(f"metadata.ownerReferences[{index}].name", owner.name)
    match item:
        case Pod():
            _validate_pod(item)
        case Node():
            _validate_amounts("status.capacity", item.status.capacity)
            _validate_amounts("status.allocatable", item.status.allocatable)
        case PersistentVolume():
            _validate_amounts("spec.capacity", item.spec.capacity)
        case PersistentVolumeClaim():
            _validate_claim(item.spec, "spec")
            _validate_amounts("status.capacity", item.status.capacity)
        case PriorityClass():
            _validate_priority(item)
        case CSIStorageCapacity():
            _validate_amount("capacity", item.capacity or "0")
            _validate_amount("maximumVolumeSize", item.maximum_volume_size or "0")
        case ResourceSlice() | ResourceClaim() | ResourceClaimTemplate():
            for path, amounts in device_amounts(item):
                _validate_amounts(path, amounts)
        case _:
            pass


def _validate_priority(item: PriorityClass) -> None:
    """Refuse a priority that only the classes of the system itself have.

    Upstream: v1.36 pkg/apis/scheduling/validation (ValidatePriorityClass).
    """
    if item.value > HIGHEST_USER_PRIORITY and item.name not in SYSTEM_NAMES:
        raise FieldError(
            "value",
            say(
                "field.priority_too_high",
                "may be at most {most:,}: what is above is kept for the classes of the system",
                most=HIGHEST_USER_PRIORITY,
            ),
        )


def _validate_path_segment(path: str, name: str) -> None:
    """Refuse what no name may hold: it stands between slashes in the object's address.

    Upstream: v1.36 apimachinery/pkg/api/validation/path (IsValidPathSegmentName).
    """
    if name in (".", ".."):
        raise FieldError(path, say("field.may_not_be", 'may not be "{name}"', name=name))
    for character in "/%":
        if character in name:
            raise FieldError(
                path,
                say("field.may_not_contain", 'may not contain "{character}"', character=character),
            )
    _validate_length(path, name)


def _validate_length(path: str, name: str) -> None:
    if len(name) > MAX_NAME_CHARS:
        raise FieldError(
            path, say("field.too_long", "may have {most} characters at most", most=MAX_NAME_CHARS)
        )


def _validate_pod(pod: Pod) -> None:
    spec = pod.spec
    if not spec.containers:
        raise FieldError(
            "spec.containers", say("field.no_container", "a pod needs at least one container")
        )
    _validate_length("spec.nodeName", spec.node_name)
    _validate_length("spec.schedulerName", spec.scheduler_name)
    _validate_length("status.nominatedNodeName", pod.status.nominated_node_name)
    for path, amounts in _pod_amounts(pod):
        _validate_amounts(path, amounts)
    for kind, containers in _containers_by_field(spec):
        for index, container in enumerate(containers):
            if not container.name:
                raise FieldError(f"spec.{kind}[{index}].name", say("field.missing", "is missing"))
    for index, constraint in enumerate(spec.topology_spread_constraints):
        _validate_constraint(constraint, f"spec.topologySpreadConstraints[{index}]")
    if spec.affinity is not None:
        _validate_affinity(spec.affinity)
    for index, volume in enumerate(spec.volumes):
        _validate_volume(volume, f"spec.volumes[{index}]")


def _containers_by_field(spec: PodSpec) -> tuple[tuple[str, tuple[Container, ...]], ...]:
    return (("containers", spec.containers), ("initContainers", spec.init_containers))


def _pod_amounts(pod: Pod) -> Iterator[_Amounts]:
    spec, status = pod.spec, pod.status
    for kind, containers in _containers_by_field(spec):
        for index, container in enumerate(containers):
            yield from _requirement_amounts(f"spec.{kind}[{index}].resources", container.resources)
    if spec.overhead:
        yield "spec.overhead", spec.overhead
    yield from _requirement_amounts("spec.resources", spec.resources)
    yield from _requirement_amounts("status.resources", status.resources)
    yield "status.allocatedResources", status.allocated_resources
    for kind, statuses in (
        ("containerStatuses", status.container_statuses),
        ("initContainerStatuses", status.init_container_statuses),
    ):
        for index, reported in enumerate(statuses):
            at = f"status.{kind}[{index}]"
            yield from _requirement_amounts(f"{at}.resources", reported.resources)
            yield f"{at}.allocatedResources", reported.allocated_resources


def _requirement_amounts(
    path: str, requirements: ResourceRequirements | None
) -> Iterator[_Amounts]:
    if requirements is not None:
        yield f"{path}.requests", requirements.requests
        yield f"{path}.limits", requirements.limits


def _validate_amounts(path: str, amounts: Mapping[str, str]) -> None:
    for name, text in amounts.items():
        problem = _amount_problem(text)
        if problem:
            raise FieldError(f"{path}{key_path(name)}", problem)


def _validate_amount(path: str, text: str) -> None:
    problem = _amount_problem(text)
    if problem:
        raise FieldError(path, problem)


@lru_cache(maxsize=65536)
def _amount_problem(text: str) -> str:
    try:
        amount = parse_quantity(text)
    except QuantityError as error:
        return told(error)
    return (
        say("field.quantity_negative", '"{text}" must not be negative', text=text)
        if amount.unscaled < 0
        else ""
    )


def _validate_constraint(constraint: TopologySpreadConstraint, path: str) -> None:
    if constraint.max_skew < 1:
        raise FieldError(f"{path}.maxSkew", say("field.at_least_one", "must be 1 or more"))
    if not constraint.topology_key:
        raise FieldError(f"{path}.topologyKey", say("field.missing", "is missing"))
    if constraint.when_unsatisfiable not in _UNSATISFIABLE_ACTIONS:
        choices = " or ".join(_UNSATISFIABLE_ACTIONS)
        raise FieldError(
            f"{path}.whenUnsatisfiable", say("field.must_be", "must be {choices}", choices=choices)
        )
    if constraint.min_domains is not None and constraint.min_domains < 1:
        raise FieldError(f"{path}.minDomains", say("field.at_least_one", "must be 1 or more"))


def _validate_affinity(affinity: Affinity) -> None:
    for path, rules in (
        ("spec.affinity.podAffinity", affinity.pod_affinity),
        ("spec.affinity.podAntiAffinity", affinity.pod_anti_affinity),
    ):
        if rules is not None:
            _validate_terms(_affinity_terms(rules, path))


def _affinity_terms(
    rules: PodAffinity | PodAntiAffinity, path: str
) -> Iterator[tuple[str, PodAffinityTerm]]:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(rules.required_during_scheduling_ignored_during_execution):
        yield f"{path}.{required}[{index}]", term
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, weighted in enumerate(rules.preferred_during_scheduling_ignored_during_execution):
        yield f"{path}.{preferred}[{index}].podAffinityTerm", weighted.pod_affinity_term


def _validate_terms(terms: Iterable[tuple[str, PodAffinityTerm]]) -> None:
    for path, term in terms:
        if not term.topology_key:
            raise FieldError(f"{path}.topologyKey", say("field.missing", "is missing"))


def _validate_volume(volume: Volume, path: str) -> None:
    claim = volume.persistent_volume_claim
    if claim is not None and not claim.claim_name:
        raise FieldError(
            f"{path}.persistentVolumeClaim.claimName", say("field.missing", "is missing")
        )
    template = volume.ephemeral and volume.ephemeral.volume_claim_template
    if template:
        _validate_claim(template.spec, f"{path}.ephemeral.volumeClaimTemplate.spec")


def _validate_claim(spec: PersistentVolumeClaimSpec, path: str) -> None:
    _validate_amounts(f"{path}.resources.requests", spec.resources.requests)
    _validate_amounts(f"{path}.resources.limits", spec.resources.limits)
