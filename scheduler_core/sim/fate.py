"""What becomes of a pod, in one sentence: it binds, evicts others first, or finds no node.

The Lab says it of a cycle that was tried, *Unblock* of a plan that was run, and the pod's page of a
run with a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.wording import say, some_of

MAX_NAMED: Final = 5
"""So many pods that are evicted are named."""
FROM_THE_START: Final = say(
    "fate.from_the_start",
    "Each was run from the start, so earlier pods may land on other nodes, too. The Lab tries a "
    "change in one cycle, with the cluster as it was then.",
)
"""Why the two may name different nodes for one change."""


@dataclass(frozen=True, slots=True)
class Fate:
    """The `node` that the pod binds on, and the pods that are `evicted` before it does."""

    node: str = ""
    evicted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it as a predicate of the pod."""
        if not self.node:
            return say("fate.no_node", "finds no node")
        if self.evicted:
            return say(
                "fate.evicts",
                "binds on {node} after evicting {pods}",
                pods=some_of(self.evicted, most=MAX_NAMED),
                node=self.node,
            )
        return say("fate.binds", "binds on {node}", node=self.node)


def fate_of(cycle: Cycle) -> Fate:
    """Return what a cycle that has decided makes of its pod."""
    if cycle.suggested_host:
        return Fate(cycle.suggested_host)
    post_filter = cycle.post_filter
    if post_filter is None or not post_filter.node_name:
        return Fate()
    return Fate(post_filter.node_name, tuple(sorted(pod.key for pod in post_filter.victims)))


def verdict(before: Fate, after: Fate, pod: str = "") -> str:
    """Return what becomes of a pod beside what became of it, without a full stop.

    `pod` is its name; without one it is "the pod" that is looked at.
    """
    who = pod or say("fate.the_pod", "The pod")
    if after == before:
        return say("fate.remains", "{who} still {fate}", who=who, fate=after.text)
    if before.node and not before.evicted:
        return say(
            "fate.otherwise",
            "{who} {fate}; without the change it {before}",
            who=who,
            fate=after.text,
            before=before.text,
        )
    return say("fate.becomes", "{who} {fate}", who=who, fate=after.text)
