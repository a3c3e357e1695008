"""What a pod requests: containers, sidecars, init containers, pod level, overhead, resizes.

Upstream: v1.36 component-helpers/resource/helpers.go (PodRequests) and
pkg/scheduler/framework/types.go (PodInfo.CalculateResource).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from msgspec.structs import replace

from scheduler_core.api import Container, ContainerStatus, Pod
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
    """What of a pod counts as its requests, as feature gates and the release have it.

    Requests at pod level (PodLevelResources), and resizes of them that are under way
    (InPlacePodLevelResourcesVerticalScaling).
    """

    pod_level: bool = True
    pod_level_resizes: bool = True
    by_pod: bool = False
    """Whether a resize in flight counts with the largest sum of the pod (a switch of the release),
    not container by container."""


COUNT_ALL: Final = Counted()


def pod_requests(pod: Pod, counted: Counted = COUNT_ALL) -> PodRequests:
    """Compute the requests of a pod."""
    if not counted.pod_level_resizes and pod.status.resources is not None:
        pod = replace(pod, status=replace(pod.status, resources=None))
    placed = _placed_by_pod if counted.by_pod else _placed
    if counted.pod_level or pod.spec.resources is None:
        return _requests(pod, placed)
    without = _requests(replace(pod, spec=replace(pod.spec, resources=None)), placed)
    return dataclasses.replace(without, in_events=as_integers(placed(pod, {})))


def _requests(pod: Pod, count: Callable[[Pod, NanoAmounts], NanoAmounts]) -> PodRequests:
    placed = count(pod, {})
    missing = _missing_defaults(placed, _requests_at_pod_level(pod))
    nonzero = count(pod, missing) if missing else placed
    has_status = pod.status.container_statuses or pod.status.init_container_statuses
    resized = bool(has_status or pod.status.resources)
    integers = as_integers(placed)
    return PodRequests(
        asked=as_integers(_asked(pod)) if resized else integers,
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
    total = _sum_containers(pod, _by_specification, _missing_defaults({}, False))
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


# ---------------------------------------------------------------- containers, then the pod


def _asked(pod: Pod) -> NanoAmounts:
    total = _sum_containers(pod, _by_specification, {})
    return _with_pod_level(pod, total, _specified_at_pod_level(pod))


def _placed(pod: Pod, missing: NanoAmounts) -> NanoAmounts:
    """Add up what each container may need most while it is resized."""
    statuses = _statuses(pod)
    infeasible = _resize_infeasible(pod)

    def most(container: Container, *, resizable: bool) -> NanoAmounts:
        specified = parse_resources(container.resources.requests)
        status = statuses.get(container.name) if resizable else None
        if status is None or status.resources is None:
            return specified
        result: NanoAmounts = {} if infeasible else specified
        _raise_to(result, parse_resources(status.resources.requests))
        _raise_to(result, parse_resources(status.allocated_resources))
        return result

    specified = _specified_at_pod_level(pod)
    level = specified
    if specified and pod.status.resources is not None:
        level = _most_at_pod_level(pod, specified)
        level = {name: level.get(name, 0) for name in specified}
    return _with_pod_level(pod, _sum_containers(pod, most, missing), level)


def _placed_by_pod(pod: Pod, missing: NanoAmounts) -> NanoAmounts:
    """Take the largest of three sums: as specified, as allocated and as in effect.

    The pod's own status takes the place of the latter two. Of a resize that is infeasible the
    specification does not count.

    Upstream: v1.37 component-helpers/resource/helpers.go (AggregateContainerRequests).
    """
    status, statuses, infeasible = pod.status, _statuses(pod), _resize_infeasible(pod)

    def allocated(container: Container, *, resizable: bool) -> NanoAmounts:
        reported = statuses.get(container.name)
        if reported is not None and reported.allocated_resources:
            return parse_resources(reported.allocated_resources)
        return {} if infeasible else parse_resources(container.resources.requests)

    def in_effect(container: Container, *, resizable: bool) -> NanoAmounts:
        reported = statuses.get(container.name)
        if reported is not None and reported.resources is not None and reported.resources.requests:
            return parse_resources(reported.resources.requests)
        return allocated(container, resizable=resizable)

    total: NanoAmounts = {}
    if not infeasible:
        total = _sum_containers(pod, _by_specification, missing)
    if status.allocated_resources and status.resources is not None and status.resources.requests:
        _raise_to(total, parse_resources(status.allocated_resources))
        _raise_to(total, parse_resources(status.resources.requests))
    elif statuses or infeasible:
        _raise_to(total, _sum_containers(pod, allocated, missing))
        _raise_to(total, _sum_containers(pod, in_effect, missing))
    level = _specified_at_pod_level(pod)
    if level and status.resources is not None:
        level = _most_at_pod_level(pod, level)
    return _with_pod_level(pod, total, level)


def _with_pod_level(pod: Pod, total: NanoAmounts, level: NanoAmounts) -> NanoAmounts:
    """Put requests at pod level in the place of those of the containers, and add the overhead."""
    total |= {name: amount for name, amount in level.items() if is_pod_level_resource(name)}
    _add(total, parse_resources(pod.spec.overhead))
    return total


def _specified_at_pod_level(pod: Pod) -> NanoAmounts:
    if not _requests_at_pod_level(pod):
        return {}
    assert pod.spec.resources is not None
    return parse_resources(pod.spec.resources.requests)


def _most_at_pod_level(pod: Pod, specified: NanoAmounts) -> NanoAmounts:
    """Return the most that a resize of the pod in flight may need."""
    assert pod.status.resources is not None
    result = {} if _resize_infeasible(pod) else dict(specified)
    _raise_to(result, parse_resources(pod.status.resources.requests))
    _raise_to(result, parse_resources(pod.status.allocated_resources))
    return result


class _RequestsOf(Protocol):
    def __call__(self, container: Container, *, resizable: bool) -> NanoAmounts:
        """Return what a container counts with; init containers are not `resizable`."""


def _by_specification(container: Container, *, resizable: bool) -> NanoAmounts:
    return parse_resources(container.resources.requests)


def _statuses(pod: Pod) -> Mapping[str, ContainerStatus]:
    reported = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return {status.name: status for status in reported}


def _sum_containers(pod: Pod, requests_of: _RequestsOf, missing: NanoAmounts) -> NanoAmounts:
    """Add up containers and sidecars, or take a larger stage of the init sequence."""

    def requests(container: Container, *, resizable: bool) -> NanoAmounts:
        found = requests_of(container, resizable=resizable)
        return found | {name: missing[name] for name in missing if name not in found}

    total: NanoAmounts = {}
    for container in pod.spec.containers:
        _add(total, requests(container, resizable=True))
    sidecars: NanoAmounts = {}
    largest_stage: NanoAmounts = {}
    for container in pod.spec.init_containers:
        is_sidecar = container.restart_policy == "Always"
        of_stage = requests(container, resizable=is_sidecar)
        if is_sidecar:
            _add(total, of_stage)
            _add(sidecars, of_stage)
            _raise_to(largest_stage, sidecars)
        else:
            _add(of_stage, sidecars)
            _raise_to(largest_stage, of_stage)
    _raise_to(total, largest_stage)
    return total


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
