"""Finding devices for claims on one node: depth first, the first complete solution.

Upstream: v1.36 structured/internal/incubating/allocator_incubating.go, which the default gates
select. The order of candidates, what is tried again and what a failed attempt leaves booked (up to
v1.36.2) are upstream's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from scheduler_core.api import (
    AllocationResult,
    Device,
    DeviceTaint,
    DeviceToleration,
    Node,
    ResourceClaim,
)
from scheduler_core.devices.allocated import (
    AllocatedState,
    Consumed,
    add_consumed,
    consumption,
    remove_consumed,
)
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.pools import Pool, PoolError, gather_pools
from scheduler_core.devices.slices import DeviceId
from scheduler_core.plugins.dynamic_resources.capacity import (
    NOTHING,
    NoRoom,
    consumption_of,
    no_room,
)
from scheduler_core.plugins.dynamic_resources.constraints import Constraint, constraint_of
from scheduler_core.plugins.dynamic_resources.counters import AvailableCounters, CounterAccount
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.planning import AllocationError, Planner
from scheduler_core.plugins.dynamic_resources.requests import Candidate, ClaimPlan, Plan, Request
from scheduler_core.plugins.dynamic_resources.results import Given, allocation_result

MAX_RESULTS: Final = 32
"""So many devices one claim may be given (AllocationResultsMaxSize)."""

MAX_STEPS: Final = 100_000
"""Candidates looked at on one node before the search counts as timed out (ADR 0025)."""

INVALID_POOLS: Final = "invalid resource pools were encountered"

BLOCKING_EFFECTS: Final = ("NoSchedule", "NoExecute")

Undo = Callable[[], None]


class TimedOut(Exception):
    """The search has looked at too many candidates."""


class Outcome(Enum):
    DONE = "done"
    FAILED = "failed"
    TOO_MANY = "too many devices for one claim"


@dataclass(frozen=True, slots=True)
class Allocated:
    """What a search came to: allocations, one per claim, or a reason why there are none."""

    results: Sequence[AllocationResult] = ()
    reason: str = ""


class Allocator:
    """Allocates the claims of one pod, on one node after another."""

    def __init__(self, devices: Devices, gates: AllocatorGates) -> None:
        self.devices = devices
        self.gates = gates
        self.state = devices.allocated_state()
        self.available = AvailableCounters(self.state, by_driver=gates.counters_by_driver)

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> Allocated | None:
        """Return allocations of all claims that can be used on the node, None if there are none.

        Raises AllocationError for what is wrong with a claim, a class or a slice, and TimedOut.
        """
        try:
            pools = self.pools(node)
        except PoolError as error:
            raise AllocationError(f"gather pool information: {error}") from None
        planner = Planner(self.devices, self.gates, node, pools, self._has_room_at_first)
        plans = [planner.plan(claim) for claim in claims]
        search = Search(self, planner, plans, pools)
        try:
            done = search.run()
        except RecursionError:
            raise TimedOut from None
        if not done:
            invalid = any(pool.invalid for pool in pools)
            return Allocated(reason=INVALID_POOLS) if invalid else None
        return Allocated(
            [
                allocation_result(plan, given, node.name, self.gates, self.devices.new_share_id)
                for plan, given in zip(plans, search.given, strict=True)
            ]
        )

    def pools(self, node: Node) -> list[Pool]:
        """Return the pools that the search on a node looks at. Raises PoolError."""
        return gather_pools(
            self.devices.slices,
            node,
            partitionable=self.gates.partitionable_devices,
            counters_everywhere=self.gates.counters_everywhere,
        )

    def _has_room_at_first(self, request: Request, candidate: Candidate) -> bool:
        """Tell whether mode All means a device: what others use of it counts, or does not."""
        in_use = not self.gates.all_despite_use
        return self.no_room(request, candidate, NOTHING, in_use=in_use) is None

    def is_shared(self, device: DeviceId) -> bool:
        """Tell whether shares of a device in use keep further ones from taking its counters.

        Before a switch of the releases a share that consumes nothing is forgotten.
        """
        once = self.gates.shares_charged_once and self.state.has_share(device)
        return once or device in self.state.capacity

    def no_room(
        self,
        request: Request,
        candidate: Candidate,
        being_consumed: Mapping[str, int],
        *,
        in_use: bool = True,
    ) -> NoRoom | None:
        """Return why a device's capacity does not hold a request (gate DRAConsumableCapacity).

        What allocated claims consume counts if `in_use`.
        """
        if not self.gates.consumable_capacity:
            return None
        device = candidate.device
        consumed = self.state.capacity.get(device.id, NOTHING) if in_use else NOTHING
        return no_room(
            device.device.capacity,
            request.capacity,
            consumed,
            being_consumed,
            fractions=self.gates.fractional_ranges,
        )


@dataclass(slots=True)
class _Booked:
    """What was booked of a device for a request, step by step."""

    claim: int
    request: Request
    candidate: Candidate
    shared: bool
    further_share: bool = False
    counters: bool = False
    constraints: bool = False
    given: Given | None = None


class Search:
    """One search: what is taken so far, and how to go on from there."""

    def __init__(
        self,
        allocator: Allocator,
        planner: Planner,
        plans: Sequence[ClaimPlan],
        pools: Iterable[Pool],
    ) -> None:
        self._allocator = allocator
        self._planner = planner
        self._gates = allocator.gates
        self._state: AllocatedState = allocator.state
        self._plans = plans
        self._candidates = [
            Candidate(device, pool) for pool in pools if pool.usable for device in pool.devices
        ]
        self._constraints = [constraints_of(plan.claim, self._gates) for plan in plans]
        self._counters = CounterAccount(allocator.available)
        self._taken_by: dict[DeviceId, set[int]] = {}
        self._being_consumed: dict[DeviceId, Consumed] = {}
        self._n_steps = 0
        self.given: list[list[Given]] = [[] for _ in plans]

    def run(self) -> bool:
        """Tell whether all claims can be allocated; if so, `given` says how."""
        return self._go_on(0, 0) is Outcome.DONE

    # ------------------------------------------------------------ from request to request

    def _go_on(self, claim: int, request: int) -> Outcome:
        """Serve all requests from this one on."""
        if claim >= len(self._plans):
            return Outcome.DONE
        plan = self._plans[claim]
        if request >= len(plan.requests):
            outcome = self._go_on(claim + 1, 0)
            # The next claim may need fewer devices once an earlier one is served otherwise.
            return Outcome.FAILED if outcome is Outcome.TOO_MANY else outcome
        if not plan.is_list(request):
            return self._serve(claim, request, plan.requests[request][0], 0, 0)
        all_too_many = True
        for i, alternative in enumerate(plan.requests[request]):
            outcome = self._serve(claim, request, alternative, 0, 0)
            if outcome is Outcome.DONE:
                plan.chosen[request] = i
                return outcome
            all_too_many = all_too_many and outcome is Outcome.TOO_MANY
        return Outcome.TOO_MANY if all_too_many else Outcome.FAILED

    def _serve(self, claim: int, request: int, plan: Plan, n_done: int, start: int) -> Outcome:
        """Find the rest of a request's devices among the candidates from `start` on.

        Within a request each set of devices is tried in one order only.
        """
        if plan.request.wants_all and not plan.all_devices:
            return Outcome.FAILED
        if n_done >= plan.n_devices:
            return self._go_on(claim, request + 1)
        if len(self.given[claim]) + plan.n_devices - n_done > MAX_RESULTS:
            return Outcome.TOO_MANY
        if plan.request.wants_all:
            undo = self._take(claim, plan, plan.all_devices[n_done], must=True)
            if undo is None:
                return Outcome.FAILED
            outcome = self._serve(claim, request, plan, n_done + 1, 0)
            if outcome is not Outcome.DONE:
                undo()
            return outcome
        for i in range(start, len(self._candidates)):
            candidate = self._candidates[i]
            if not self._is_worth_trying(claim, plan, candidate):
                continue
            undo = self._take(claim, plan, candidate, must=False)
            if undo is None:
                continue
            outcome = self._serve(claim, request, plan, n_done + 1, i + 1)
            if outcome is Outcome.DONE:
                return outcome
            undo()
            if outcome is Outcome.TOO_MANY:
                return outcome
        return Outcome.FAILED

    # ------------------------------------------------------------ one device

    def _is_worth_trying(self, claim: int, plan: Plan, candidate: Candidate) -> bool:
        self._n_steps += 1
        if self._n_steps > MAX_STEPS:
            raise TimedOut
        if self._is_taken(claim, plan.request, candidate.device.id):
            return False
        item, device = self._plans[claim].claim, candidate.device
        if not self._planner.is_selectable(item, plan, candidate):
            return False
        self._planner.check_capacities(item, plan, device, str(device.id))
        return self._has_room(plan.request, candidate)

    def _is_taken(self, claim: int, request: Request, device: DeviceId) -> bool:
        """Tell whether a device is in use; for admin access only this claim's use counts."""
        taken_by = self._taken_by.get(device)
        if request.admin_access:
            return taken_by is not None and claim in taken_by
        return device in self._state.devices or bool(taken_by)

    def _has_room(self, request: Request, candidate: Candidate) -> bool:
        being_consumed = self._being_consumed.get(candidate.device.id, {})
        return self._allocator.no_room(request, candidate, being_consumed) is None

    def _take(self, claim: int, plan: Plan, candidate: Candidate, *, must: bool) -> Undo | None:
        """Take a device for a request; return how to give it back, None if it is not available.

        A device refused late gives back what was booked for it, or leaves its counters booked (and
        if its capacity has run out, the constraints), as the release has it. Raises AllocationError
        if a device of mode All (`must`) goes against a constraint.
        """
        device, request = candidate.device, plan.request
        shared = self._gates.consumable_capacity and device.device.allow_multiple_allocations
        if (not shared or not request.admin_access) and self._is_taken(claim, request, device.id):
            return None
        booked = _Booked(claim, request, candidate, shared)
        if self._book(booked, plan, must=must):
            return lambda: self._give_back(booked)
        if self._gates.refused_give_back:
            self._give_back(booked)
        return None

    def _book(self, booked: _Booked, plan: Plan, *, must: bool) -> bool:
        """Book a device step by step; tell whether it passes all checks. Raises AllocationError."""
        claim, candidate, shared = booked.claim, booked.candidate, booked.shared
        device, request = candidate.device, booked.request
        booked.further_share = shared and self._is_shared(device.id)
        if device.device.consumes_counters:
            if not self._gates.partitionable_devices:
                return False
            if not booked.further_share:
                if not self._counters.take(candidate):
                    return False
                booked.counters = True
        if (
            self._gates.device_taints
            and untolerated_taint(device.device, request.tolerations) is not None
        ):
            return False
        if not self._meets_constraints(claim, plan, candidate, must=must):
            return False
        booked.constraints = True
        taken_by = self._taken_by.setdefault(device.id, set())
        if not shared:
            taken_by.add(claim)
        if not self._has_room(request, candidate):
            return False
        consumed: dict[str, str] = {}
        if shared:
            consumed = consumption_of(
                device.device.capacity, request.capacity, fractions=self._gates.fractional_ranges
            )
            add_consumed(self._being_consumed, device.id, consumption(consumed))
        booked.given = Given(request, device, shared, consumed)
        self.given[claim].append(booked.given)
        return True

    def _give_back(self, booked: _Booked) -> None:
        """Undo the steps that were made, the last one first."""
        device = booked.candidate.device
        if booked.given is not None:
            self.given[booked.claim].pop()
            self._give_back_capacity(booked, booked.given)
        if not booked.shared:
            self._taken_by.get(device.id, set()).discard(booked.claim)
        if booked.constraints:
            for constraint in reversed(self._constraints[booked.claim]):
                constraint.remove(booked.request, device)
        if booked.counters and (self._gates.refused_give_back or not booked.shared):
            self._counters.give_back(booked.candidate)

    def _give_back_capacity(self, booked: _Booked, given: Given) -> None:
        """Take off what a share consumes.

        Where all is given back, the mark that the device is shared stays if it was before.
        """
        device = booked.candidate.device.id
        if not booked.shared or not (given.consumed or self._gates.refused_give_back):
            return
        remove_consumed(self._being_consumed, device, consumption(given.consumed))
        if self._gates.refused_give_back and booked.further_share:
            self._being_consumed.setdefault(device, {})

    def _is_shared(self, device: DeviceId) -> bool:
        """Tell whether a share of a device was given, whose first one booked the counters."""
        return device in self._being_consumed or self._allocator.is_shared(device)

    def _meets_constraints(
        self, claim: int, plan: Plan, candidate: Candidate, *, must: bool
    ) -> bool:
        request, device = plan.request, candidate.device
        constraints = self._constraints[claim]
        for i, constraint in enumerate(constraints):
            if constraint.add(request, device):
                continue
            if must:
                what = "because a claim constraint would not be satisfied"
                raise AllocationError(
                    f"claim {self._plans[claim].claim.key}, request {request.name}: "
                    f"cannot add device {device.id} {what}"
                )
            for added in constraints[:i]:
                added.remove(request, device)
            return False
        return True


def constraints_of(claim: ResourceClaim, gates: AllocatorGates) -> list[Constraint]:
    """Return a claim's constraints. Raises AllocationError for one of an unknown kind."""
    constraints = []
    for i, given in enumerate(claim.spec.devices.constraints):
        constraint = constraint_of(given, among_all=gates.distinct_among_all)
        unknown = gates.stable_suffices and given.match_attribute is None
        if constraint is None or unknown:
            what = "empty constraint (unsupported constraint type?)"
            raise AllocationError(f"claim {claim.key}, constraint #{i}: {what}")
        constraints.append(constraint)
    return constraints


def untolerated_taint(
    device: Device, tolerations: Sequence[DeviceToleration]
) -> DeviceTaint | None:
    """Return the first taint of the device that keeps a request off, None if none does."""
    for taint in device.taints:
        if taint.effect in BLOCKING_EFFECTS and not _tolerates(tolerations, taint):
            return taint
    return None


def _tolerates(tolerations: Sequence[DeviceToleration], taint: DeviceTaint) -> bool:
    return any(
        (not each.effect or each.effect == taint.effect)
        and (not each.key or each.key == taint.key)
        and (
            each.operator == "Exists"
            or (each.operator in ("", "Equal") and each.value == taint.value)
        )
        for each in tolerations
    )
