"""Resource claims: what they request of a node's devices.

Upstream: v1.36 plugins/dynamicresources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from scheduler_core.api import DeviceRequest, ResourceClaim
from scheduler_core.api.selectors import node_selector_matches
from scheduler_core.evidence.raw_score import RawScore
from scheduler_core.evidence.requirement import AtNode, Requirement, state_of
from scheduler_core.framework.status import Status
from scheduler_core.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME
from scheduler_core.plugins.dynamic_resources.filtering import NOT_AVAILABLE
from scheduler_core.plugins.dynamic_resources.plugin import DynamicResources, Preference
from scheduler_core.plugins.dynamic_resources.state import ClaimsState, node_selector_of
from scheduler_core.wording import OR, say, series

ALL = "All"


@dataclass(frozen=True, slots=True)
class RequestedDevices:
    """One request of a claim: so many devices of a class, or all of them (`count` None).

    Of a prioritised list each alternative makes one, under `request/alternative`.
    """

    request: str
    device_class: str
    count: int | None
    selectors: int

    @property
    def text(self) -> str:
        count, device_class, n = self.count, self.device_class, self.selectors
        if count is None:
            text = say(
                "claim.all_of_class", "all of class {device_class}", device_class=device_class
            )
        else:
            text = say(
                "claim.some_of_class",
                "{n} of class {device_class}",
                n=count,
                device_class=device_class,
            )
        if n == 1:
            return say("claim.with_selector", "{devices} (1 selector)", devices=text)
        return (
            say("claim.with_selectors", "{devices} ({n} selectors)", devices=text, n=n)
            if n
            else text
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesAvailable(Requirement):
    """A resource claim: its devices must be usable on the node, or available there.

    `allocated` says that it has its devices already. `reason` is the plugin's, empty if met.
    """

    kind = "resourceClaim"
    claim: str
    allocated: bool
    requests: tuple[RequestedDevices, ...]
    reason: str

    @property
    def asks(self) -> str:
        by_request = groupby(self.requests, key=lambda each: each.request.partition("/")[0])
        if self.claim.endswith(f"/{IN_MEMORY_NAME}"):
            return say("claim.devices_extended", "devices for the extended resources it requests")
        wanted = series(series((each.text for each in any_of), OR) for _, any_of in by_request)
        if not wanted:
            return say("claim.devices_for", "devices for claim {claim}", claim=self.claim)
        return say("claim.for", "{devices} for claim {claim}", devices=wanted, claim=self.claim)

    @property
    def has(self) -> str:
        if self.allocated:
            return (
                say("claim.access", "access to its devices")
                if self.met
                else say("claim.no_access", "no access to its devices")
            )
        return (
            say("claim.them", "them")
            if self.met
            else say("claim.not_enough", "too few that can be allocated")
        )

    @property
    def headline(self) -> str:
        return say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )

    @property
    def sentence(self) -> str:
        text = say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )
        return (
            say("list.what_why", "{what}: {why}", what=text, why=self.reason)
            if self.reason
            else text
        )


def devices_available(state: object, at: AtNode, status: Status) -> Iterator[DevicesAvailable]:
    """Yield the pod's claims; those that may have made the plugin reject the node are not met."""
    prepared = state_of(ClaimsState, state)
    claims = list(prepared.claims)
    suspects = [claim.key for claim in claims if not _is_usable(claim, at)]
    if status.message != NOT_AVAILABLE or not suspects:
        suspects = [claim.key for claim in claims if claim.status.allocation is None] or suspects
    if not suspects:
        suspects = [claim.key for claim in claims]
    for claim in claims:
        met = status.is_success or claim.key not in suspects
        yield DevicesAvailable(
            met=met,
            claim=claim.key,
            allocated=claim.status.allocation is not None,
            requests=tuple(
                each for request in claim.spec.devices.requests for each in _requested(request)
            ),
            reason="" if met else status.message,
        )


def _is_usable(claim: ResourceClaim, at: AtNode) -> bool:
    selector, node = node_selector_of(claim), at.node.node(0)
    return selector is None or node_selector_matches(selector, node.metadata.labels, node.name)


def _requested(request: DeviceRequest) -> Iterator[RequestedDevices]:
    exactly = request.exactly
    if exactly is not None:
        yield RequestedDevices(
            request.name,
            exactly.device_class_name,
            None if exactly.allocation_mode == ALL else exactly.count or 1,
            len(exactly.selectors),
        )
    for each in request.first_available:
        yield RequestedDevices(
            f"{request.name}/{each.name}",
            each.device_class_name,
            None if each.allocation_mode == ALL else each.count or 1,
            len(each.selectors),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceScore(RawScore):
    """How high in their lists the alternatives stand that the node would give."""

    kind = "devices"
    formula = say(
        "devices.score_formula",
        "sum over prioritised lists of 8 - position of the alternative that was taken",
    )
    alternatives: tuple[Preference, ...]

    @property
    def value(self) -> int:
        return sum(each.points for each in self.alternatives)

    @property
    def text(self) -> str:
        parts = (f"{each.points} ({each.request}/{each.name})" for each in self.alternatives)
        return f"{' + '.join(parts) or 0} = {self.value}"


def device_score(plugin: DynamicResources, state: object, at: AtNode) -> DeviceScore:
    prepared = state_of(ClaimsState, state)
    return DeviceScore(alternatives=tuple(plugin.preferences(prepared, at.node_name)))
