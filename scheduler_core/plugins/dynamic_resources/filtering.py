"""One node at a time: allocated claims must be usable there, devices for the others available.

Upstream: v1.36 plugins/dynamicresources (Filter, filterExtendedResources).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scheduler_core.api import Node, Pod, ResourceClaim
from scheduler_core.api.selectors import node_selector_matches
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import integer_resources
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.dynamic_resources import conditions
from scheduler_core.plugins.dynamic_resources.allocator import Allocator, TimedOut
from scheduler_core.plugins.dynamic_resources.extended_resources import (
    NodeClaim,
    backable_requests,
    node_claim,
)
from scheduler_core.plugins.dynamic_resources.planning import AllocationError
from scheduler_core.plugins.dynamic_resources.state import (
    ClaimsState,
    NodeAllocation,
    node_selector_of,
)

CANNOT_ALLOCATE: Final = "cannot allocate all claims"
NOT_AVAILABLE: Final = "resourceclaim not available on the node"
LEFT_OVER: Final = "cannot schedule extended resource claim"
CANNOT_FIT: Final = "cannot fit resource"


class NodeFilter:
    """Evaluates nodes for one pod and notes in its state what they would be given.

    `binding_timeout_ns` is None without the gates of binding conditions.
    """

    def __init__(
        self,
        state: ClaimsState,
        pod: PodInfo,
        devices: Devices,
        binding_timeout_ns: int | None,
        now_ns: int,
    ) -> None:
        self._state = state
        self._pod = pod
        self._devices = devices
        self._binding_timeout_ns = binding_timeout_ns
        self._now_ns = now_ns
        self._backable = backable_requests(pod) if state.special else {}

    def status(self, node: Node) -> Status:
        """Return what Filter says of a node; asked again, the same."""
        known = self._state.verdicts.get(node.name)
        if known is None:
            known = self._state.verdicts[node.name] = self._status(node)
        return known

    def _status(self, node: Node) -> Status:
        extended = self._extended(node, self._pod.pod)
        if isinstance(extended, str):
            return rejected(extended)
        if extended is None and not self._state.user_claims:
            return SUCCESS
        unavailable = [
            i for i, claim in enumerate(self._state.claims) if not self._is_usable(claim, node)
        ]
        allocation = self._allocate(self._state.allocator, node, extended)
        if isinstance(allocation, Status):
            return allocation
        if unavailable:
            self._state.unavailable.update(unavailable)
            return rejected(NOT_AVAILABLE)
        if allocation is not None:
            self._state.node_allocations[node.name] = allocation
        return SUCCESS

    def _is_usable(self, claim: ResourceClaim, node: Node) -> bool:
        """Tell whether nothing about an allocated claim speaks against the node."""
        selector = node_selector_of(claim)
        if selector is not None and not node_selector_matches(
            selector, node.metadata.labels, node.name
        ):
            return False
        if claim.status.allocation is None or self._binding_timeout_ns is None:
            return True
        if conditions.binding_failure(claim):
            return False
        late = conditions.is_timed_out(claim, self._binding_timeout_ns, self._now_ns)
        return conditions.is_ready(claim) or not late

    def _allocate(
        self, allocator: Allocator | None, node: Node, extended: NodeClaim | None
    ) -> NodeAllocation | Status | None:
        """Find devices for the claims that have none; None if all have."""
        if allocator is None:
            return None
        try:
            allocated = allocator.allocate(node, self._wanted(extended))
        except TimedOut:
            text = f"node {node.name}: timed out trying to allocate devices"
            return Status(Code.ERROR, (text,))
        except AllocationError as error:
            return Status(Code.ERROR, (str(error),))
        if allocated is None:
            return rejected(CANNOT_ALLOCATE)
        if allocated.reason:
            return rejected(allocated.reason)
        return NodeAllocation(allocated.results, extended)

    def wanted(self, node: Node) -> Sequence[ResourceClaim]:
        """Return the claims that need devices on a node, as it has to serve them."""
        extended = self._extended(node, self._pod.pod)
        return () if isinstance(extended, str) else self._wanted(extended)

    def _wanted(self, extended: NodeClaim | None) -> Sequence[ResourceClaim]:
        return [
            extended.claim if extended is not None and self._state.is_special(i) else claim
            for i, claim in self._state.to_allocate()
        ]

    def _extended(self, node: Node, pod: Pod) -> NodeClaim | str | None:
        """Return the claim for the extended resources the node has as devices only.

        None if there is nothing to allocate; a text says why the node is out of the question.
        """
        special = self._state.special_claim
        if special is None:
            return None
        if special.spec.devices.requests:
            return LEFT_OVER
        allocatable = integer_resources(node.status.allocatable)
        missing = _missing(self._backable, allocatable, self._devices)
        if missing is None:
            return CANNOT_FIT
        if not missing and not self._state.user_claims:
            return None
        return node_claim(special, pod, missing, self._devices)


def _missing(
    requests: Mapping[str, int], allocatable: Mapping[str, int], devices: Devices
) -> list[str] | None:
    """Return the resources that only devices can provide; None if one is not available at all."""
    missing = []
    for name in requests:
        if devices.class_for(name) is not None and not allocatable.get(name, 0):
            missing.append(name)
        elif name not in allocatable:
            return None
    return missing


def rejected(text: str) -> Status:
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
