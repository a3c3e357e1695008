"""The largest request of a pod that fits into what is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.analysis.advice.actions import PER_QUARTER, Action, action, in_map, set_on
from scheduler_core.api import Container, Pod
from scheduler_core.api.quantity import quantity_text
from scheduler_core.changes.vocabulary import SetField
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.requests import integer_resources, pod_requests

MEBI = 1 << 20
DIVISIBLE = ("cpu", "memory", "ephemeral-storage")


def shrunk(pod: Pod, free: Mapping[str, int]) -> Action | None:
    """Return the changes after which a pod asks for no more than is free of some resources.

    Amounts as `pod_requests` has them. None where nothing would be left of a request, or where it
    is not the containers that ask.
    """
    asked = pod_requests(pod).placed
    changes: list[SetField] = []
    most_given_up = 0.0
    for name, amount in free.items():
        wanted = asked.get(name, 0)
        target = amount // MEBI * MEBI if name in ("memory", "ephemeral-storage") else amount
        if name == PODS or target <= 0 or wanted <= 0:
            return None
        changes += _smaller(pod, name, wanted - target, target)
        most_given_up = max(most_given_up, (wanted - target) / wanted)
    if not changes:
        return None
    return action("shrink", *changes).dearer(PER_QUARTER * int(most_given_up * 4))


def _smaller(pod: Pod, resource: str, too_much: int, target: int) -> Iterator[SetField]:
    level = pod.spec.resources
    if level is not None and resource in level.requests:
        yield _set(pod, "spec.resources", resource, target)
        return
    for i, container in enumerate(pod.spec.init_containers):
        if _asks(container, resource) > target:
            yield from _of_container(pod, f"spec.initContainers[{i}]", container, resource, target)
    amounts = [_asks(container, resource) for container in pod.spec.containers]
    for i in sorted(range(len(amounts)), key=lambda i: -amounts[i]):
        if too_much <= 0:
            return
        given_up = min(too_much, amounts[i])
        too_much -= given_up
        place, container = f"spec.containers[{i}]", pod.spec.containers[i]
        if given_up:
            yield from _of_container(pod, place, container, resource, amounts[i] - given_up)


def _of_container(
    pod: Pod, place: str, container: Container, resource: str, amount: int
) -> Iterator[SetField]:
    yield _set(pod, f"{place}.resources", resource, amount)
    if resource not in DIVISIBLE and resource in container.resources.limits:
        yield _set(pod, f"{place}.resources", resource, amount, of="limits")


def _set(pod: Pod, place: str, resource: str, amount: int, of: str = "requests") -> SetField:
    return set_on(pod, f"{place}.{of}{in_map(resource)}", quantity_text(resource, amount))


def _asks(container: Container, resource: str) -> int:
    return integer_resources(container.resources.requests).get(resource, 0)
