"""What a question is answered from: the kinds of values its right answer is computed from.

Pure. The picture of a step, alone or in a class, shows exactly these (`kviz.lessons.picture`), so
what a step shows is derived from what it asks and nobody has to list it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kviz.lessons.lesson import Question

Kind = Literal[
    "resources",
    "taints",
    "labels",
    "pods",
    "priorities",
    "candidates",
    "scores",
    "queue",
    "history",
    "events",
    "volumes",
    "devices",
]
"""`labels` are those in question alone; `pods` are those on nodes; `candidates` marks the victims
of dry runs; `history` are earlier cycles, `events` what the scenario does later."""

Kinds = frozenset[Kind]

NOTHING: Final[Kinds] = frozenset()
ROOM: Final[Kinds] = frozenset({"resources"})
NEAR: Final[Kinds] = frozenset({"labels", "pods"})
QUEUE: Final[Kinds] = frozenset({"queue", "priorities"})
HISTORY: Final[Kinds] = frozenset({"history"})
EVENTS: Final[Kinds] = frozenset({"events"})
SCORES: Final[Kinds] = frozenset({"scores"})
CANDIDATES: Final[Kinds] = frozenset({"candidates", "pods", "priorities"})
VOLUMES: Final[Kinds] = frozenset({"volumes", "pods"})
DEVICES: Final[Kinds] = frozenset({"devices", "pods"})
TAINTS: Final[Kinds] = frozenset({"taints"})
LABELS: Final[Kinds] = frozenset({"labels"})
PREEMPTION: Final[Kinds] = frozenset({"resources", "pods", "priorities"})

OF_PLUGIN: Final[Mapping[str, Kinds]] = {
    "NodeResourcesFit": ROOM,
    "NodeResourcesBalancedAllocation": ROOM,
    "TaintToleration": TAINTS,
    "NodeUnschedulable": TAINTS,
    "NodeAffinity": LABELS,
    "InterPodAffinity": NEAR,
    "PodTopologySpread": NEAR,
    "VolumeBinding": VOLUMES,
    "DynamicResources": DEVICES,
}
"""What each plugin's verdicts and scores are computed from."""


@dataclass(frozen=True)
class Situation:
    """What is there to ask about: the pod in question, and what is known of its cycle.

    `asks` are the kinds that any node is chosen by for the pod. `pods_ask` are those for all
    pods that wait.
    """

    asks: Kinds = ROOM
    pods_ask: Kinds = ROOM
    has_scores: bool = False
    has_dry_runs: bool = False
    has_events: bool = False


def kinds_of(question: Question, now: Situation) -> Kinds:
    """Return the kinds of values a question's answer is computed from; none: pure knowledge."""
    fact = question.fact
    way = (fact.value,) if isinstance(fact.value, str) else fact.value
    later: Kinds = EVENTS if now.has_events else NOTHING
    match way[0]:
        case "order_of_points":
            return NOTHING
        case "order_tried":
            return QUEUE | later
        case "pod":
            return QUEUE | HISTORY
        case "attempts":
            return QUEUE | HISTORY | (now.asks | EVENTS if now.has_events else NOTHING)
        case "bound" | "pending" | "cycles":
            return QUEUE | now.pods_ask | later
        case "rejected_by" if len(way) > 1:
            return OF_PLUGIN.get(str(way[1]), now.asks)
        case "filter":
            named = [OF_PLUGIN.get(option.value, NOTHING) for option in question.options]
            return NOTHING.union(*named) or now.asks
        case "totals" | "scores" | "n_tied":
            is_known = now.has_scores and not fact.after
            return SCORES if is_known else now.asks | SCORES
        case "asked":
            return HISTORY | now.asks | later
        case "nominated_node" if now.has_dry_runs:
            return CANDIDATES
        case "nominated_node" | "victims":
            return PREEMPTION | now.asks
    ways = QUEUE | now.pods_ask if fact.after else now.asks  # other pods may take the place
    return ways | later if fact.pod else now.asks
