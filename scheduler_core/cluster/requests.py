"""What a pod requests: containers, sidecars, init containers, pod level, overhead, resizes.

Upstream: v1.36 component-helpers/resource/helpers.go (PodRequests) and
pkg/scheduler/framework/types.go (PodInfo.CalculateResource).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from scheduler_core.api import Container, ContainerStatus, Pod, ResourceRequirements
from scheduler_core.api.quantity import MAX_INT64, parse_quantity

CPU = "cpu"
MEMORY = "memory"
HUGE_PAGES_PREFIX = "hugepages-"
DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024

NANO_PER_UNIT = 10**9
NANO_PER_MILLI = 10**6

NanoAmounts = dict[str, int]
"""Exact amounts by resource, in billionths of its unit (upstream's finest grain)."""


@dataclass(frozen=True, slots=True)
class PodRequests:
    """A pod's requests as integers: cpu in milli, all else in units or bytes, rounded up.

    `placed` counts resizes in flight (what the pod takes of its node), `asked` the spec alone
    (what a pending pod must find). `in_events` is `placed` as cluster events and hints compare it:
    with requests at pod level, whether those count or not. `nonzero_*` fill in a default for every
    container that names no cpu or memory; they only serve scoring.
    """

    asked: Mapping[str, int]
    placed: Mapping[str, int]
    in_events: Mapping[str, int]
    nonzero_cpu_milli: int
    nonzero_memory_bytes: int


class Counted(NamedTuple):
    """What of a pod counts as its requests, as feature gates have it.

    Requests at pod level (PodLevelResources), and resizes of them that are under way
    (InPlacePodLevelResourcesVerticalScaling).
    """

    pod_level: bool = True
    pod_level_resizes: bool = True


COUNT_ALL: Final = Counted()


def pod_requests(pod: Pod, counted: Counted = COUNT_ALL) -> PodRequests:
    """Compute the requests of a pod."""
    if not counted.pod_level_resizes and pod.status.resources is not None:
        pod = replace(pod, status=replace(pod.status, resources=None))
    if counted.pod_level or pod.spec.resources is None:
        return _requests(pod)
    without = _requests(replace(pod, spec=replace(pod.spec, resources=None)))
    return dataclasses.replace(without, in_events=as_integers(_sum(pod, use_status=True)))


def _requests(pod: Pod) -> PodRequests:
    placed = _sum(pod, use_status=True)
    missing = _missing_defaults(placed, _requests_at_pod_level(pod))
    nonzero = _sum(pod, use_status=True, missing=missing) if missing else placed
    has_status = pod.status.container_statuses or pod.status.init_container_statuses
    resized = bool(has_status or pod.status.resources)
    integers = as_integers(placed)
    return PodRequests(
        asked=as_integers(_sum(pod, use_status=False)) if resized else integers,
        placed=integers,
        in_events=integers,
        nonzero_cpu_milli=_milli(nonzero.get(CPU, 0)),
        nonzero_memory_bytes=_value(nonzero.get(MEMORY, 0)),
    )


def container_requests(pod: Pod) -> dict[str, int]:
    """Compute what the containers of a pending pod ask for, as integers, overhead included.

    A container that names no cpu or memory counts with the default. Requests at pod level are
    left out: that is how upstream's NodeResourcesFit scores the incoming pod.
    """
    total = _sum_containers(pod, use_status=False, missing=_missing_defaults({}, False))
    _add(total, parse_resources(pod.spec.overhead))
    return as_integers(total)


def as_integers(resources: Mapping[str, int]) -> dict[str, int]:
    """Return cpu in milli and everything else in whole units, rounded up."""
    return {
        name: _milli(amount) if name == CPU else _value(amount)
        for name, amount in resources.items()
    }


def parse_resources(resources: Mapping[str, str]) -> NanoAmounts:
    """Read quantities exactly; finer grains than a billionth round away from zero."""
    return {name: _nano(text) for name, text in resources.items()}


def integer_resources(resources: Mapping[str, str]) -> dict[str, int]:
    """Read quantities as the scheduler counts them: cpu in milli, all else in whole units."""
    return dict(_integers(tuple(resources.items())))


@lru_cache(maxsize=4096)
def _integers(resources: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """Read the same for many nodes of one kind; nobody may change the answer."""
    return as_integers(parse_resources(dict(resources)))


def is_pod_level_resource(name: str) -> bool:
    """Return whether `spec.resources` of a pod may name the resource."""
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES_PREFIX)


def _requests_at_pod_level(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(map(is_pod_level_resource, resources.requests))


def _missing_defaults(requests: NanoAmounts, pod_level: bool) -> NanoAmounts:
    """Return what a container that names no cpu or memory counts with in scoring.

    A pod-level request already covers its containers.
    """
    defaults = {
        CPU: DEFAULT_CPU_MILLI * NANO_PER_MILLI,
        MEMORY: DEFAULT_MEMORY_BYTES * NANO_PER_UNIT,
    }
    if not pod_level:
        return defaults
    return {name: amount for name, amount in defaults.items() if name not in requests}


def _sum(pod: Pod, *, use_status: bool, missing: NanoAmounts | None = None) -> NanoAmounts:
    total = _sum_containers(pod, use_status, missing or {})
    if _requests_at_pod_level(pod):
        _override_at_pod_level(pod, total, use_status)
    _add(total, parse_resources(pod.spec.overhead))
    return total


def _override_at_pod_level(pod: Pod, total: NanoAmounts, use_status: bool) -> None:
    assert pod.spec.resources is not None
    spec = parse_resources(pod.spec.resources.requests)
    effective = spec
    if use_status and pod.status.resources is not None:
        effective = _effective(pod, spec, pod.status.resources, pod.status.allocated_resources)
    for name in spec:
        if is_pod_level_resource(name):
            total[name] = effective.get(name, 0)


def _sum_containers(pod: Pod, use_status: bool, missing: NanoAmounts) -> NanoAmounts:
    """Add up containers and sidecars, or take a larger stage of the init sequence."""
    status = pod.status
    reported = (*status.container_statuses, *status.init_container_statuses) if use_status else ()
    statuses = {status.name: status for status in reported}

    def requests_of(container: Container, *, resizable: bool) -> NanoAmounts:
        requests = parse_resources(container.resources.requests)
        reported = statuses.get(container.name) if resizable else None
        if reported is not None and reported.resources is not None:
            requests = _effective_of(pod, requests, reported)
        return requests | {name: missing[name] for name in missing if name not in requests}

    total: NanoAmounts = {}
    for container in pod.spec.containers:
        _add(total, requests_of(container, resizable=True))
    sidecars: NanoAmounts = {}
    largest_stage: NanoAmounts = {}
    for container in pod.spec.init_containers:
        is_sidecar = container.restart_policy == "Always"
        requests = requests_of(container, resizable=is_sidecar)
        if is_sidecar:
            _add(total, requests)
            _add(sidecars, requests)
            _raise_to(largest_stage, sidecars)
        else:
            _add(requests, sidecars)
            _raise_to(largest_stage, requests)
    _raise_to(total, largest_stage)
    return total


def _effective_of(pod: Pod, spec: NanoAmounts, status: ContainerStatus) -> NanoAmounts:
    assert status.resources is not None
    return _effective(pod, spec, status.resources, status.allocated_resources)


def _effective(
    pod: Pod, spec: NanoAmounts, actuated: ResourceRequirements, allocated: Mapping[str, str]
) -> NanoAmounts:
    """Return the most that a resize in flight may need; an infeasible one asks for nothing."""
    result: NanoAmounts = {} if _resize_infeasible(pod) else dict(spec)
    _raise_to(result, parse_resources(actuated.requests))
    _raise_to(result, parse_resources(allocated))
    return result


def _resize_infeasible(pod: Pod) -> bool:
    pending = (c for c in pod.status.conditions if c.type == "PodResizePending")
    return any(condition.reason == "Infeasible" for condition in list(pending)[:1])


def _add(total: NanoAmounts, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: NanoAmounts, floor: Mapping[str, int]) -> None:
    for name, amount in floor.items():
        if name not in total or amount > total[name]:
            total[name] = amount


@lru_cache(maxsize=65536)
def _nano(text: str) -> int:
    quantity = parse_quantity(text)
    shift = quantity.exponent + 9
    if shift >= 0:
        return quantity.unscaled * int(10**shift)
    return _ceil_div(quantity.unscaled, int(10**-shift))


def _milli(amount_nano: int) -> int:
    return _ceil_div(amount_nano, NANO_PER_MILLI)


def _value(amount_nano: int) -> int:
    return _ceil_div(amount_nano, NANO_PER_UNIT)


def _ceil_div(amount: int, unit: int) -> int:
    """Divide, rounding away from zero and staying within int64, as Go's Quantity does."""
    if 0 <= amount <= MAX_INT64:
        return -(-amount // unit)
    quotient = -(-abs(amount) // unit)
    return max(-MAX_INT64 - 1, min(MAX_INT64, quotient if amount >= 0 else -quotient))
