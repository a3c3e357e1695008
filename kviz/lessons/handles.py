"""Handles of a task: what may be changed as controls, each of which writes a line of changes.

A page shows them before the line language (docs/changes.md), which can say more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Final, Literal, TypedDict
from uuid import UUID

from django.utils.translation import get_language, gettext

from kviz.common.wording import translated
from kviz.lessons.lesson import Task
from kviz.runs.inputs import rules_of
from kviz.runs.models import Run
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.api import Node, PersistentVolumeClaim, Pod, Taint
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.pod import TopologySpreadConstraint
from scheduler_core.changes.rules import Rules, weights_of
from scheduler_core.evidence.taints import taint_text, toleration_text

Kind = Literal["number", "range", "choice", "toggle"]

MOST_OBJECTS: Final = 12
"""Of a task that lets everything be changed."""
MOST_WEIGHT: Final = 10
ON: Final = "on"
BY_ADMISSION: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Taints that every pod tolerates for five minutes."""
HOSTNAME: Final = "kubernetes.io/hostname"
FREE: Final = tuple(f"keep=free:{effect}" for effect in ("PreferNoSchedule", "NoSchedule"))
"""Taints that can be put on where the cluster has none of the kind."""

_QUANTITY: Final = re.compile(r"(\d+(?:\.\d+)?)(m|[KMGT]i?|k)?")
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
_PLAIN_KEY: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Option:
    """A value to pick; `line` makes it so, empty for what is so now."""

    value: str
    text: str
    line: str = ""


@dataclass(frozen=True)
class Handle:
    """A control on an object or rule (`of`), which stands at `now`.

    A number, or a range to drag, writes `line`, the value and `unit`; other kinds have options.
    """

    of: str
    label: str
    kind: Kind
    now: str
    options: tuple[Option, ...] = ()
    line: str = ""
    unit: str = ""
    least: int | None = 0
    most: int | None = None
    step: str = "1"

    def line_for(self, value: str) -> str:
        """The line that moves the handle to a value; empty where it stands there, or cannot."""
        value = value.strip()
        if value == self.now:
            return ""
        if self.options:
            return next((each.line for each in self.options if each.value == value), "")
        return f"{self.line}{value}{self.unit}" if value else ""

    def value_for(self, line: str) -> str | None:
        """The value at which a line puts the handle; None for a line of something else."""
        if self.options:
            return next((each.value for each in self.options if each.line == line), None)
        value = line.removeprefix(self.line).removesuffix(self.unit)
        is_own = line == f"{self.line}{value}{self.unit}" and _NUMBER.fullmatch(value)
        return value if is_own else None


class HandleDocument(TypedDict):
    """A handle as pages have it; `id` is unique in its task."""

    id: str
    of: str
    label: str
    kind: Kind
    now: str
    options: list[dict[str, str]]
    line: str
    unit: str
    least: int | None
    most: int | None
    step: str


def handle_documents(run: Run, task: Task) -> list[HandleDocument]:
    """The handles of a task on a lesson's run, in the reader's language."""
    found = handles_of(run, task)
    return [{"id": f"h{i}", **asdict(each)} for i, each in enumerate(found)]  # type: ignore[typeddict-item]


def lines_moved(run: Run, task: Task, given: Mapping[str, str]) -> list[str]:
    """The lines of a form whose fields are called by the handles' ids.

    A toggle that is off is not among the fields; a form without handles moves none.
    """
    lines = []
    for i, each in enumerate(handles_of(run, task)):
        value = given.get(f"h{i}", "" if each.kind == "toggle" else each.now)
        lines.append(each.line_for(value))
    return [line for line in lines if line]


def moved_by(run: Run, task: Task, text: str) -> tuple[dict[str, str], str]:
    """Where lines put the handles, by id, and the lines that no handle writes."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    moved: dict[str, str] = {}
    handles = list(enumerate(handles_of(run, task)))
    rest = []
    for line in lines:
        found = next(((i, v) for i, h in handles if (v := h.value_for(line)) is not None), None)
        if found is None:
            rest.append(line)
        else:
            moved[f"h{found[0]}"] = found[1]
    return moved, "\n".join(rest)


def handles_of(run: Run, task: Task) -> tuple[Handle, ...]:
    """What a task lets be changed, as controls."""
    return _handles(run.pk, task, get_language() or "")


@lru_cache(maxsize=64)
def _handles(run_id: UUID, task: Task, language: str) -> tuple[Handle, ...]:
    """A run's cluster and rules never change."""
    del language
    run = Run.objects.select_related("snapshot").get(pk=run_id)
    assert run.snapshot is not None  # lessons are simulated
    objects = snapshot_objects(snapshot=run.snapshot)
    return tuple(made_of(task, objects, rules_of(run)))


def made_of(task: Task, objects: ClusterObjects, rules: Rules) -> Iterator[Handle]:
    """Yield the handles of what a task lets be changed in a cluster."""
    pods = {f"pod/{each.key}": each for each in objects.of(Pod)}
    nodes = {f"node/{each.metadata.name}": each for each in objects.of(Node)}
    for of in task.of or [*nodes, *pods][:MOST_OBJECTS]:
        if of in pods:
            yield from _of_pod(of, pods[of], objects)
        elif of in nodes:
            yield from _of_node(of, nodes[of], objects)
        elif of == "weight":
            yield from _weights(rules)
        elif of == "scoring":
            yield from _scoring(rules)


def _toggle(of: str, label: str, *, on: bool, line: str) -> Handle:
    here, there = (ON, "") if on else ("", ON)
    return Handle(of, label, "toggle", here, (Option(here, ""), Option(there, "", line)))


def _choice(of: str, label: str, now: Option, others: Iterable[Option]) -> Handle:
    return Handle(of, label, "choice", now.value, (now, *others))


# ---------------------------------------------------------------- pods


def _of_pod(of: str, pod: Pod, objects: ClusterObjects) -> Iterator[Handle]:
    yield from _requests(of, pod)
    priority = str(pod.spec.priority or 0)
    yield Handle(of, "priority", "number", priority, line=_set(of, "priority"), least=None)
    if not pod.spec.node_name:
        yield _one_of(
            *(of, "preemptionPolicy", _set(of, "preemptionPolicy")),
            *(pod.spec.preemption_policy or "PreemptLowerPriority",),
            ("PreemptLowerPriority", "Never"),
        )
        yield from _tolerations(of, pod, objects)
        yield from _node_selector(of, pod, objects)
        yield from _affinity(of, pod)
        yield from _spread(of, pod)
        yield from _claims(of, pod, objects)
        for gate in pod.spec.scheduling_gates:
            path = f"schedulingGates[name={gate.name}]"
            yield _toggle(
                of, gettext("gate %(name)s") % {"name": gate.name}, on=True, line=_gone(of, path)
            )
    yield _toggle(of, gettext("delete the pod"), on=False, line=f"{of} delete")


def _set(of: str, path: str) -> str:
    """The beginning of a line that sets a field of a spec; the value follows."""
    return f"{of} set spec.{path}="


def _gone(of: str, path: str) -> str:
    return f"{_set(of, path)}null"


def _key(base: str, key: str) -> str:
    return f"{base}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{base}[{key}]"


def _one_of(of: str, label: str, line: str, now: str, values: Iterable[str]) -> Handle:
    """A field that holds one of some words."""
    others = (Option(each, each, f"{line}{each}") for each in values if each != now)
    return _choice(of, label, Option(now, now), others)


def _requests(of: str, pod: Pod) -> Iterator[Handle]:
    for i, container in enumerate(pod.spec.containers):
        for resource, quantity in container.resources.requests.items():
            path = _key(f"containers[{i}].resources.requests", resource)
            label = _key("requests", resource)
            named = f"{container.name}: {label}" if len(pod.spec.containers) > 1 else label
            if (found := _amount(resource, str(quantity))) is not None:
                yield replace(found, of=of, label=named, line=_set(of, path))


def _amount(resource: str, quantity: str) -> Handle | None:
    """A quantity as a number with its unit, cpu in cores; None for one that has no such form."""
    found = _QUANTITY.fullmatch(quantity)
    if found is None:
        return None
    number, unit = found[1], found[2] or ""
    if unit == "m":
        number, unit = f"{float(number) / 1000:g}", ""
    step = "0.05" if resource == "cpu" else "1"
    if (float(number) / float(step)) % 1 > 1e-6:
        step = "any"
    return Handle("", "", "number", number, unit=unit, step=step)


def _tolerations(of: str, pod: Pod, objects: ClusterObjects) -> Iterator[Handle]:
    """Those it has, to be taken away; the cluster's taints that it has none for, to tolerate."""
    has = [translated(toleration_text(each)) for each in pod.spec.tolerations]
    for i, (each, text) in reversed(list(enumerate(zip(pod.spec.tolerations, has, strict=True)))):
        if each.key not in BY_ADMISSION:
            label = gettext("tolerates %(taint)s") % {"taint": text}
            yield _toggle(of, label, on=True, line=_gone(of, f"tolerations[{i}]"))
    for text, taint in _taints(objects).items():
        if text in has or taint.key in BY_ADMISSION:
            continue
        value = (
            {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
        )
        toleration = {"key": taint.key, **value, "effect": taint.effect}
        line = _set(of, "tolerations[+]") + json.dumps(toleration, separators=(",", ":"))
        label = gettext("tolerates %(taint)s") % {"taint": text}
        yield _toggle(of, label, on=False, line=line)


def _taints(objects: ClusterObjects) -> dict[str, Taint]:
    """The different taints of the cluster by their texts, in the nodes' order."""
    return {taint_text(each): each for node in objects.of(Node) for each in node.spec.taints}


def _labels(objects: ClusterObjects) -> list[tuple[str, str]]:
    """The labels of the nodes, each key and value once."""
    pairs = [pair for node in objects.of(Node) for pair in node.metadata.labels.items()]
    return list(dict.fromkeys(pairs))


def _node_selector(of: str, pod: Pod, objects: ClusterObjects) -> Iterator[Handle]:
    has = pod.spec.node_selector
    for key, value in has.items():
        label = f"nodeSelector {key}={value}"
        yield _toggle(of, label, on=True, line=_gone(of, _key("nodeSelector", key)))
    others = [
        Option(f"{key}={value}", f"{key}={value}", _set(of, _key("nodeSelector", key)) + value)
        for key, value in _labels(objects)
        if has.get(key) != value
    ]
    if others:
        label = gettext("only on nodes with")
        yield _choice(of, label, Option("", gettext("as it is")), others)


def _affinity(of: str, pod: Pod) -> Iterator[Handle]:
    affinity = pod.spec.affinity
    if affinity is None:
        return
    held = {
        "nodeAffinity": affinity.node_affinity,
        "podAffinity": affinity.pod_affinity,
        "podAntiAffinity": affinity.pod_anti_affinity,
    }
    for name, value in held.items():
        if value is not None:
            yield _toggle(of, name, on=True, line=_gone(of, f"affinity.{name}"))


def _spread(of: str, pod: Pod) -> Iterator[Handle]:
    for i, each in enumerate(pod.spec.topology_spread_constraints):
        at = f"topologySpreadConstraints[{i}]"
        yield from _of_constraint(of, at, each)


def _of_constraint(of: str, at: str, each: TopologySpreadConstraint) -> Iterator[Handle]:
    yield Handle(
        *(of, f"{each.topology_key}: maxSkew", "number", str(each.max_skew)),
        line=_set(of, f"{at}.maxSkew"),
        least=1,
    )
    words = {
        "whenUnsatisfiable": (
            each.when_unsatisfiable or "DoNotSchedule",
            ("DoNotSchedule", "ScheduleAnyway"),
        ),
        "nodeAffinityPolicy": (each.node_affinity_policy or "Honor", ("Honor", "Ignore")),
        "nodeTaintsPolicy": (each.node_taints_policy or "Ignore", ("Ignore", "Honor")),
    }
    for name, (now, values) in words.items():
        yield _one_of(of, name, _set(of, f"{at}.{name}"), now, values)


def _claims(of: str, pod: Pod, objects: ClusterObjects) -> Iterator[Handle]:
    space = pod.metadata.namespace
    claims = [
        each.metadata.name
        for each in objects.of(PersistentVolumeClaim)
        if each.metadata.namespace == space
    ]
    for i, volume in enumerate(pod.spec.volumes):
        if volume.persistent_volume_claim is not None:
            line = _set(of, f"volumes[{i}].persistentVolumeClaim.claimName")
            now = volume.persistent_volume_claim.claim_name
            yield _one_of(of, "claimName", line, now, claims)


# ---------------------------------------------------------------- nodes


def _of_node(of: str, node: Node, objects: ClusterObjects) -> Iterator[Handle]:
    cordoned = node.spec.unschedulable
    line = f"{of} {'uncordon' if cordoned else 'cordon'}"
    yield _toggle(of, gettext("cordoned"), on=cordoned, line=line)
    has = node.spec.taints
    for taint in has:
        is_only = sum(each.key == taint.key for each in has) == 1
        named = taint.key if is_only else f"{taint.key}:{taint.effect}"
        label = gettext("taint %(taint)s") % {"taint": taint_text(taint)}
        yield _toggle(of, label, on=True, line=f"{of} untaint {named}")
    offered = dict.fromkeys((*_taints(objects), *FREE))
    texts = {taint_text(each) for each in has}
    puts = (Option(each, each, f"{of} taint {each}") for each in offered if each not in texts)
    yield _choice(of, gettext("put a taint on"), Option("", gettext("as it is")), puts)
    own = node.metadata.labels
    labels = [f"{k}={v}" for k, v in _labels(objects) if k != HOSTNAME and own.get(k) != v]
    if labels:
        sets = (Option(each, each, f"{of} label {each}") for each in labels)
        yield _choice(of, gettext("set a label"), Option("", gettext("as it is")), sets)


# ---------------------------------------------------------------- rules


def _weights(rules: Rules) -> Iterator[Handle]:
    for plugin, weight in weights_of(rules.load()).items():
        yield Handle(
            *("weight", plugin, "range", str(weight)),
            line=f"weight {plugin}=",
            least=1,
            most=max(MOST_WEIGHT, 2 * weight),
        )


def _scoring(rules: Rules) -> Iterator[Handle]:
    now = rules.scoring_now()
    if now is not None:
        values = ("LeastAllocated", "MostAllocated")
        yield _one_of("scoring", "NodeResourcesFit", "scoring ", now.strategy.value, values)
