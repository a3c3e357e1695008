"""Room for the pod's requests: what the node has, what is taken, and who takes most.

Upstream: v1.36 plugins/noderesources/fit.go (fitsRequest).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.api.quantity import amount_text
from scheduler_core.cluster.columns import PODS
from scheduler_core.evidence.requirement import AtNode, Requirement, state_of
from scheduler_core.plugins.node_resources import Fit

TOP: Final = 3
"""So many pods are named that take most of a resource."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A pod and what it takes; `nominated` pods are not there yet, but count."""

    pod: str
    amount: int
    nominated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRoom(Requirement):
    """A resource the pod requests: cpu in milli, others in bytes or units; `pods` are places.

    `used` is what the pods of the node take, those nominated to it among them, which take
    `nominated` of it. `top` are the pods that take most, most first.
    """

    kind = "resource"
    resource: str
    requested: int
    allocatable: int
    used: int
    nominated: int
    top: tuple[Holder, ...]
    by_devices: bool = False
    """The node has none itself, and a class of devices backs it: DynamicResources decides."""

    @property
    def free(self) -> int:
        """Return what is left; below 0 on a node that is overcommitted."""
        return self.allocatable - self.used

    @property
    def short(self) -> int:
        """Return how much is missing; 0 or less if there is room."""
        return self.requested - self.free

    @property
    def asks(self) -> str:
        if self.resource == PODS:
            return "a place for one more pod"
        return f"{self._amount(self.requested)} {self.resource}"

    @property
    def has(self) -> str:
        if self.by_devices:
            return f"no {self.resource} but perhaps devices"
        if not self.allocatable:
            return f"no {self.resource}"
        return f"{self._amount(self.free)} free of {self._amount(self.allocatable)}"

    @property
    def sentence(self) -> str:
        if self.met:
            return f"needs {self.asks}, the node has {self.has}"
        if not self.allocatable:
            return f"needs {self.asks}, the node has none"
        if self.requested > self.allocatable:
            return f"needs {self.asks}, the whole node has {self._amount(self.allocatable)}"
        if self.resource == PODS:
            text = f"needs {self.asks}, the node has {self.used} of {self.allocatable} pods"
            return f"{text}, {self._kept}" if self.nominated else text
        free = f"{self._amount(max(self.free, 0))} free of {self._amount(self.allocatable)}"
        return f"needs {self.asks}, {free}: {self.detail}"

    @property
    def detail(self) -> str:
        if self.met or not self.allocatable or self.resource == PODS:
            return ""
        text = f"short by {self._amount(self.short)}"
        if self.nominated:
            text += f", {self._kept}"
        if self.top:
            text += f"; largest: {', '.join(map(self._holder_text, self.top))}"
        return text

    @property
    def _kept(self) -> str:
        return f"{self._amount(self.nominated)} of it kept for nominated pods"

    def _holder_text(self, holder: Holder) -> str:
        nominated = " (nominated)" if holder.nominated else ""
        return f"{holder.pod} {self._amount(holder.amount)}{nominated}"

    def _amount(self, amount: int) -> str:
        return amount_text(self.resource, amount)


def resource_room(plugin: Fit, state: object, at: AtNode) -> Iterator[ResourceRoom]:
    """Yield the place for the pod itself, then the resources it requests."""
    node = at.node
    allowed, n_pods = int(node.allowed_pods[0]), int(node.n_pods[0])
    yield ResourceRoom(
        met=n_pods + 1 <= allowed,
        resource=PODS,
        requested=1,
        allocatable=allowed,
        used=n_pods,
        nominated=_n_nominated(at),
        top=(),
    )
    requests: Mapping[str, int] = state_of(dict, state)
    for name, request in requests.items():
        allocatable, used = int(node.allocatable(name)[0]), int(node.requested(name)[0])
        by_devices = plugin.is_backed(name) and allocatable <= 0
        yield ResourceRoom(
            met=by_devices or request <= allocatable - used,
            resource=name,
            requested=request,
            allocatable=allocatable,
            used=used,
            nominated=_nominated_amount(at, name),
            top=largest_holders(at, name),
            by_devices=by_devices,
        )


def largest_holders(at: AtNode, resource: str) -> tuple[Holder, ...]:
    """Return the pods that take most of a resource of the node, among equals in its order."""
    added = {pod.uid for change in at.node.changes for pod in change.added}
    holders = [
        Holder(pod.key, amount, pod.uid in added)
        for pod in at.node.pods(0)
        if (amount := pod.template.requests.placed.get(resource, 0)) > 0
    ]
    return tuple(sorted(holders, key=lambda holder: -holder.amount)[:TOP])


def _n_nominated(at: AtNode) -> int:
    return sum(len(change.added) for change in at.node.changes)


def _nominated_amount(at: AtNode, resource: str) -> int:
    return sum(
        pod.template.requests.placed.get(resource, 0)
        for change in at.node.changes
        for pod in change.added
    )
