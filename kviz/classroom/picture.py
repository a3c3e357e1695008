"""The cluster at a moment, small enough for a phone: its nodes, and what a cycle has of them.

No more is in it than the moment shows: at Filter no scores, before the pick no chosen node.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, TypedDict
from uuid import UUID

from kviz.lessons.facts import POINTS
from kviz.runs.models import Run
from kviz.runs.reading import trace
from kviz.runs.reading.projection import CycleDocument
from kviz.snapshots.selectors import cluster_of

MOST: Final = 200
"""Nodes that are drawn."""
MOST_PODS: Final = 24
"""Pods of a node that are named."""

State = Literal["", "rejected", "feasible", "unexamined", "chosen", "nominated"]


class NodeDrawn(TypedDict):
    """`says` is the plugin that was first to reject the node, or its total."""

    name: str
    zone: str
    pods: list[str]
    n_pods: int
    state: State
    says: str


class Picture(TypedDict):
    """`pod` is the one that the cycle is about; `n_nodes` counts also those not drawn."""

    cycle: int
    pod: str
    nodes: list[NodeDrawn]
    n_nodes: int
    waiting: list[str]


def picture_of(run: Run, cycle: int, point: str) -> Picture | None:
    """The cluster as a cycle found it, and what it decided up to a point; None if not stored yet.

    Cycle 0 is before the first. Without a point all of the cycle is shown.
    """
    if not trace.cycle_is_stored(run=run, cycle=cycle):
        return None
    return _picture(run.pk, cycle, point, run.last_seq if cycle > run.cycles else 0)


@lru_cache(maxsize=128)
def _picture(run_id: UUID, cycle: int, point: str, part_seq: int) -> Picture | None:
    """A stored cycle never changes; a part of one, up to `part_seq`, gives way to more of it."""
    run = Run.objects.select_related("snapshot").get(pk=run_id)
    return _of_cycle(run, cycle, point) if cycle else _before_all(run)


def _before_all(run: Run) -> Picture | None:
    if run.snapshot is None:
        return None
    cluster = cluster_of(run.snapshot)
    nodes: list[NodeDrawn] = [
        {
            "name": each.name,
            "zone": each.zone,
            "pods": [],
            "n_pods": each.n_pods,
            "state": "",
            "says": "",
        }
        for each in cluster.nodes[:MOST]
    ]
    waiting = [f"{pod.namespace}/{pod.name}" for pod in cluster.pending]
    return _sorted(0, "", nodes, len(cluster.nodes), waiting)


def _of_cycle(run: Run, cycle: int, point: str) -> Picture | None:
    state = trace.state_before(run=run, cycle=cycle)
    document = trace.cycle_or_part(run=run, cycle=cycle)
    if state is None or document is None:
        return None
    pods: dict[int, list[str]] = {}
    waiting: list[str] = []
    for pod in state.pods.values():
        if pod.occupies:
            pods.setdefault(pod.node, []).append(pod.name)
        elif pod.node < 0 and not pod.terminating:
            waiting.append(f"{pod.namespace}/{pod.name}")
    nodes: list[NodeDrawn] = [
        {
            "name": node.name,
            "zone": node.zone,
            "pods": sorted(pods.get(number, ()))[:MOST_PODS],
            "n_pods": len(pods.get(number, ())),
            **_verdict(document, node.name, point),
        }
        for number, node in list(state.nodes.items())[:MOST]
    ]
    return _sorted(cycle, document["pod"], nodes, len(state.nodes), waiting)


class _Verdict(TypedDict):
    state: State
    says: str


def _verdict(document: CycleDocument, node: str, point: str) -> _Verdict:
    """What a cycle says of a node up to a point."""
    far = POINTS.index(point) if point in POINTS else len(POINTS)
    if far < POINTS.index("Filter"):
        return {"state": "", "says": ""}
    if far >= POINTS.index("Reserve") and document["node"] == node:
        total = document["totals"].get(node)
        return {"state": "chosen", "says": "" if total is None else str(total)}
    if far >= POINTS.index("PostFilter") and _nominates(document, node):
        return {"state": "nominated", "says": ""}
    if node in document["filter"]:
        return {"state": "rejected", "says": str(document["filter"][node]["plugin"])}
    if node not in document["feasible"]:
        return {"state": "unexamined", "says": ""}
    total = document["totals"].get(node) if far >= POINTS.index("Score") else None
    return {"state": "feasible", "says": "" if total is None else str(total)}


def _nominates(document: CycleDocument, node: str) -> bool:
    preemption = document["preemption"]
    return preemption is not None and preemption.get("nominated_node") == node


def _sorted(
    cycle: int, pod: str, nodes: list[NodeDrawn], n_nodes: int, waiting: list[str]
) -> Picture:
    """Zones stay together, and no node moves from one moment to the next."""
    nodes.sort(key=lambda each: (each["zone"], each["name"]))
    return {
        "cycle": cycle,
        "pod": pod,
        "nodes": nodes,
        "n_nodes": n_nodes,
        "waiting": sorted(waiting)[:MOST_PODS],
    }
