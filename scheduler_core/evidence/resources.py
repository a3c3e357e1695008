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
from scheduler_core.wording import say, series

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
            return say("fit.pod_place", "a place for one more pod")
        return f"{self._amount(self.requested)} {self.resource}"

    @property
    def has(self) -> str:
        if self.by_devices:
            return say(
                "fit.perhaps_devices", "no {resource} but perhaps devices", resource=self.resource
            )
        if not self.allocatable:
            return say("room.none_of", "no {resource}", resource=self.resource)
        return say(
            "fit.free_of",
            "{free} free of {allocatable}",
            free=self._amount(self.free),
            allocatable=self._amount(self.allocatable),
        )

    @property
    def sentence(self) -> str:
        if self.met:
            return say(
                "requirement.needs",
                "needs {asks}, the node has {has}",
                asks=self.asks,
                has=self.has,
            )
        if not self.allocatable:
            return say("fit.has_none", "needs {asks}, the node has none", asks=self.asks)
        if self.requested > self.allocatable:
            return say(
                "fit.too_large",
                "needs {asks}, the whole node has {allocatable}",
                asks=self.asks,
                allocatable=self._amount(self.allocatable),
            )
        if self.resource == PODS:
            text = say(
                "fit.too_many_pods",
                "needs {asks}, the node has {used} of {allocatable} pods",
                asks=self.asks,
                used=self.used,
                allocatable=self.allocatable,
            )
            return self._with_nominated(text)
        return say(
            "fit.short_of",
            "needs {asks}, {free} free of {allocatable}: {detail}",
            asks=self.asks,
            free=self._amount(max(self.free, 0)),
            allocatable=self._amount(self.allocatable),
            detail=self.detail,
        )

    @property
    def detail(self) -> str:
        if self.met or not self.allocatable or self.resource == PODS:
            return ""
        text = self._with_nominated(
            say("fit.short_by", "short by {short}", short=self._amount(self.short))
        )
        if self.top:
            largest = series(map(self._holder_text, self.top))
            return say("fit.short_largest", "{short}; largest: {pods}", short=text, pods=largest)
        return text

    def _with_nominated(self, text: str) -> str:
        """Return a text with what of the resource is kept for nominated pods, if any is."""
        if not self.nominated:
            return text
        nominated = self._amount(self.nominated)
        return say(
            "fit.kept_for_nominated",
            "{what}, {nominated} of it kept for nominated pods",
            what=text,
            nominated=nominated,
        )

    def _holder_text(self, holder: Holder) -> str:
        text = f"{holder.pod} {self._amount(holder.amount)}"
        return say("fit.nominated_pod", "{pod} (nominated)", pod=text) if holder.nominated else text

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
