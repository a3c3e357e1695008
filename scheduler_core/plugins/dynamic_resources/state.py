"""What the plugin knows of a pod's claims in one attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from scheduler_core.api import AllocationResult, NodeSelector, ResourceClaim
from scheduler_core.framework.interface import ClaimDevices, HoldsDevices, NotesInFilter
from scheduler_core.framework.status import Status
from scheduler_core.plugins.dynamic_resources.allocator import Allocator
from scheduler_core.plugins.dynamic_resources.extended_resources import NodeClaim


@dataclass(frozen=True, slots=True)
class NodeAllocation:
    """Allocations of the claims that have none yet, in their order, as one node would have them.

    `extended` is the claim for extended resources as the node needs it.
    """

    results: Sequence[AllocationResult]
    extended: NodeClaim | None = None


@dataclass
class ClaimsState(HoldsDevices, NotesInFilter):
    """A pod's claims, the one for extended resources last, as they were when the attempt began.

    `special` says that there is one. Claims are replaced by what the plugin itself writes.
    """

    claims: list[ResourceClaim] = field(default_factory=list)
    special: bool = False
    allocator: Allocator | None = None
    node_allocations: dict[str, NodeAllocation] = field(default_factory=dict)
    unavailable: set[int] = field(default_factory=set)
    """Positions of allocated claims that some node cannot use."""
    reserved: dict[int, AllocationResult] = field(default_factory=dict)
    """What Reserve chose, by position."""
    special_uid: str = ""
    verdicts: dict[str, Status] = field(default_factory=dict)
    """What Filter said of each node; a node's other pods make no difference."""

    @property
    def special_claim(self) -> ResourceClaim | None:
        return self.claims[-1] if self.special else None

    @property
    def user_claims(self) -> Sequence[ResourceClaim]:
        return self.claims[:-1] if self.special else self.claims

    def to_allocate(self) -> Iterator[tuple[int, ResourceClaim]]:
        """Yield position and claim of those that are not allocated yet."""
        return (
            (i, claim) for i, claim in enumerate(self.claims) if claim.status.allocation is None
        )

    def aside(self) -> ClaimsState:
        return replace(self, unavailable=set(), node_allocations={}, verdicts=self.verdicts.copy())

    def devices(self) -> Sequence[ClaimDevices]:
        """Return which devices each claim has, or will have as Reserve chose."""
        return [
            ClaimDevices(claim.key, given.devices.results, claim.status.allocation is not None)
            for i, claim in enumerate(self.claims)
            if (given := claim.status.allocation or self.reserved.get(i)) is not None
        ]

    def is_special(self, position: int) -> bool:
        return self.special and position == len(self.claims) - 1


def node_selector_of(claim: ResourceClaim) -> NodeSelector | None:
    allocation = claim.status.allocation
    return None if allocation is None else allocation.node_selector
