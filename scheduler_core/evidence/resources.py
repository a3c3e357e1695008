"""Room for the pod's requests: what the node has, what is taken, and who takes most.

Upstream: v1.36 plugins/noderesources/fit.go (fitsRequest).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.amounts import scale_of
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence.requests import request_parts
from scheduler_core.evidence.requirement import AtNode, Requirement, state_of
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.wording import say, series, some_of

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
    `nominated` of it and are called `nominated_pods`. `top` are the pods that take most, the
    greatest first.
    """

    kind = "resource"
    resource: str
    requested: int
    allocatable: int
    used: int
    nominated: int
    top: tuple[Holder, ...]
    nominated_pods: tuple[str, ...] = ()
    made_of: str = ""
    """How the request comes about, where more than containers decides; empty otherwise."""
    overcommitted_by: str = ""
    """The pod with which the node's pods came to request more than it has; empty if they do not."""
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
    def _asks_in_full(self) -> str:
        if not self.made_of:
            return self.asks
        return say("fit.made_of", "{asks} ({parts})", asks=self.asks, parts=self.made_of)

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
            return say("fit.has_none", "needs {asks}, the node has none", asks=self._asks_in_full)
        if self.requested > self.allocatable:
            return say(
                "fit.too_large",
                "needs {asks}, the whole node has {allocatable}",
                asks=self._asks_in_full,
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
            if not self.nominated_pods:
                return text
            return say(
                "fit.counting_nominated",
                "{what}, counting {pods} (nominated)",
                what=text,
                pods=some_of(self.nominated_pods, most=TOP),
            )
        return self._short_of(self.detail)

    def _short_of(self, detail: str) -> str:
        return say(
            "fit.short_of",
            "needs {asks}, {free} free of {allocatable}: {detail}",
            asks=self._asks_in_full,
            free=self._amount(max(self.free + self.nominated, 0)),
            allocatable=self._amount(self.allocatable),
            detail=detail,
        )

    @property
    def headline(self) -> str:
        if self.met or self.resource == PODS or self.requested > self.allocatable:
            return self.sentence
        return self._short_of(self._short_by)

    @property
    def detail(self) -> str:
        if self.met or not self.allocatable or self.resource == PODS:
            return ""
        short = self._short_by
        if self.overcommitted_by:
            short = say(
                "fit.overcommitted",
                "{short}; over-committed by {amount} since {pod}",
                short=short,
                amount=self._amount(self.used - self.nominated - self.allocatable),
                pod=self.overcommitted_by,
            )
        if not self.top:
            return short
        largest = series(map(self._holder_text, self.top))
        return say("fit.short_largest", "{short}; largest: {pods}", short=short, pods=largest)

    @property
    def _short_by(self) -> str:
        return self._with_nominated(
            say("fit.short_by", "short by {short}", short=self._amount(self.short))
        )

    def _with_nominated(self, text: str) -> str:
        """Return how much is short, with how much of what is free is kept for nominated pods."""
        if not self.nominated:
            return text
        amount, pods = self._amount(self.nominated), some_of(self.nominated_pods, most=TOP)
        if len(self.nominated_pods) == 1:
            return say(
                "fit.kept_for_pod",
                "{what}, {amount} kept for nominated pod {pods}",
                what=text,
                amount=amount,
                pods=pods,
            )
        return say(
            "fit.kept_for_pods",
            "{what}, {amount} kept for nominated pods {pods}",
            what=text,
            amount=amount,
            pods=pods,
        )

    def _holder_text(self, holder: Holder) -> str:
        text = f"{holder.pod} {self._amount(holder.amount)}"
        return say("fit.nominated_pod", "{pod} (nominated)", pod=text) if holder.nominated else text

    def _amount(self, amount: int) -> str:
        free = max(self.free + self.nominated, 0)
        amounts = (self.requested, free, self.allocatable, max(self.short, 0))
        return scale_of(self.resource, amounts).text(amount)


def resource_room(plugin: Fit, state: object, at: AtNode) -> Iterator[ResourceRoom]:
    """Yield the place for the pod itself, then the resources it requests."""
    node = at.node
    allowed, n_pods = int(node.allowed_pods[0]), int(node.n_pods[0])
    nominated = _nominated(at)
    yield ResourceRoom(
        met=n_pods + 1 <= allowed,
        resource=PODS,
        requested=1,
        allocatable=allowed,
        used=n_pods,
        nominated=len(nominated),
        top=(),
        nominated_pods=tuple(pod.key for pod in nominated),
    )
    requests: Mapping[str, int] = state_of(dict, state)
    parts = _parts_of(at)
    for name, request in requests.items():
        allocatable, used = int(node.allocatable(name)[0]), int(node.requested(name)[0])
        by_devices = plugin.is_backed(name) and allocatable <= 0
        takes = {pod.key: pod.template.requests.placed.get(name, 0) for pod in nominated}
        held = sum(takes.values())
        is_above = used - held > allocatable
        yield ResourceRoom(
            met=by_devices or request <= allocatable - used,
            resource=name,
            requested=request,
            allocatable=allocatable,
            used=used,
            nominated=held,
            made_of=parts.get(name, ""),
            overcommitted_by=_first_above(at, name, allocatable) if is_above else "",
            top=largest_holders(at, name),
            nominated_pods=tuple(pod for pod, amount in takes.items() if amount),
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


def _parts_of(at: AtNode) -> dict[str, str]:
    """How each request comes about that is not just the sum of containers."""
    counted = at.node.cluster.templates.counted
    return {
        each.resource: each.made_of
        for each in request_parts(at.pod, pod_level=counted.pod_level)
        if each.made_of
    }


def _first_above(at: AtNode, resource: str, allocatable: int) -> str:
    """Return the pod, in order of creation, with which the requests go above what the node has."""
    nominated = {pod.uid for pod in _nominated(at)}
    pods = [pod for pod in at.node.pods(0) if pod.uid not in nominated]
    total = 0
    for pod in sorted(pods, key=lambda each: each.pod.metadata.creation_timestamp or 0):
        total += pod.template.requests.placed.get(resource, 0)
        if total > allocatable:
            return pod.key
    return ""


def _nominated(at: AtNode) -> list[PodInfo]:
    return [pod for change in at.node.changes for pod in change.added]
