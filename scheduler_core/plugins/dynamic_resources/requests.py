"""The requests of a claim, exact ones and alternatives alike.

Upstream: v1.36 structured/internal/incubating/allocator_incubating.go (requestAccessor).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scheduler_core.api import (
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from scheduler_core.devices.pools import Pool
from scheduler_core.devices.slices import SliceDevice

EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


@dataclass(frozen=True, eq=False, slots=True)
class Request:
    """A request, or one alternative of the request `parent`."""

    name: str
    parent: str
    class_name: str
    selectors: Sequence[DeviceSelector]
    mode: str
    count: int
    tolerations: tuple[DeviceToleration, ...]
    capacity: Mapping[str, str] | None
    derives_attributes: bool
    names_admin_access: bool = False
    admin_access: bool = False

    @property
    def full_name(self) -> str:
        """Return how an allocation refers to it: `name`, or `parent/name`."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def base_name(self) -> str:
        """Return the name of the request in the claim."""
        return self.parent or self.name

    @property
    def wants_all(self) -> bool:
        return self.mode == ALL


def alternatives(request: DeviceRequest) -> list[Request]:
    """Return what may serve a request: one for an exact one, several in order of preference."""
    if request.first_available:
        return [_made(each.name, request.name, each) for each in request.first_available]
    return [] if request.exactly is None else [_exact(request.name, request.exactly)]


def _exact(name: str, exactly: ExactDeviceRequest) -> Request:
    return _made(
        name,
        "",
        exactly,
        names_admin_access=exactly.admin_access is not None,
        admin_access=bool(exactly.admin_access),
    )


def _made(
    name: str,
    parent: str,
    given: ExactDeviceRequest | DeviceSubRequest,
    *,
    names_admin_access: bool = False,
    admin_access: bool = False,
) -> Request:
    return Request(
        name=name,
        parent=parent,
        class_name=given.device_class_name,
        selectors=given.selectors,
        mode=given.allocation_mode,
        count=given.count,
        tolerations=given.tolerations,
        capacity=None if given.capacity is None else given.capacity.requests,
        derives_attributes=bool(given.derived_attributes),
        names_admin_access=names_admin_access,
        admin_access=admin_access,
    )


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A device that can be used on the node, and its pool."""

    device: SliceDevice
    pool: Pool


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """What it takes to serve a request; `all_devices` are those that mode All has to have."""

    request: Request
    device_class: DeviceClass
    n_devices: int
    all_devices: Sequence[Candidate] = ()


@dataclass(eq=False, slots=True)
class ClaimPlan:
    """A claim's requests, each with the plans that may serve it; `chosen` of them is used."""

    claim: ResourceClaim
    requests: list[list[Plan]] = field(default_factory=list)
    chosen: dict[int, int] = field(default_factory=dict)

    def is_list(self, request: int) -> bool:
        """Tell whether a request is a prioritised list."""
        return bool(self.claim.spec.devices.requests[request].first_available)

    def plan(self, request: int) -> Plan:
        """Return the plan that was chosen for a request."""
        return self.requests[request][self.chosen.get(request, 0)]
