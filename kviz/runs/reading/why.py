"""Why a pod is pending: its last cycle told as a funnel, nearest misses, and what comes next.

Pure: no database. Words for people are made where they are shown; these are the facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, Protocol

from kviz.runs.reading.projection import CycleDocument, Json, StatusDocument
from scheduler_core.trace.index import UNKNOWN

MAX_NEAREST: Final = 10


class PodFacts(Protocol):
    """What is known of a pod at the end (`kviz.runs.models.PodOutcome`)."""

    pod: str
    queue: str
    node: str
    nominated_node: str
    attempts: int
    last_cycle: int
    gated_by: str
    backoff_until_ns: int
    moved_by: str
    evicted_in_cycle: int | None
    evicted_by: str
    deleted: bool


def status_of(pod: PodFacts) -> str:
    """`bound`, `deleted`, `unknown`, `gated`, `not_attempted` or `pending`."""
    if pod.deleted:
        return "deleted"
    if pod.node:
        return "bound"
    if pod.queue == UNKNOWN:
        return UNKNOWN
    if pod.gated_by:
        return "gated"
    return "pending" if pod.last_cycle else "not_attempted"


def why_document(pod: PodFacts, cycle: CycleDocument | None) -> Json:
    """The answer to "why is this pod pending?"; `cycle` is its last one, if it had any."""
    return {
        "pod": pod.pod,
        "status": status_of(pod),
        "node": pod.node,
        "nominated_node": pod.nominated_node,
        "attempts": pod.attempts,
        "message": cycle["message"] if cycle else "",
        "cycle": pod.last_cycle or None,
        "n_nodes": cycle["n_nodes"] if cycle else 0,
        "n_feasible": cycle["n_feasible"] if cycle else 0,
        "funnel": funnel(cycle) if cycle else [],
        "reasons": reasons(cycle) if cycle else [],
        "nearest": nearest(cycle) if cycle else [],
        "preemption": cycle["preemption"] if cycle else None,
        "next": {
            "queue": pod.queue,
            "moved_by": pod.moved_by,
            "gated_by": pod.gated_by,
            "backoff_until_ns": pod.backoff_until_ns,
            "waits_for": cycle["unschedulable_plugins"] if cycle else [],
        },
        "evicted_in_cycle": pod.evicted_in_cycle,
        "evicted_by": pod.evicted_by,
    }


def funnel(cycle: CycleDocument) -> list[Json]:
    """How many nodes each Filter plugin was the first to reject, and how many were left."""
    rejected = Counter(status.get("plugin", "") for status in cycle["filter"].values())
    steps: list[Json] = []
    left = cycle["n_nodes"]
    for plugin in _in_order(cycle, rejected):
        left -= rejected[plugin]
        steps.append({"plugin": plugin, "n_rejected": rejected[plugin], "n_left": left})
    return steps


def reasons(cycle: CycleDocument) -> list[Json]:
    """Every reason with its plugin and its number of nodes, the most frequent first."""
    counted = Counter(
        (status.get("plugin", ""), reason)
        for status in cycle["filter"].values()
        for reason in status.get("reasons", [])
    )
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"plugin": plugin, "reason": reason, "n_nodes": n_nodes}
        for (plugin, reason), n_nodes in ranked
    ]


def nearest(cycle: CycleDocument) -> list[Json]:
    """The nodes that came furthest through Filter, with the fewest reasons against them."""
    place = {plugin: i for i, plugin in enumerate(cycle["filter_plugins"])}

    def distance(item: tuple[str, StatusDocument]) -> tuple[int, int, str]:
        node, status = item
        return -place.get(status.get("plugin", ""), -1), len(status.get("reasons", [])), node

    ranked = sorted(cycle["filter"].items(), key=distance)
    return [{"node": node, **status} for node, status in ranked[:MAX_NEAREST]]


def _in_order(cycle: CycleDocument, plugins: Mapping[str, int]) -> list[str]:
    known = [plugin for plugin in cycle["filter_plugins"] if plugin in plugins]
    return known + [plugin for plugin in plugins if plugin not in known]
