"""The plugin at its extension points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import AllocationResult, PodExtendedResourceClaimStatus, ResourceClaim
from scheduler_core.api.selectors import node_selector_error
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import DynamicResourcesArgs
from scheduler_core.devices.inventory import Devices
from scheduler_core.devices.survey import DeviceSurvey, SurveysDevices
from scheduler_core.framework.dependence import DependsOn, NodeFacts, PreparedFrom
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import (
    NodeToStatus,
    PostFilterOutcome,
    Prepared,
    Refilter,
    Scores,
)
from scheduler_core.framework.scoring import default_normalize_score
from scheduler_core.framework.signatures import Signed
from scheduler_core.framework.status import (
    SKIP,
    SUCCESS,
    Code,
    ListedVerdict,
    Status,
    Verdict,
)
from scheduler_core.plugins.dynamic_resources import conditions
from scheduler_core.plugins.dynamic_resources.allocator import Allocator
from scheduler_core.plugins.dynamic_resources.binding import BindingError, ClaimWriter
from scheduler_core.plugins.dynamic_resources.extended_resources import (
    is_in_memory,
    special_claim,
)
from scheduler_core.plugins.dynamic_resources.filtering import NodeFilter, rejected
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.pod_claims import (
    claims_of,
    is_reserved_for,
    request_problem,
)
from scheduler_core.plugins.dynamic_resources.state import (
    ClaimsState,
    NodeAllocation,
    node_selector_of,
)
from scheduler_core.plugins.dynamic_resources.surveying import Surveyor

# Whether a change around claims and devices may help a pod that had no luck with its own.
#
# Upstream: v1.36 plugins/dynamicresources/dynamicresources.go (EventsToRegister,
# isSchedulableAfter...).


class ClaimHints:
    """The events that may help, with their hints."""

    def __init__(self, devices: Devices, *, deletions: bool) -> None:
        self._devices = devices
        self._deletions = deletions

    def events(self) -> list[ClusterEventWithHint]:
        changed = ActionType.ADD | ActionType.UPDATE
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        of_claims = changed | ActionType.DELETE if self._deletions else changed
        generated = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(
                ClusterEvent(EventResource.RESOURCE_CLAIM, of_claims), self.after_claim_change
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, generated), self.after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
        ]

    def after_claim_change(self, pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
        """Queue if devices became free, or a claim of the pod's is new or has a new status.

        Devices become free by the deletion of their claim, too.
        """
        before = expect_or_none(ResourceClaim, old)
        if new is None:
            return queue_if(before is not None and before.status.allocation is not None)
        after = expect(ResourceClaim, new)
        claims = claims_of(pod.pod, self._devices)
        if isinstance(claims, str):
            return QueueingHint.SKIP
        if before is not None and before.status.allocation and after.status.allocation is None:
            return QueueingHint.QUEUE
        mine = any(claim.uid == after.uid for claim in claims)
        return queue_if(mine and (before is None or before.status != after.status))

    def after_pod_change(self, pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
        """Queue if the pod itself now has all its claims."""
        after = expect(PodInfo, new)
        if after.uid != pod.uid:
            return QueueingHint.SKIP
        return queue_if(not isinstance(claims_of(after.pod, self._devices), str))


DEFAULT_BINDING_TIMEOUT_NS: Final = 600 * 10**9
MAX_ALTERNATIVES: Final = 8
"""So many alternatives a prioritised list may have (FirstAvailableDeviceRequestMaxSize)."""

NO_STATE: Final = "not found"
NOTHING_TO_DEALLOCATE: Final = "no new claims to deallocate"
DEALLOCATED: Final = "deallocation of ResourceClaim completed"
DELETED: Final = "deletion of ResourceClaim completed"
STILL_NOT: Final = "still not schedulable"
NOT_FOUND_FOR_NODE: Final = "claim allocation not found for node"

FAILED: Final = Status(Code.ERROR, (NO_STATE,))


class DynamicResources(SurveysDevices):
    """Reject nodes where a claim's devices cannot be used, or none can be allocated for it.

    Claims that have no devices yet get them for each node in turn, by the first complete solution
    (`allocator.py`). Extended resources that a node lacks and a class of devices backs are claimed
    likewise. Score prefers nodes where earlier alternatives of prioritised lists are had: `8 -
    position`, summed up. Reserve keeps the chosen devices from others, PreBind writes them into
    the claims. When no node is left, PostFilter deallocates a claim that was of no use on one.

    Upstream: v1.36 plugins/dynamicresources.
    """

    name = "DynamicResources"
    depends_on = DependsOn(
        prepared=PreparedFrom.TEMPLATE_WITHOUT_DEVICES,
        per_node=NodeFacts.OBJECT_WITHOUT_DEVICES,
    )

    def __init__(self, args: DynamicResourcesArgs, handle: Handle) -> None:
        self._handle = handle
        self._devices = handle.devices
        self._gates = AllocatorGates.of(handle.features)
        timeout_ns = args.binding_timeout_ns
        self._binding_timeout_ns: int | None = None
        if self._gates.binding_conditions:
            self._binding_timeout_ns = (
                DEFAULT_BINDING_TIMEOUT_NS if timeout_ns is None else timeout_ns
            )
        self._writer = ClaimWriter(handle, self._devices, timestamps=self._gates.binding_conditions)
        self._quiet = handle.features.switches.quiet_claim_post_filter
        deletions = handle.features.switches.claim_deletion_events
        self._hints = ClaimHints(self._devices, deletions=deletions)

    def sign_pod(self, pod: PodInfo) -> Signed:
        return None if pod.pod.spec.resource_claims else ()

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return self._hints.events()

    # ------------------------------------------------------------ before scheduling

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Hold a pod back while one of its claims is missing, foreign or being deleted."""
        if not pod.pod.spec.resource_claims:
            return SUCCESS
        claims = claims_of(pod.pod, self._devices)
        return rejected(claims) if isinstance(claims, str) else SUCCESS

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[ClaimsState] | Status:
        user_claims = claims_of(pod.pod, self._devices)
        if isinstance(user_claims, str):
            return Prepared(ClaimsState(), rejection=rejected(user_claims))
        special = special_claim(pod, self._devices)
        claims = [*user_claims, special] if special is not None else list(user_claims)
        if not claims:
            return Prepared(ClaimsState(), skip=True)
        state = ClaimsState(claims, special is not None, special_uid=special.uid if special else "")
        for i, claim in enumerate(claims):
            problem = self._problem(claim, is_special=state.is_special(i))
            if problem is not None:
                return Prepared(ClaimsState(), rejection=problem)
        if any(claim.status.allocation is None for claim in claims):
            state.allocator = Allocator(self._devices, self._gates)
        return Prepared(state)

    def _problem(self, claim: ResourceClaim, *, is_special: bool) -> Status | None:
        """Return why no node has to be looked at for a claim, None if they have."""
        if claim.status.allocation is not None:
            selector = node_selector_of(claim)
            error = node_selector_error(selector) if selector is not None else ""
            return Status(Code.ERROR, (error,)) if error else None
        if self._devices.pending_allocation(claim.uid) is not None:
            return rejected(f"resource claim {claim.key} is in the process of being allocated")
        lists = self._gates.prioritized_list
        problem = "" if is_special else request_problem(claim, self._devices, lists=lists)
        return rejected(problem) if problem else None

    def filter(self, state: ClaimsState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        if not state.claims:
            return Verdict.passed(nodes.n)
        node_filter = self._node_filter(state, pod)
        code, reasons = np.zeros(nodes.n, np.int8), np.zeros(nodes.n, np.uint64)
        texts: dict[tuple[str, ...], int] = {(): 0}
        for i in range(nodes.n):
            status = node_filter.status(nodes.node(i))
            code[i] = status.code
            reasons[i] = texts.setdefault(status.reasons, len(texts))
        return ListedVerdict(code, reasons, (), tuple(texts))

    def _node_filter(self, state: ClaimsState, pod: PodInfo) -> NodeFilter:
        now_ns = self._handle.now_ns()
        return NodeFilter(state, pod, self._devices, self._binding_timeout_ns, now_ns)

    def post_filter(
        self, state: ClaimsState | None, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PostFilterOutcome:
        """Take the devices of a claim away that was of no use on some node.

        The claim must have no user but this pod. Upstream takes any such claim, kviz the first.
        """
        if state is None:
            return PostFilterOutcome(FAILED)
        try:
            text = self._deallocate(state, pod)
        except BindingError as error:
            return PostFilterOutcome(Status(Code.ERROR, (str(error),)))
        done = text in (DEALLOCATED, DELETED)
        reasons = (text,) if done or not self._quiet else ()
        return PostFilterOutcome(Status(Code.UNSCHEDULABLE, reasons))

    def _deallocate(self, state: ClaimsState, pod: PodInfo) -> str:
        if not state.claims:
            return NOTHING_TO_DEALLOCATE
        for i in sorted(state.unavailable):
            claim = state.claims[i]
            users = claim.status.reserved_for
            if not state.is_special(i) and [user.uid for user in users] in ([], [pod.uid]):
                self._writer.deallocate(claim)
                return DEALLOCATED
        special = state.special_claim
        if special is not None and not is_in_memory(special):
            self._writer.delete(special)
            return DELETED
        return STILL_NOT

    # ------------------------------------------------------------ scoring

    def score(self, state: ClaimsState | None, pod: PodInfo, nodes: Nodes) -> Scores:
        scores = np.zeros(nodes.n, np.int64)
        if state is None or not state.claims or not self._gates.prioritized_list:
            return scores
        for i, name in enumerate(nodes.names):
            scores[i] = sum(each.points for each in self.preferences(state, name))
        return scores

    def preferences(self, state: ClaimsState, node_name: str) -> Iterator[Preference]:
        """Yield the alternatives of prioritised lists that a node would give."""
        allocation = state.node_allocations.get(node_name)
        if allocation is not None and self._gates.prioritized_list:
            yield from _preferences(state, allocation)

    def normalize_score(self, state: object, pod: PodInfo, nodes: Nodes, scores: Scores) -> Scores:
        return default_normalize_score(scores)

    # ------------------------------------------------------------ looking closer

    def survey(self, pod: PodInfo, nodes: Nodes) -> DeviceSurvey:
        prepared = self.pre_filter(pod, nodes)
        if isinstance(prepared, Status):
            return Surveyor(ClaimsState(), self._devices, self._gates).survey(nodes, None, {}, "")
        state, rejection = prepared.state, prepared.rejection
        problem = ", ".join(rejection.reasons) if rejection is not None else ""
        surveyor = Surveyor(state, self._devices, self._gates)
        if not state.claims:
            return surveyor.survey(nodes, None, {}, problem)
        verdict = self.filter(state, pod, nodes)
        node_filter = self._node_filter(state, pod)
        wanted = {name: node_filter.wanted(nodes.node(i)) for i, name in enumerate(nodes.names)}
        return surveyor.survey(nodes, verdict, wanted, problem)

    # ------------------------------------------------------------ reserving and binding

    def reserve(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> Status:
        """Keep the devices that Filter chose for the node from other pods."""
        if state is None:
            return FAILED
        waiting = list(state.to_allocate())
        if not waiting:
            return SUCCESS
        allocation = state.node_allocations.get(node_name)
        if allocation is None or not allocation.results:
            only_special = all(state.is_special(i) for i, _ in waiting)
            # The node has the extended resources itself: nothing to allocate.
            return SUCCESS if only_special else Status(Code.ERROR, (NOT_FOUND_FOR_NODE,))
        for (i, claim), result in zip(waiting, allocation.results, strict=True):
            state.reserved[i] = result
            self._devices.set_pending(claim, pod.pod, result)
        return SUCCESS

    def unreserve(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> None:
        """Let go of the devices, and of the claims that PreBind has written already."""
        if state is None:
            return
        for claim in state.user_claims:
            self._devices.forget_pending(claim.uid)
            if claim.status.allocation is not None and is_reserved_for(claim, pod.pod):
                self._writer.release(claim, pod.pod)
        special = state.special_claim
        if special is not None:
            self._devices.forget_pending(state.special_uid)
            self._writer.delete(special)

    def pre_bind_pre_flight(
        self, state: ClaimsState | None, pod: PodInfo, node_name: str
    ) -> Status:
        if state is None:
            return FAILED
        return SUCCESS if state.claims else SKIP

    def pre_bind(self, state: ClaimsState | None, pod: PodInfo, node_name: str) -> Status:
        """Write allocations and reservations into the claims."""
        if state is None:
            return FAILED
        try:
            for i, claim in enumerate(state.claims):
                if not is_reserved_for(claim, pod.pod):
                    self._bind(state, i, pod, node_name)
            self._await_devices(state, pod, node_name)
        except BindingError as error:
            return Status(Code.ERROR, (str(error),))
        return SUCCESS

    def _bind(self, state: ClaimsState, i: int, pod: PodInfo, node_name: str) -> None:
        claim, allocation = state.claims[i], state.reserved.get(i)
        if state.is_special(i):
            self._bind_special(state, pod, node_name, allocation)
            return
        try:
            state.claims[i] = self._writer.bind(claim, pod.pod, allocation)
        finally:
            if allocation is not None:
                self._devices.forget_pending(claim.uid)

    def _bind_special(
        self,
        state: ClaimsState,
        pod: PodInfo,
        node_name: str,
        allocation: AllocationResult | None,
    ) -> None:
        """Create the claim for extended resources; the node may have them without devices."""
        if allocation is None:
            return
        extended = state.node_allocations[node_name].extended
        if extended is None:
            raise BindingError(f"extended resource claim not found for node {node_name}")
        try:
            state.claims[-1] = self._writer.create(extended, pod.pod)
            state.claims[-1] = self._writer.bind(state.claims[-1], pod.pod, allocation)
        finally:
            self._devices.forget_pending(state.special_uid)
        if not extended.mappings:
            what = f"no update of pod {pod.key} ExtendedResourceClaimStatus"
            raise BindingError(f"nil or empty request mappings, {what}")
        name, mappings = state.claims[-1].name, tuple(extended.mappings)
        status = PodExtendedResourceClaimStatus(resource_claim_name=name, request_mappings=mappings)
        self._handle.set_extended_resource_claim(pod, status)

    def _await_devices(self, state: ClaimsState, pod: PodInfo, node_name: str) -> None:
        """Wait for drivers to get devices ready, which here they do at once. Raises BindingError.

        A device that has failed by then, or had its time, ends the attempt.
        """
        timeout_ns = self._binding_timeout_ns
        if timeout_ns is None or not any(map(conditions.has_conditions, state.claims)):
            return
        text = f"waiting for binding conditions for device on node {node_name}"
        self._handle.record_event(pod, "BindingConditionsPending", text)
        for i, stored in enumerate(state.claims):
            claim = state.claims[i] = self._devices.claim(stored.key) or stored
            if failure := conditions.binding_failure(claim):
                raise BindingError(failure)
            if conditions.is_ready(claim):
                continue
            if conditions.is_timed_out(claim, timeout_ns, self._handle.now_ns()):
                raise BindingError(f"{conditions.TIMEOUT}: claim={claim.name}")
            state.claims[i] = self._writer.get_ready(claim)


@dataclass(frozen=True, slots=True)
class Preference:
    """An alternative that was had of a request's list, and how much it counts."""

    claim: str
    request: str
    name: str
    points: int


def _preferences(state: ClaimsState, allocation: NodeAllocation) -> Iterator[Preference]:
    fresh = iter(allocation.results)
    for claim in state.claims:
        given = claim.status.allocation or next(fresh)
        served = {result.request for result in given.devices.results}
        for request in claim.spec.devices.requests:
            for i, alternative in enumerate(request.first_available):
                if f"{request.name}/{alternative.name}" in served:
                    points = MAX_ALTERNATIVES - i
                    yield Preference(claim.key, request.name, alternative.name, points)
