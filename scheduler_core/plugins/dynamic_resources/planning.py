"""What it takes to serve the claims on a node, before any device is taken.

Upstream: v1.36 structured/internal/incubating/allocator_incubating.go (validateDeviceRequest,
isSelectable).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scheduler_core.api import DeviceSelector, Node, ResourceClaim
from scheduler_core.devices.cel import CelProblem
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.pools import Pool
from scheduler_core.devices.slices import NodeSelectorError, SliceDevice
from scheduler_core.plugins.dynamic_resources.capacity import out_of_range
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.requests import (
    EXACT_COUNT,
    Candidate,
    ClaimPlan,
    Plan,
    Request,
    alternatives,
)

MAX_DEVICES: Final = 32
"""So many devices one claim may be given (AllocationResultsMaxSize)."""


class AllocationError(ValueError):
    """A claim, a class or a slice is wrong in itself: no node is looked at any further."""


ADVICE: Final = (
    "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields"
)


def with_advice(error: str) -> str:
    """Return a selector's error, with advice where a key is missing (from v1.37 on)."""
    return f"{error}. {ADVICE}" if "no such key: " in error else error


@dataclass(frozen=True, slots=True)
class Refusing:
    """The selector that does not select a device: it is false for it, or ends in an error."""

    position: int
    expression: str
    answer: Literal[False] | CelProblem


def first_refusing(
    selectors: Sequence[DeviceSelector], device: SliceDevice, *, shareable: bool
) -> Refusing | None:
    """Return the first selector that does not select a device, None if all do."""
    for i, selector in enumerate(selectors):
        expression = selector.cel.expression if selector.cel else ""
        answer = device.matches(expression, shareable=shareable)
        if answer is not True:
            return Refusing(i, expression, answer)
    return None


class Planner:
    """Looks over the requests for one node."""

    def __init__(
        self,
        devices: Devices,
        gates: AllocatorGates,
        node: Node,
        pools: Sequence[Pool],
        has_room: Callable[[Request, Candidate], bool],
    ) -> None:
        self._devices = devices
        self._gates = gates
        self._node = node
        self._pools = pools
        self._has_room = has_room
        self._on_node: dict[SliceDevice, bool] = {}

    def plan(self, claim: ResourceClaim) -> ClaimPlan:
        """Return the plans of a claim's requests. Raises AllocationError."""
        planned = ClaimPlan(claim)
        fewest = 0
        for given in claim.spec.devices.requests:
            if given.first_available and not self._gates.prioritized_list:
                what = "has subrequests, but the DRAPrioritizedList feature is disabled"
                raise AllocationError(f"claim {claim.key}, request {given.name}: {what}")
            plans = [self._plan(claim, each) for each in alternatives(given)]
            planned.requests.append(plans)
            least = min((plan.n_devices for plan in plans), default=0)
            if self._gates.claim_limit_by_request and fewest + least > MAX_DEVICES:
                what = f"adding {least} devices exceeds the claim limit of {MAX_DEVICES}"
                before = f"with {fewest} already accounted for"
                raise AllocationError(f"claim {claim.key}, request {given.name}: {what}, {before}")
            fewest += least
        if fewest > MAX_DEVICES:
            what = f"exceeds the claim limit of {MAX_DEVICES}"
            raise AllocationError(f"claim {claim.key}: number of requested devices {fewest} {what}")
        return planned

    def _plan(self, claim: ResourceClaim, request: Request) -> Plan:
        def error(what: str) -> AllocationError:
            return AllocationError(f"claim {claim.key}, request {request.name}: {what}")

        refuses = not (self._gates.consumable_capacity or self._gates.stable_suffices)
        if request.capacity is not None and refuses:
            kind = "subrequest" if request.parent else "request"
            what = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
            raise AllocationError(f"claim {claim.key}, {kind} {request.name}: {what}")
        if request.derives_attributes and self._gates.derived_attributes_refused:
            raise error("cannot handle request with derived attributes, the feature is disabled")
        for i, selector in enumerate(request.selectors):
            if selector.cel is None:
                what = "CEL expression empty (unsupported selector type?)"
                raise AllocationError(
                    f"claim {claim.key}, request {request.name}, selector #{i}: {what}"
                )
        if request.names_admin_access and not self._gates.admin_access:
            raise error("admin access is requested, but the feature is disabled")
        if not request.class_name:
            raise error("missing device class name (unsupported request type?)")
        device_class = self._devices.device_class(request.class_name)
        if device_class is None:
            missing = f'deviceclass.resource.k8s.io "{request.class_name}" not found'
            raise error(f"could not retrieve device class {request.class_name}: {missing}")
        if request.mode == EXACT_COUNT:
            return Plan(request, device_class, request.count)
        if not request.wants_all:
            raise error(f"unsupported count mode {request.mode}")
        devices = self._all_devices(claim, Plan(request, device_class, 0), error)
        return Plan(request, device_class, len(devices), devices)

    def _all_devices(
        self, claim: ResourceClaim, plan: Plan, error: Callable[[str], AllocationError]
    ) -> list[Candidate]:
        """Return the devices that mode All has to have; every pool must be in order for it."""
        found: list[Candidate] = []
        for pool in self._pools:
            state = "being updated" if pool.incomplete else "invalid" if pool.invalid else ""
            if state:
                what = f"resource pool {pool.id} is currently {state}"
                raise error(f"asks for all devices, but {what}")
            for device in pool.devices:
                candidate = Candidate(device, pool)
                if self.is_selectable(claim, plan, candidate):
                    self.check_capacities(claim, plan, device, device.device.name)
                    if self._has_room(plan.request, candidate):
                        found.append(candidate)
        return found

    def check_capacities(
        self, claim: ResourceClaim, plan: Plan, device: SliceDevice, name: str
    ) -> None:
        """Raise AllocationError for a requested capacity that cannot be rounded on a device.

        A switch of the releases; `name` is the device's in the error.
        """
        gates, request = self._gates, plan.request
        if not (gates.consumable_capacity and gates.capacities_in_range):
            return
        if error := out_of_range(
            device.device.capacity, request.capacity, fractions=gates.fractional_ranges
        ):
            what = f"checking capacity for device {name}: {error}"
            raise AllocationError(f"claim {claim.key}, request {request.name}: {what}")

    def is_selectable(self, claim: ResourceClaim, plan: Plan, candidate: Candidate) -> bool:
        """Tell whether class, request and node select a device. Raises AllocationError."""
        device = candidate.device
        if device.device.binding_conditions and not self._gates.binding_conditions:
            return False
        of_class = plan.device_class
        return (
            self._select(of_class.spec.selectors, device, f"class {of_class.name}")
            and self._select(plan.request.selectors, device, f"claim {claim.key}")
            and self.is_on_node(device)
        )

    def _select(self, selectors: Sequence[DeviceSelector], device: SliceDevice, whose: str) -> bool:
        shareable = self._gates.shows_as_shareable(device.device)
        refusing = first_refusing(selectors, device, shareable=shareable)
        if refusing is None:
            return True
        if isinstance(refusing.answer, CelProblem):
            what = f"selector #{refusing.position}"
            text = refusing.answer.text
            if self._gates.errors_name_device:
                what, text = f"{what} on device {device.id}", with_advice(text)
            raise AllocationError(f"{whose}: {what}: {text}")
        return False

    def is_on_node(self, device: SliceDevice) -> bool:
        if not device.slice.spec.per_device_node_selection:
            return True
        known = self._on_node.get(device)
        if known is None:
            try:
                known = self._on_node[device] = device.is_on(self._node)
            except NodeSelectorError as error:
                raise AllocationError(str(error)) from None
        return known
