"""The cluster at a moment, with the values that the step's question is answered from.

Which kinds of values these are follows from the question (`kviz.lessons.needs`). No more is in it:
at Filter no scores, before the pick no chosen node, and before the reveal no total.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypedDict
from uuid import UUID

from django.utils.translation import get_language

from kviz.common.wording import translated
from kviz.lessons.asking import Ask, Objects, asks_of, kinds_asked, objects_of
from kviz.lessons.drawing import PLACES, NodeDrawn, PodDrawn, Scene, node_drawn, pod_drawn
from kviz.lessons.lesson import Question
from kviz.lessons.needs import NOTHING, QUEUE, Situation, kinds_of
from kviz.runs.models import Run
from kviz.runs.reading import trace
from kviz.runs.reading.projection import CycleDocument
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.sentences import sentence
from scheduler_core.sim import load_scenario
from scheduler_core.trace.fold import PodState, TraceState
from scheduler_core.trace.records import Queue

MOST: Final = 200
"""Nodes that are drawn."""
MOST_WAITING: Final = 24
MOST_CYCLES: Final = 12
NS: Final = 1_000_000_000

SECRET: Final = ("order_tried", "pod")
"""Facts that the order of the queue would answer: they show the order of arrival."""


class PodInQuestion(PodDrawn):
    """The pod; `asks` are what else it asks for, `tolerates` in the manner of taints."""

    tolerates: list[str]


class Waiting(PodDrawn):
    """`place` is where it waits (`active`, `backoff`, ...), `held_on` its nominated node."""

    place: str
    held_on: str


class PastCycle(TypedDict):
    cycle: int
    pod: str
    result: str
    node: str


class Event(TypedDict):
    """What the scenario does, seconds after the run's beginning."""

    at_s: float
    text: str


class Picture(TypedDict):
    """`is_next`: no cycle has begun for `pod` yet. `n_nodes` counts also nodes not drawn.

    `resources` are those compared, in order; `most` is the largest amount of each, one scale
    for all. `in_order`: `waiting` is the queue's order, else that of arrival.
    """

    cycle: int
    kinds: list[str]
    pod: PodInQuestion | None
    is_next: bool
    resources: list[str]
    most: dict[str, int]
    weights: dict[str, int]
    nodes: list[NodeDrawn]
    n_nodes: int
    waiting: list[Waiting]
    n_waiting: int
    in_order: bool
    history: list[PastCycle]
    events: list[Event]


@dataclass(frozen=True)
class View:
    """What a picture is wanted of: a moment, and what is asked there.

    `topic` decides on the kinds of values; it is the question of the step, or for a step without
    one that of a neighbour. `is_open`: the step asks it, and the answer is not revealed.
    """

    cycle: int
    point: str = ""
    pod: str = ""
    topic: Question | None = None
    is_open: bool = False
    is_free: bool = False
    """In a class about any run, which shows the queue."""

    @property
    def subject(self) -> int:
        """The cycle that the picture is about; one more than the last known: what is next."""
        if self.is_open and self.topic is not None:
            return self.topic.fact.cycle or self.cycle + 1
        return self.cycle

    @property
    def is_of_cycle(self) -> bool:
        """Whether it is about one cycle, and not about what the run comes to."""
        is_of_run = self.is_open and self.topic is not None and not self.topic.fact.cycle
        return self.subject > 0 and not is_of_run

    @property
    def value(self) -> str:
        """The head of the way to the fact."""
        if self.topic is None:
            return ""
        value = self.topic.fact.value
        return value if isinstance(value, str) else str(value[0])


def picture_of(run: Run, view: View) -> Picture | None:
    """The cluster as a view has it; None if that is not stored yet."""
    if not trace.cycle_is_stored(run=run, cycle=view.cycle):
        return None
    return _picture(run.pk, view, run.last_seq, get_language() or "")


@lru_cache(maxsize=128)
def _picture(run_id: UUID, view: View, last_seq: int, language: str) -> Picture | None:
    """What a run has known up to `last_seq` never changes."""
    del last_seq, language
    run = Run.objects.select_related("snapshot").get(pk=run_id)
    state = trace.state_before(run=run, cycle=max(view.subject, 1)) or trace.state_known(run=run)
    if state is None or run.snapshot is None:
        return None
    document = trace.cycle_or_part(run=run, cycle=view.subject) if view.is_of_cycle else None
    objects = objects_of(run.snapshot)
    number = _pod_in_question(state, view, document)
    pod = state.pods.get(number) if number is not None else None
    asks = _asks(pod, objects)
    now = _situation(state, document, asks, objects, run)
    kinds = kinds_of(view.topic, now) if view.topic else now.asks
    kinds |= QUEUE if view.is_free else NOTHING
    scene = Scene(
        state,
        document,
        kinds,
        objects,
        asks,
        point=view.point,
        is_open=view.is_open,
        pod=pod,
    )
    return _assembled(run, view, scene)


def _asks(pod: PodState | None, objects: Objects) -> list[Ask]:
    return asks_of(objects.pods.get(f"{pod.namespace}/{pod.name}"), objects) if pod else []


def _situation(
    state: TraceState,
    document: CycleDocument | None,
    asks: list[Ask],
    objects: Objects,
    run: Run,
) -> Situation:
    has_taints = any(node.taints or node.unschedulable for node in state.nodes.values())
    waiting = [asks_of(objects.pods.get(_key(pod)), objects) for pod in _waiting(state)]
    all_asks = [each for pods_asks in waiting for each in pods_asks]
    held = any(pod.nominated_node >= 0 for pod in state.pods.values())
    permits = any(pod.queue == Queue.WAITING_ON_PERMIT for pod in state.pods.values())
    more = QUEUE if held or permits else NOTHING
    preemption = document["preemption"] if document else None
    return Situation(
        asks=kinds_asked(asks, has_taints=has_taints) | more,
        pods_ask=kinds_asked(all_asks, has_taints=has_taints) | more,
        has_scores=bool(document and document["scores"]),
        has_dry_runs=bool(preemption and preemption["candidates"]),
        has_events=bool(run.scenario.strip()) and bool(load_scenario(run.scenario).steps),
    )


def _key(pod: PodState) -> str:
    return f"{pod.namespace}/{pod.name}"


def _pod_in_question(state: TraceState, view: View, document: CycleDocument | None) -> int | None:
    """The pod that the question is about, or the cycle; None if naming it would answer it."""
    if view.is_open and view.value in SECRET:
        return None
    name = document["pod"] if document else ""
    if not name and view.is_open and view.topic is not None:
        if not view.topic.fact.cycle and not view.topic.fact.pod:
            return None
        name = view.topic.fact.pod or view.pod
    if name:
        return next((i for i, pod in state.pods.items() if _key(pod) == name), None)
    if not view.is_open:
        return None
    active = [pod for pod in queue_order(state) if state.pods[pod].queue == Queue.ACTIVE]
    return active[0] if active else None


def _waiting(state: TraceState) -> list[PodState]:
    return [state.pods[number] for number in queue_order(state)]


def queue_order(state: TraceState) -> list[int]:
    """The waiting pods: the active queue as PrioritySort has it, then backoff and the others."""
    found = [
        (PLACES.index(pod.queue), -pod.priority, pod.moved_at_ns, number)
        for number, pod in state.pods.items()
        if pod.queue in PLACES and not pod.terminating
    ]
    return [number for *_, number in sorted(found)]


def _assembled(run: Run, view: View, scene: Scene) -> Picture:
    state, kinds = scene.state, scene.kinds
    nodes = [node_drawn(scene, number) for number in list(state.nodes)[:MOST]]
    nodes.sort(key=lambda each: (each["zone"], each["name"]))
    in_order = not (view.is_open and view.value in SECRET)
    order = queue_order(state)
    numbers = order if in_order else sorted(order)
    waiting = [_waiting_drawn(scene, number) for number in numbers] if "queue" in kinds else []
    pod = pod_drawn(scene, scene.pod) if scene.pod else None
    tolerates = [ask.text for ask in scene.asks if ask.kinds <= {"taints"}]
    return {
        "cycle": view.cycle,
        "kinds": sorted(kinds),
        "pod": None
        if pod is None
        else {**pod, "tolerates": tolerates if "taints" in kinds else []},
        "is_next": scene.document is None,
        "resources": scene.resources,
        "most": scene.most,
        "weights": _weights(run, scene) if "scores" in kinds else {},
        "nodes": nodes,
        "n_nodes": len(state.nodes),
        "waiting": waiting[:MOST_WAITING],
        "n_waiting": len(waiting),
        "in_order": in_order,
        "history": _history(run, view) if "history" in kinds else [],
        "events": _events(run, scene.objects) if "events" in kinds else [],
    }


def _waiting_drawn(scene: Scene, number: int) -> Waiting:
    pod = scene.state.pods[number]
    held = scene.state.nodes.get(pod.nominated_node)
    drawn = pod_drawn(scene, pod)
    return {
        **drawn,
        "name": _key(pod),
        "place": pod.queue.name.lower(),
        "held_on": held.name if held else "",
    }


def _weights(run: Run, scene: Scene) -> dict[str, int]:
    """Of the Score plugins, as far as a cycle is known that has come to Score."""
    cycles = [scene.document] if scene.document else []
    cycles += [each for _, each in trace.cycles_latest(run=run, limit=MOST_CYCLES)]
    scores = next((each["scores"] for each in cycles if each["scores"]), {})
    return {plugin: each["weight"] for plugin, each in scores.items()}


def _history(run: Run, view: View) -> list[PastCycle]:
    upto = max(view.cycle, view.subject - 1)
    rows = run.cycle_rows.filter(number__lte=upto).order_by("-number")[:MOST_CYCLES]
    return [
        {"cycle": row.number, "pod": row.pod, "result": row.result, "node": row.node}
        for row in reversed(rows)
    ]


def _events(run: Run, objects: Objects) -> list[Event]:
    cluster = RestingCluster(objects.all)
    return [
        {"at_s": step.at_ns / NS, "text": translated(sentence(step.action, cluster))}
        for step in load_scenario(run.scenario).steps
    ]
