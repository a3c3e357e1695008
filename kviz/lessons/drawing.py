"""Nodes and pods of a step's picture, each with the values that are in question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypedDict, cast

from kviz.lessons.asking import Ask, Objects, asks_of
from kviz.lessons.facts import POINTS
from kviz.lessons.needs import Kinds
from kviz.runs.reading.projection import CycleDocument
from scheduler_core.api import PersistentVolume, ResourceSlice
from scheduler_core.api.selectors import node_selector_matches
from scheduler_core.api.timestamps import timestamp_text
from scheduler_core.evidence.requirement import short_key
from scheduler_core.trace.fold import NodeState, PodState, TraceState
from scheduler_core.trace.records import Queue

MOST_PODS: Final = 24
"""Pods of a node that are drawn."""
COMPARED: Final = ("cpu", "memory")
PLACES: Final = (
    *(Queue.ACTIVE, Queue.BACKOFF, Queue.UNSCHEDULABLE, Queue.WAITING_ON_PERMIT, Queue.GATED),
)
"""Where pods wait."""
ZONE: Final = "topology.kubernetes.io/zone"

State = Literal["", "rejected", "feasible", "unexamined", "chosen", "nominated"]


class PodDrawn(TypedDict):
    """A pod with what it requests; `priority` is null where it is not in question."""

    name: str
    requests: dict[str, int]
    priority: int | None
    labels: list[str]
    asks: list[str]


class PodOnNode(PodDrawn):
    """`started` is ISO time where victims are in question, `breaks_budget` of a victim."""

    is_victim: bool
    breaks_budget: bool
    started: str


class TaintDrawn(TypedDict):
    """`is_soft`: PreferNoSchedule, which Score looks at and Filter does not."""

    text: str
    is_soft: bool


class ScoreDrawn(TypedDict):
    """`points` are normalised as far as that is known."""

    plugin: str
    weight: int
    points: int


class NodeDrawn(TypedDict):
    """`says` is the plugin that was first to reject the node, or its total.

    What is not in question is empty. `room` has what is free and what is allocatable.
    """

    name: str
    zone: str
    state: State
    says: str
    is_cordoned: bool
    room: dict[str, tuple[int, int]]
    taints: list[TaintDrawn]
    labels: list[str]
    pods: list[PodOnNode]
    n_pods: int
    holds: list[str]
    scores: list[ScoreDrawn]


@dataclass(frozen=True)
class Scene:
    """What a picture is drawn from; `document` is of the cycle that it is about."""

    state: TraceState
    document: CycleDocument | None
    kinds: Kinds
    objects: Objects
    asks: list[Ask]
    point: str
    is_open: bool
    pod: PodState | None

    @cached_property
    def n_waiting(self) -> int:
        return sum(pod.queue in PLACES and not pod.terminating for pod in self.state.pods.values())

    @cached_property
    def resources(self) -> list[str]:
        """Those that are compared: cpu, memory, and what else the pod requests."""
        if not {"resources", "priorities", "queue", "candidates"} & self.kinds:
            return []
        amounts = _amounts(self.state, self.pod.requests) if self.pod else {}
        more = [name for name, n in amounts.items() if n and name not in (*COMPARED, "pods")]
        return [*COMPARED, *more]

    @cached_property
    def most(self) -> dict[str, int]:
        """The largest amount of each resource: all are drawn to one scale."""
        found = dict.fromkeys(self.resources, 0)
        amounts = [node.allocatable for node in self.state.nodes.values()]
        amounts += [self.pod.requests] if self.pod else []
        for each in amounts:
            named = _amounts(self.state, each)
            found = {name: max(n, named.get(name, 0)) for name, n in found.items()}
        return found

    @cached_property
    def node_keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(ask.node_keys for ask in self._in_question))

    @cached_property
    def pod_keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(ask.pod_keys for ask in self._in_question))

    @cached_property
    def _in_question(self) -> list[Ask]:
        return [ask for ask in self.asks if ask.kinds <= self.kinds]

    @cached_property
    def victims(self) -> Mapping[str, bool]:
        """By pod, whether its eviction breaks a budget; of all candidates that are known."""
        preemption = self.document["preemption"] if self.document else None
        if preemption is None or (self.is_open and "candidates" not in self.kinds):
            return {}
        found: dict[str, bool] = {}
        for candidate in preemption["candidates"].values():
            breaks = {
                each["pod"]: bool(each["violates_pdb"])
                for each in cast("list[dict[str, str]]", candidate["reprieves"])
            }
            victims = cast("list[str]", candidate["victims"])
            found |= {pod: breaks.get(pod, False) for pod in victims}
        return found


def _amounts(state: TraceState, amounts: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(state.resources, amounts, strict=False))


def pod_drawn(scene: Scene, pod: PodState) -> PodDrawn:
    amounts = _amounts(scene.state, pod.requests)
    manifest = scene.objects.pods.get(f"{pod.namespace}/{pod.name}")
    labels = manifest.metadata.labels if manifest and "labels" in scene.kinds else {}
    asks = scene.asks if pod is scene.pod else asks_of(manifest, scene.objects)
    special = "labels" in scene.kinds or {"volumes", "devices"} & scene.kinds
    return {
        "name": f"{pod.namespace}/{pod.name}",
        "requests": {name: amounts[name] for name in scene.resources if amounts.get(name)},
        "priority": pod.priority if {"priorities", "candidates"} & scene.kinds else None,
        "labels": [f"{key}={labels[key]}" for key in sorted(scene.pod_keys) if key in labels],
        "asks": [
            ask.text
            for ask in asks
            if special and ask.kinds <= scene.kinds and not ask.kinds <= {"taints"}
        ],
    }


def _pod_on_node(scene: Scene, pod: PodState) -> PodOnNode:
    drawn = pod_drawn(scene, pod)
    key = drawn["name"]
    manifest = scene.objects.pods.get(key)
    started = manifest.status.start_time if manifest and scene.victims else None
    return {
        **drawn,
        "name": pod.name,
        "is_victim": key in scene.victims,
        "breaks_budget": scene.victims.get(key, False),
        "started": timestamp_text(started) if started else "",
    }


def node_drawn(scene: Scene, number: int) -> NodeDrawn:
    node, kinds = scene.state.nodes[number], scene.kinds
    pods = [pod for pod in scene.state.pods.values() if pod.occupies and pod.node == number]
    state, says = verdict(scene, node.name)
    drawn = sorted(pods, key=lambda pod: (-pod.priority, pod.name)) if "pods" in kinds else []
    return {
        "name": node.name,
        "zone": node.zone if ZONE in scene.node_keys or not kinds else "",
        "state": state,
        "says": says,
        "is_cordoned": node.unschedulable and "taints" in kinds,
        "room": _room(scene, number) if {"resources", "candidates"} & kinds else {},
        "taints": [
            {"text": _taint(each.key, each.value, each.effect), "is_soft": each.effect == SOFT}
            for each in (node.taints if "taints" in kinds else ())
        ],
        "labels": [
            f"{short_key(key)}={node.labels[key]}"
            for key in sorted(scene.node_keys)
            if key in node.labels
        ],
        "pods": [_pod_on_node(scene, pod) for pod in drawn[:MOST_PODS]],
        "n_pods": len(pods) if "pods" in kinds else 0,
        "holds": [*_volumes(scene, node), *_devices(scene, node)],
        "scores": _scores(scene, node.name),
    }


SOFT: Final = "PreferNoSchedule"


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _room(scene: Scene, number: int) -> dict[str, tuple[int, int]]:
    state, node = scene.state, scene.state.nodes[number]
    usage = state.usage.get(number)
    allocatable = _amounts(state, node.allocatable)
    used = _amounts(state, tuple(usage.requested)) if usage else {}
    found = {
        name: (allocatable.get(name, 0) - used.get(name, 0), allocatable.get(name, 0))
        for name in scene.resources
    }
    seats = allocatable.get("pods", 0)
    free = seats - (usage.n_pods if usage else 0)
    if seats and free < max(scene.n_waiting, 1):
        found["pods"] = (free, seats)
    return found


def _volumes(scene: Scene, node: NodeState) -> list[str]:
    if "volumes" not in scene.kinds:
        return []
    found = []
    for volume in scene.objects.all.of(PersistentVolume):
        only = volume.spec.node_affinity.required if volume.spec.node_affinity else None
        if only is not None and not node_selector_matches(only, node.labels, node.name):
            continue
        size, of = volume.spec.capacity.get("storage", ""), volume.spec.storage_class_name
        found.append(", ".join(filter(None, (volume.metadata.name, of, size))))
    return found


def _devices(scene: Scene, node: NodeState) -> list[str]:
    if "devices" not in scene.kinds:
        return []
    slices = [each.spec for each in scene.objects.all.of(ResourceSlice)]
    return [
        f"{spec.driver}/{device.name}"
        for spec in slices
        if node.name in (spec.node_name, *(each.node_name for each in spec.devices))
        for device in spec.devices
        if spec.node_name == node.name or device.node_name == node.name
    ]


def _scores(scene: Scene, node: str) -> list[ScoreDrawn]:
    if scene.document is None or "scores" not in scene.kinds:
        return []
    found = []
    for plugin, scores in scene.document["scores"].items():
        points = scores["normalized"].get(node, scores["raw"].get(node))
        if points is not None:
            found.append(ScoreDrawn(plugin=plugin, weight=scores["weight"], points=points))
    return found


def verdict(scene: Scene, node: str) -> tuple[State, str]:
    """What the cycle says of a node up to the point that is looked at."""
    document, point = scene.document, scene.point
    if document is None:
        return "", ""
    far = POINTS.index(point) if point in POINTS else len(POINTS)
    if far < POINTS.index("Filter"):
        return "", ""
    total = document["totals"].get(node)
    says = "" if total is None or scene.is_open else str(total)
    if far >= POINTS.index("Reserve") and document["node"] == node and not scene.is_open:
        return "chosen", says
    if far >= POINTS.index("PostFilter") and _nominates(document, node) and not scene.is_open:
        return "nominated", ""
    if node in document["filter"]:
        return "rejected", str(document["filter"][node]["plugin"])
    if node not in document["feasible"]:
        return "unexamined", ""
    return "feasible", says if far >= POINTS.index("Score") else ""


def _nominates(document: CycleDocument, node: str) -> bool:
    preemption = document["preemption"]
    return preemption is not None and preemption.get("nominated_node") == node
