"""A run and the optimum as two placements, as two maps side by side are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from django.utils.translation import gettext as _

from kviz.runs.execution.engine import cluster_of
from kviz.runs.models import Run
from scheduler_core.api import Node, Pod
from scheduler_core.cluster.requests import integer_resources, pod_requests
from scheduler_core.cluster.topology_keys import ZONE
from scheduler_core.trace.tables import TERMINAL_PHASES

MAX_DRAWN: Final = 5_000
"""So many nodes and pods are sent along with a page."""
DRAWN: Final = ("cpu", "memory")


class NodeDrawn(TypedDict):
    name: str
    zone: str
    allocatable: dict[str, int]


class PodDrawn(TypedDict):
    pod: str
    node: str
    requests: dict[str, int]


class Moved(TypedDict):
    """A pod that is elsewhere; a node is empty where it is pending."""

    pod: str
    run: str
    optimum: str


class Placement(TypedDict):
    """What one map is drawn from (docs/comparing.md)."""

    title: str
    nodes: list[NodeDrawn]
    pods: list[PodDrawn]


def placements(
    run: Run, moved: Sequence[Moved], assignment: dict[str, str]
) -> dict[str, Placement] | None:
    """Return the run as `a` and the optimum as `b`; None where they are too large to be sent."""
    objects, _options = cluster_of(run)
    nodes = [_node(item) for item in objects if isinstance(item, Node)]
    pods = [item for item in objects if isinstance(item, Pod) and _takes_room(item)]
    if len(nodes) + len(pods) > MAX_DRAWN:
        return None
    there = {pod.key: pod.spec.node_name for pod in pods} | assignment
    at_best = there | {each["pod"]: each["optimum"] for each in moved}
    as_run = there | {each["pod"]: each["run"] for each in moved}
    return {
        "a": {
            "title": _("As the scheduler placed them"),
            "nodes": nodes,
            "pods": [_pod(pod, as_run[pod.key]) for pod in pods],
        },
        "b": {
            "title": _("At best"),
            "nodes": nodes,
            "pods": [_pod(pod, at_best[pod.key]) for pod in pods],
        },
    }


def _takes_room(pod: Pod) -> bool:
    return pod.status.phase not in TERMINAL_PHASES


def _node(node: Node) -> NodeDrawn:
    has = integer_resources(node.status.allocatable)
    return {
        "name": node.name,
        "zone": node.metadata.labels.get(ZONE, ""),
        "allocatable": {name: has[name] for name in DRAWN if name in has},
    }


def _pod(pod: Pod, node: str) -> PodDrawn:
    asked = pod_requests(pod).asked
    return {
        "pod": pod.key,
        "node": node,
        "requests": {name: asked[name] for name in DRAWN if name in asked},
    }
