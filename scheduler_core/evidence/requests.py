"""How a pod's request comes about: containers, sidecars, init containers, pod level, overhead.

Upstream: v1.36 component-helpers/resource/helpers.go (PodRequests).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scheduler_core.amounts import scale_of
from scheduler_core.api import Container
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import (
    as_integers,
    is_pod_level_resource,
    parse_resources,
)
from scheduler_core.wording import say

Role = Literal["container", "sidecar", "init"]


@dataclass(frozen=True, slots=True)
class ContainerShare:
    """What one container requests of a resource.

    An init container needs it together with the sidecars started before it: `beside`.
    """

    name: str
    role: Role
    amount: int
    beside: int = 0


@dataclass(frozen=True, slots=True)
class RequestParts:
    """How the request for one resource comes about: cpu in milli, others in bytes or units.

    `decided_by` says which of them counts: the containers and sidecars, which run together; a
    step of the init containers, if it needs more; or what the pod asks for at pod level.
    """

    resource: str
    total: int
    main: int
    init: int
    pod_level: int | None
    overhead: int
    decided_by: Literal["containers", "init", "podLevel"]
    shares: tuple[ContainerShare, ...]

    @property
    def is_composed(self) -> bool:
        """Return whether more than the containers decides."""
        return self.decided_by != "containers" or bool(self.overhead)

    @property
    def made_of(self) -> str:
        """Return what it is made of, `containers 8 + sidecar 8`; empty if it is of containers."""
        if self.decided_by == "init":
            return self._by_init
        n_sidecars = sum(each.role == "sidecar" for each in self.shares)
        if self.pod_level is not None:
            what = self._at_pod_level(self.pod_level)
        elif n_sidecars:
            what = self._with_sidecars(n_sidecars)
        elif self.overhead:
            what = say("requests.containers", "containers {main}", main=self._amount(self.main))
        else:
            return ""
        if not self.overhead:
            return what
        return say(
            "requests.overhead",
            "{parts} + overhead {overhead}",
            parts=what,
            overhead=self._amount(self.overhead),
        )

    def _at_pod_level(self, amount: int) -> str:
        return say("requests.of_pod", "pod level {level}", level=self._amount(amount))

    def _with_sidecars(self, n_sidecars: int) -> str:
        sidecars = sum(each.amount for each in self.shares if each.role == "sidecar")
        main, amount = self._amount(self.main - sidecars), self._amount(sidecars)
        if n_sidecars == 1:
            return say(
                "requests.with_sidecar",
                "containers {main} + sidecar {amount}",
                main=main,
                amount=amount,
            )
        return say(
            "requests.with_sidecars",
            "containers {main} + sidecars {amount}",
            main=main,
            amount=amount,
        )

    @property
    def _by_init(self) -> str:
        """Say which init container decides; it may be the sidecars that are started before it."""
        steps = [each for each in self.shares if each.role == "init"]
        name = max(steps, key=lambda each: each.amount + each.beside).name
        return say(
            "requests.by_init",
            "from init container {name}; {main} afterwards",
            name=name,
            main=self._amount(self.main + self.overhead),
        )

    @property
    def text(self) -> str:
        """Return the sum with its numbers: `2 = max(containers 1500m, init 2)`."""
        parts = say("requests.containers", "containers {main}", main=self._amount(self.main))
        if self.init:
            parts = say(
                "requests.max_init",
                "max({parts}, init {init})",
                parts=parts,
                init=self._amount(self.init),
            )
        if self.pod_level is not None:
            parts = say(
                "requests.pod_level",
                "pod level {pod_level} in place of {parts}",
                pod_level=self._amount(self.pod_level),
                parts=parts,
            )
        if self.overhead:
            overhead = self._amount(self.overhead)
            parts = say(
                "requests.overhead", "{parts} + overhead {overhead}", parts=parts, overhead=overhead
            )
        return say(
            "score.sum",
            "{sum} = {value}",
            sum=f"{self._amount(self.total)} {self.resource}",
            value=parts,
        )

    def _amount(self, amount: int) -> str:
        amounts = (self.total, self.main, self.init, self.pod_level or 0, self.overhead)
        return scale_of(self.resource, amounts).text(amount)


def request_parts(pod: PodInfo, *, pod_level: bool) -> tuple[RequestParts, ...]:
    """Return the parts of every resource that the pending pod asks for, in its order.

    `pod_level` says whether requests at pod level count (feature gate PodLevelResources).
    """
    asked = pod.template.requests.asked
    return tuple(_parts(pod, name, asked[name], pod_level) for name in asked if asked[name])


def _parts(pod: PodInfo, resource: str, total: int, pod_level: bool) -> RequestParts:
    spec = pod.pod.spec
    shares = [_share(each, "container", resource) for each in spec.containers]
    main, sidecars, stage = sum(share.amount for share in shares), 0, 0
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            share = _share(container, "sidecar", resource)
            sidecars += share.amount
            main += share.amount
            stage = max(stage, sidecars)
        else:
            share = _share(container, "init", resource, beside=sidecars)
            stage = max(stage, share.amount + sidecars)
        shares.append(share)
    level = None
    if pod_level and spec.resources is not None and is_pod_level_resource(resource):
        level = _amounts(spec.resources.requests).get(resource)
    of_containers: Literal["containers", "init"] = "init" if stage > main else "containers"
    return RequestParts(
        resource=resource,
        total=total,
        main=main,
        init=max(
            (share.amount + share.beside for share in shares if share.role == "init"), default=0
        ),
        pod_level=level,
        overhead=_amounts(spec.overhead).get(resource, 0),
        decided_by=of_containers if level is None else "podLevel",
        shares=tuple(share for share in shares if share.amount),
    )


def _share(container: Container, role: Role, resource: str, beside: int = 0) -> ContainerShare:
    amount = _amounts(container.resources.requests).get(resource, 0)
    return ContainerShare(container.name, role, amount, beside)


def _amounts(resources: dict[str, str]) -> dict[str, int]:
    return as_integers(parse_resources(resources))
