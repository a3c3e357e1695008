"""What became of each device when a pod asked for some: the allocator's checks, one by one.

The allocator stops at the first complete solution and keeps no reasons. Here the devices of a node
are looked at again, each alone beside those that the allocator gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from scheduler_core.api import AllocationResult, Node, ResourceClaim
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.pools import Pool, PoolError
from scheduler_core.devices.slices import DeviceId, SliceDevice
from scheduler_core.devices.survey import (
    DeviceAnswer,
    DeviceSurvey,
    Holder,
    NodeDevices,
    SurveyedDevice,
)
from scheduler_core.framework.status import Verdict
from scheduler_core.plugins.dynamic_resources.allocator import Allocator
from scheduler_core.plugins.dynamic_resources.device_checks import DeviceChecks, OnNode, Served
from scheduler_core.plugins.dynamic_resources.device_texts import (
    attribute_text,
    surveyed_claim,
    taint_text,
)
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.planning import AllocationError, Planner
from scheduler_core.plugins.dynamic_resources.requests import Candidate
from scheduler_core.plugins.dynamic_resources.state import ClaimsState, NodeAllocation
from scheduler_core.wording import say


class Surveyor:
    """Surveys the devices of all nodes for the claims of one attempt, after its Filter."""

    def __init__(self, state: ClaimsState, devices: Devices, gates: AllocatorGates) -> None:
        self._state = state
        self._devices = devices
        self._gates = gates
        self._allocator = state.allocator or Allocator(devices, gates)
        self._holders = _holders(devices)
        self._seen: dict[DeviceId, SurveyedDevice] = {}

    def survey(
        self,
        nodes: Nodes,
        verdict: Verdict | None,
        wanted: Mapping[str, Sequence[ResourceClaim]],
        problem: str,
    ) -> DeviceSurvey:
        """Return the survey; `wanted` has the claims that need devices by node.

        `verdict` is Filter's on `nodes`, None if that was not reached because of `problem`.
        """
        found = []
        for i in range(nodes.n):
            node = nodes.node(i)
            status = verdict.status(i) if verdict is not None else None
            rejection = ", ".join(status.reasons) if status is not None else ""
            surveyed = self._node(node, rejection, wanted.get(node.name, ()))
            if surveyed is not None:
                found.append(surveyed)
        claims = [
            surveyed_claim(claim, self._devices)
            for i, claim in enumerate(self._state.claims)
            if not self._state.is_special(i) or claim.spec.devices.requests
        ]
        made = [claim for claims in wanted.values() for claim in claims]
        known = {claim.uid for claim in self._state.claims if claim.spec.devices.requests}
        extended = {claim.uid: claim for claim in made if claim.uid not in known}
        claims += [surveyed_claim(claim, self._devices) for claim in extended.values()]
        return DeviceSurvey(claims, self._seen, found, problem)

    def _node(
        self, node: Node, rejection: str, wanted: Sequence[ResourceClaim]
    ) -> NodeDevices | None:
        """Return the devices of a node, None if there is nothing to say of it."""
        try:
            pools = self._allocator.pools(node)
        except PoolError as error:
            return NodeDevices(node.name, rejection, {}, (str(error),))
        if not pools:
            return None
        candidates = [Candidate(d, pool) for pool in pools if pool.usable for d in pool.devices]
        for candidate in candidates:
            self._note(candidate.device)
        answers: dict[DeviceId, list[DeviceAnswer]] = {each.device.id: [] for each in candidates}
        problems = [text for pool in pools if (text := _pool_problem(pool))]
        try:
            for answer, device in self._answers(node, pools, candidates, wanted):
                answers[device].append(answer)
        except AllocationError as error:
            problems.append(str(error))
        return NodeDevices(node.name, rejection, answers, tuple(problems))

    def _answers(
        self,
        node: Node,
        pools: Sequence[Pool],
        candidates: Sequence[Candidate],
        wanted: Sequence[ResourceClaim],
    ) -> Iterator[tuple[DeviceAnswer, DeviceId]]:
        planner = Planner(self._devices, self._gates, node, pools, lambda request, candidate: True)
        plans = [planner.plan(claim) for claim in wanted]
        allocation = self._state.node_allocations.get(node.name)
        on_node = OnNode(
            allocator=self._allocator,
            planner=planner,
            plans=plans,
            candidates={each.device.id: each for each in candidates},
            served=_served(wanted, allocation),
            holders=self._holders,
        )
        for i, plan in enumerate(plans):
            for each in chain.from_iterable(plan.requests):
                checks = DeviceChecks(on_node, i, each)
                for candidate in candidates:
                    yield checks.answer(candidate), candidate.device.id

    def _note(self, device: SliceDevice) -> None:
        if device.id in self._seen:
            return
        spec = device.device
        self._seen[device.id] = SurveyedDevice(
            id=device.id,
            slice=device.slice.name,
            attributes={name: attribute_text(each) for name, each in spec.attributes.items()},
            capacity={name: each.value for name, each in spec.capacity.items()},
            taints=tuple(map(taint_text, spec.taints)),
            shareable=spec.allow_multiple_allocations,
            holders=tuple(self._holders.get(device.id, ())),
        )


def _served(wanted: Sequence[ResourceClaim], allocation: NodeAllocation | None) -> list[Served]:
    """Return which devices the allocator gave on the node, claim by claim in the order given."""
    if allocation is None:
        return []
    return [
        Served(i, result)
        for i, (_, given) in enumerate(zip(wanted, allocation.results, strict=True))
        for result in given.devices.results
    ]


def _pool_problem(pool: Pool) -> str:
    if pool.incomplete:
        return say(
            "device.pool_incomplete",
            "pool {pool} is incomplete: its driver is updating it",
            pool=str(pool.id),
        )
    if not pool.invalid:
        return ""
    return say(
        "device.pool_invalid",
        "pool {pool} is invalid: {problem}",
        pool=str(pool.id),
        problem=pool.invalid,
    )


def _holders(devices: Devices) -> dict[DeviceId, list[Holder]]:
    """Return who holds each device: the claims with devices, and those that Reserve serves."""
    found: dict[DeviceId, list[Holder]] = {}
    for claim in devices.claims():
        pods = tuple(f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for)
        _hold(found, claim.key, claim.status.allocation, pods, pending=False)
    for each in devices.pending():
        _hold(found, each.claim, each.allocation, (each.pod,), pending=True)
    return found


def _hold(
    found: dict[DeviceId, list[Holder]],
    claim: str,
    allocation: AllocationResult | None,
    pods: tuple[str, ...],
    *,
    pending: bool,
) -> None:
    for result in allocation.devices.results if allocation is not None else ():
        device = DeviceId(result.driver, result.pool, result.device)
        holder = Holder(claim, pods, pending, bool(result.admin_access), result.consumed_capacity)
        found.setdefault(device, []).append(holder)
