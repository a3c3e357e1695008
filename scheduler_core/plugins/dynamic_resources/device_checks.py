"""One device and one request: the first of the allocator's checks that refuses, and its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.api import DeviceRequestAllocationResult
from scheduler_core.devices.allocated import Consumed, add_consumed, consumption, device_of
from scheduler_core.devices.cel import CelProblem
from scheduler_core.devices.slices import DeviceId
from scheduler_core.devices.survey import DeviceAnswer, DeviceOutcome, Holder
from scheduler_core.plugins.dynamic_resources.allocator import (
    Allocator,
    constraints_of,
    untolerated_taint,
)
from scheduler_core.plugins.dynamic_resources.capacity import (
    NOTHING,
    AgainstPolicy,
    LacksCapacity,
    NoRoom,
)
from scheduler_core.plugins.dynamic_resources.constraints import concerns, find_attribute
from scheduler_core.plugins.dynamic_resources.counters import CounterAccount, CounterShort
from scheduler_core.plugins.dynamic_resources.device_texts import (
    attribute_text,
    constraint_text,
    mentioned_values,
    nano_text,
    taint_text,
    toleration_text,
)
from scheduler_core.plugins.dynamic_resources.planning import Planner, first_refusing
from scheduler_core.plugins.dynamic_resources.requests import (
    Candidate,
    ClaimPlan,
    Plan,
    alternatives,
)
from scheduler_core.wording import say, series


@dataclass(frozen=True, slots=True)
class Served:
    """A device that the allocator gave to the claim at position `claim`."""

    claim: int
    result: DeviceRequestAllocationResult

    @property
    def device(self) -> DeviceId:
        return device_of(self.result)


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: DeviceOutcome
    text: str
    expression: str = ""
    values: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class OnNode:
    """What the checks on one node look at; nothing is `served` where the allocator failed."""

    allocator: Allocator
    planner: Planner
    plans: Sequence[ClaimPlan]
    candidates: Mapping[DeviceId, Candidate]
    served: Sequence[Served]
    holders: Mapping[DeviceId, Sequence[Holder]]


class DeviceChecks:
    """The checks for one request of the claim at a position, beside what all others were given.

    What another alternative of the same list was given does not count: it is one or the other.
    """

    def __init__(self, on_node: OnNode, claim: int, plan: Plan) -> None:
        self._allocator = on_node.allocator
        self._gates = on_node.allocator.gates
        self._planner = on_node.planner
        self._plans = on_node.plans
        self._holders = on_node.holders
        self._candidates = on_node.candidates
        self._claim = claim
        self._plan = plan
        self._served = [each for each in on_node.served if not self._is_alternative(each)]
        self._other_was_taken = len(self._served) < len(on_node.served)
        self._counters = CounterAccount(self._allocator.available)
        self._being_consumed: dict[DeviceId, Consumed] = {}
        for each in self._served:
            if each.result.share_id:
                consumed = consumption(each.result.consumed_capacity)
                add_consumed(self._being_consumed, each.device, consumed)
            elif self._gates.partitionable_devices:
                self._counters.take(self._candidates[each.device])

    def _is_alternative(self, served: Served) -> bool:
        mine = self._plan.request
        theirs = served.result.request
        same_list = bool(mine.parent) and theirs.partition("/")[0] == mine.parent
        return served.claim == self._claim and same_list and theirs != mine.full_name

    def answer(self, candidate: Candidate) -> DeviceAnswer:
        """Return what the request makes of a device. Raises AllocationError."""
        found = self._given(candidate)
        found = found or next(self._refusals(candidate), None)
        found = found or self._not_refused(candidate)
        return DeviceAnswer(
            claim=self._plans[self._claim].claim.key,
            request=self._plan.request.full_name,
            outcome=found.outcome,
            text=found.text,
            expression=found.expression,
            values=found.values or {},
        )

    def _given(self, candidate: Candidate) -> _Finding | None:
        this = (self._claim, candidate.device.id, self._plan.request.full_name)
        if any((each.claim, each.device, each.result.request) == this for each in self._served):
            return _Finding(DeviceOutcome.GIVEN, say("device.given", "given to this request"))
        return None

    def _not_refused(self, candidate: Candidate) -> _Finding:
        if self._other_was_taken:
            text = say(
                "device.other_alternative", "would do; another alternative of the list was taken"
            )
            return _Finding(DeviceOutcome.NOT_NEEDED, text)
        if self._served:
            text = say(
                "device.first_taken",
                "would do; the allocator takes the first devices that serve all requests",
            )
            return _Finding(DeviceOutcome.NOT_NEEDED, text)
        return _Finding(DeviceOutcome.USABLE, self._not_together(candidate))

    def _not_together(self, candidate: Candidate) -> str:
        """Return why devices that would do, each alone, do not serve the claims of the pod."""
        usable = self._usable()
        wanted = self._plan.n_devices
        if len(usable) < wanted:
            what = str(wanted)
            if self._plan.request.wants_all:
                what = say("device.all_match", "all {n} that match", n=wanted)
            return say(
                "device.alone_request",
                "would do alone; the request needs {what}, available here: {n}",
                what=what,
                n=len(usable),
            )
        beside = [each.device.id for each in usable if each is not candidate]
        for spec in self._plans[self._claim].claim.spec.devices.constraints:
            attribute = spec.match_attribute or spec.distinct_attribute or ""
            if wanted > 1 and concerns(spec.requests, self._plan.request):
                values = self._attributes([candidate.device.id, *beside], attribute)
                return say(
                    "device.alone_constraint",
                    "would do alone; the claim wants {constraint}: {values}",
                    constraint=constraint_text(spec),
                    values=values,
                )
        return say(
            "device.alone_not_together",
            "would do alone; the node cannot serve all requests of the pod together",
        )

    def _usable(self) -> list[Candidate]:
        """Return the devices that nothing but the other requests speaks against."""
        candidates = self._candidates.values()
        return [each for each in candidates if next(self._refusals(each), None) is None]

    def _refusals(self, candidate: Candidate) -> Iterator[_Finding]:
        """Yield what refuses a device, in the order in which the allocator checks."""
        checks = (
            self._use(candidate),
            self._selection(candidate),
            self._place(candidate),
            self._room(candidate),
            self._counters_left(candidate),
            self._taint(candidate),
            self._constraint(candidate),
        )
        for check in checks:
            yield from check

    # ------------------------------------------------------------ the checks

    def _use(self, candidate: Candidate) -> Iterator[_Finding]:
        """A device in use is out; for admin access only this claim's use counts."""
        device, request = candidate.device.id, self._plan.request
        if device in self._allocator.state.devices and not request.admin_access:
            yield _Finding(DeviceOutcome.IN_USE, self._held(device))
        for each in self._served:
            if each.device != device or each.result.share_id:
                continue
            if each.claim == self._claim or not request.admin_access:
                whose = self._plans[each.claim].claim.key
                text = say(
                    "device.given_elsewhere",
                    "given to request {request} of claim {claim} of this pod",
                    request=each.result.request,
                    claim=whose,
                )
                yield _Finding(DeviceOutcome.GIVEN_ELSEWHERE, text)

    def _held(self, device: DeviceId) -> str:
        holders = [each for each in self._holders.get(device, ()) if not each.admin_access]
        return say(
            "device.in_use", "in use by {holders}", holders=series(map(holder_text, holders))
        )

    def _selection(self, candidate: Candidate) -> Iterator[_Finding]:
        device, of_class, request = candidate.device, self._plan.device_class, self._plan.request
        if device.device.binding_conditions and not self._gates.binding_conditions:
            text = say(
                "device.binding_conditions_off",
                "has binding conditions, and gate DRADeviceBindingConditions is off",
            )
            yield _Finding(DeviceOutcome.BINDING_CONDITIONS, text)
        for selectors, whose in (
            (of_class.spec.selectors, say("device.class", "class {name}", name=of_class.name)),
            (request.selectors, say("device.request", "request {name}", name=request.full_name)),
        ):
            shareable = self._gates.shows_as_shareable(device.device)
            refusing = first_refusing(selectors, device, shareable=shareable)
            if refusing is None:
                continue
            values = mentioned_values(refusing.expression, device, shareable=shareable)
            outcome = DeviceOutcome.SELECTOR
            text = say(
                "device.selector_false", "the selector of {whose} is false for it", whose=whose
            )
            if isinstance(refusing.answer, CelProblem):
                outcome = DeviceOutcome.SELECTOR_ERROR
                text = say(
                    "device.selector_error",
                    "the selector of {whose} ends in an error: {error}",
                    whose=whose,
                    error=refusing.answer.text,
                )
            yield _Finding(outcome, text, refusing.expression, values)

    def _place(self, candidate: Candidate) -> Iterator[_Finding]:
        if not self._planner.is_on_node(candidate.device):
            yield _Finding(
                DeviceOutcome.OTHER_NODE, say("device.not_on_node", "cannot be used on this node")
            )

    def _room(self, candidate: Candidate) -> Iterator[_Finding]:
        being_consumed = self._being_consumed.get(candidate.device.id, NOTHING)
        no_room = self._allocator.no_room(self._plan.request, candidate, being_consumed)
        if no_room is not None:
            yield _Finding(DeviceOutcome.CAPACITY, self._no_room_text(no_room, candidate))

    def _no_room_text(self, no_room: NoRoom, candidate: Candidate) -> str:
        if isinstance(no_room, LacksCapacity):
            return say("device.no_capacity", "has no capacity {name}", name=no_room.name)
        if isinstance(no_room, AgainstPolicy):
            return say(
                "device.policy",
                "its policy does not allow {amount} of {name}",
                amount=no_room.amount,
                name=no_room.name,
            )
        text = say(
            "device.capacity_short",
            "{name}: asks for {amount}, {left} of {total} left",
            name=no_room.name,
            amount=no_room.amount,
            left=nano_text(no_room.left, no_room.total),
            total=no_room.total,
        )
        users = [each for each in self._holders.get(candidate.device.id, ()) if each.consumed]
        if not users:
            return text
        return say(
            "device.shared_by",
            "{what}, shared by {users}",
            what=text,
            users=series(map(holder_text, users)),
        )

    def _counters_left(self, candidate: Candidate) -> Iterator[_Finding]:
        device = candidate.device
        if not device.device.consumes_counters:
            return
        if not self._gates.partitionable_devices:
            text = say(
                "device.counters_off", "consumes counters, and gate DRAPartitionableDevices is off"
            )
            yield _Finding(DeviceOutcome.COUNTERS, text)
            return
        shared = self._gates.consumable_capacity and device.device.allow_multiple_allocations
        in_search = device.id in self._being_consumed
        if shared and (in_search or self._allocator.is_shared(device.id)):
            return
        short = self._counters.shortage(candidate)
        if short is not None:
            yield _Finding(DeviceOutcome.COUNTERS, self._counters_text(short, candidate))

    def _counters_text(self, short: CounterShort, candidate: Candidate) -> str:
        total = candidate.pool.counter_sets[short.counter_set][short.counter].value
        needed, left = (nano_text(amount, total) for amount in (short.needed, short.left))
        text = say(
            "device.counter_short",
            "counter {counter} of {counter_set}: needs {needed}, {left} of {total} left",
            counter=short.counter,
            counter_set=short.counter_set,
            needed=needed,
            left=left,
            total=total,
        )
        users = series(self._counting(short, candidate.pool.id.pool))
        return (
            say("device.used_by", "{what}, used by {users}", what=text, users=users)
            if users
            else text
        )

    def _counting(self, short: CounterShort, pool: str) -> Iterator[str]:
        """Yield the devices that consume a counter: those in use, and those just given."""
        given = {each.device for each in self._served}
        for device, candidate in self._candidates.items():
            taken = device in given or self._allocator.state.is_allocated(device)
            consumes = candidate.device.device.consumes_counters
            counts = any(
                each.counter_set == short.counter_set and short.counter in each.counters
                for each in consumes
            )
            if taken and counts and device.pool == pool:
                yield device.device

    def _taint(self, candidate: Candidate) -> Iterator[_Finding]:
        if not self._gates.device_taints:
            return
        request = self._plan.request
        taint = untolerated_taint(candidate.device.device, request.tolerations)
        if taint is None:
            return
        text = say(
            "device.taint_not_tolerated",
            "taint {taint} is not tolerated; the request tolerates {tolerated}",
            taint=taint_text(taint),
            tolerated=series(map(toleration_text, request.tolerations))
            or say("device.nothing", "nothing"),
        )
        yield _Finding(DeviceOutcome.TAINT, text)

    def _constraint(self, candidate: Candidate) -> Iterator[_Finding]:
        """Tell whether a constraint holds with this device beside those that were given."""
        item = self._plans[self._claim].claim
        given = [each for each in self._served if each.claim == self._claim]
        named = {
            each.full_name: each for one in item.spec.devices.requests for each in alternatives(one)
        }
        constraints = zip(
            item.spec.devices.constraints, constraints_of(item, self._gates), strict=True
        )
        for spec, constraint in constraints:
            for each in given:
                constraint.add(named[each.result.request], self._candidates[each.device].device)
            if constraint.add(self._plan.request, candidate.device):
                continue
            attribute = spec.match_attribute or spec.distinct_attribute or ""
            devices = [candidate.device.id, *(each.device for each in given)]
            text = say(
                "device.constraint",
                "the claim wants {constraint}: {values}",
                constraint=constraint_text(spec),
                values=self._attributes(devices, attribute),
            )
            yield _Finding(DeviceOutcome.CONSTRAINT, text)

    def _attributes(self, devices: Sequence[DeviceId], name: str) -> str:
        """Return the values that some devices have of an attribute, the first being at hand."""
        this, *others = (self._attribute(device, name) for device in devices)
        texts = [say("device.value_of_this", "this one has {value}", value=this)]
        texts += [
            say("device.value_of", "{device} has {value}", device=device.device, value=value)
            for device, value in zip(devices[1:], others, strict=True)
        ]
        return series(texts)

    def _attribute(self, device: DeviceId, name: str) -> str:
        attribute = find_attribute(self._candidates[device].device, name)
        return say("value.none", "none") if attribute is None else attribute_text(attribute)


def holder_text(holder: Holder) -> str:
    """Return claim and pods of a holder in a few words."""
    text = say("pod.claim", "claim {claim}", claim=holder.claim)
    if holder.pods:
        text = say(
            "device.claim_of_pod",
            "claim {claim} of pod {pods}",
            claim=holder.claim,
            pods=series(holder.pods),
        )
    return say("device.reserved", "{what} (reserved)", what=text) if holder.pending else text
