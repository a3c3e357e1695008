"""Every sentence of a trace is there with what it is made of, and the Explorer can say it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from django.utils import translation

from kviz.common.wording import translated
from kviz.sentences import MOST_CHARS, all_spoken, spoken
from scheduler_core.sim.run import RunOptions, simulate
from scheduler_core.trace.events import PodEvicted, RunFinished, RunStarted, ScenarioStepped
from scheduler_core.wording import Text, made_of, say, series
from tests.builders import make_node, make_pod
from tests.sim.played import owned, play

ROOT: Final = Path(__file__).parents[2]

POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [{name: c}]}}"
CLASS = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: p}"
CLAIM = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: %s}}"
SET = "set: {kind: Pod, name: bound, path: %s, value: %s}"

STEPS = (
    f"create: {POD % 'a'}",
    f"create: [{POD % 'a'}, {CLASS % 's'}]",
    f"create: {POD % 'a'}\n  copies: 1200",
    f"create: [{', '.join(CLASS % f's-{i}' for i in range(4))}, {POD % 'a'}]",
    f"put: [{POD % 'a'}, {POD % 'bound'}]",
    f"put: {POD % 'a'}",
    f"put: {POD % 'bound'}",
    "put: []",
    "patch: {kind: Node, name: n,"
    " merge: {metadata: {labels: {a: b}}, spec: {unschedulable: true}}}",
    "delete: {kind: Pod, name: bound}",
    "cordon: n",
    "uncordon: n",
    "drain: n",
    "drain: m",
    "taint: {node: n, key: k, value: v, effect: NoSchedule}",
    "untaint: {node: n, key: old, effect: NoSchedule}",
    "label: {node: n, key: disk, value: ssd}",
    "label: {node: n, key: zone, value: b}",
    "unlabel: {node: n, key: zone}",
    "copyNode: {node: n, copies: 1}",
    "copyNode: {node: n, copies: 1000}",
    "scale: {kind: ReplicaSet, name: web, replicas: 3}",
    SET % ("spec.priority", 5),
    SET % ("spec.priority", "null"),
    SET % ("'spec.tolerations[+]'", "{key: a, operator: Exists}"),
    SET % ("'metadata.labels[example.com/a]'", "'x: y (z) → none'"),
)
"""What is carried out; the cluster is made anew for each."""

REFUSED = (
    "scale: {kind: ReplicaSet, name: none, replicas: 3}",
    "create: {apiVersion: v1, kind: Node, metadata: {name: n}}",
    "create: {apiVersion: v1, kind: Pod, metadata: {name: p},"
    " spec: {priorityClassName: none, containers: [{name: c}]}}",
    "delete: {kind: Pod, name: p}",
    "delete: {kind: Pod, name: bound, namespace: elsewhere}",
    "drain: x",
    "patch: {kind: Node, name: x, merge: {spec: {}}}",
    "patch: {kind: Node, name: n, merge: {metadata: {name: x}}}",
    "patch: {kind: Pod, name: bound, merge: {spec: {nodeName: m}}}",
    "patch: {kind: Pod, name: bound, merge: {spec: {schedulerName: another}}}",
    "patch: {kind: Pod, name: bound, merge: {spec: {containers: []}}}",
    "patch: {kind: Pod, name: bound, merge: {metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}}}",
    f"put: {CLAIM % 'w'}",
    "patch: {kind: PersistentVolumeClaim, name: c, merge: {spec: {volumeName: w}}}",
    "untaint: {node: n, key: k}",
    "untaint: {node: m, key: k}",
    "unlabel: {node: n, key: k}",
    "unlabel: {node: bare, key: k}",
    SET % ("spec.nodeName", "m"),
    SET % ("spec.overhead.cpu", "null"),
    SET % ("'spec.tolerations[0]'", "null"),
    SET % ("'spec.containers[name=x].image'", "y"),
    SET % ("'spec.containers[3].image'", "y"),
    SET % ("'spec.containers[0].resources.requests.cpu'", "'-1'"),
)
"""What is not."""


def stepped(step: str, note: str = "") -> ScenarioStepped:
    """Return what the trace says of one step."""
    cluster = (
        make_node("n").label("zone", "a").taint("old", "", "NoSchedule").obj(),
        make_node("m").obj(),
        make_node("bare").without_label("kubernetes.io/hostname").obj(),
        make_pod("bound").on("n").obj(),
        *owned("web", "web-1", "web-2", node="m"),
        *owned("agent", "agent-1", kind="DaemonSet", node="m"),
    )
    noted = f"  note: {json.dumps(note)}\n" if note else ""
    claim = f"- at: 0s\n  create: {CLAIM % 'v'}\n"
    events = play(f"steps:\n{claim}- at: 1s\n{noted}  {step}\n", *cluster).trace
    return [event for event in events if isinstance(event, ScenarioStepped)][1]


def ids_of(value: object) -> Iterator[str]:
    """Yield the ids of a text and of those that it is made of."""
    if isinstance(value, Text):
        yield value.id
        values = value.values if isinstance(value.values, tuple) else value.values.values()
        for each in values:
            yield from ids_of(each)


def is_in_the_catalogue_of_the_explorer(id: str) -> bool:
    source = (ROOT / "frontend/catalogues.ts").read_text(encoding="utf-8")
    topics = re.search(r"const TOPICS = \[(.+?)\]", source, re.DOTALL)
    assert topics
    return id.partition(".")[0] in re.findall(r"\w+", topics[1])


def check(english: str, said: object) -> Text:
    """Check that a sentence is made of something that says it in every language."""
    found = spoken(english, said)
    assert isinstance(found, Text), english
    assert found == english
    with translation.override("zh-hans"):
        assert translated(found) != english
    for id in ids_of(found):
        assert is_in_the_catalogue_of_the_explorer(id), id
    return found


@pytest.mark.parametrize("step", STEPS)
def test_a_step(step: str) -> None:
    event = stepped(step)
    check(event.text, event.said)


@pytest.mark.parametrize("step", REFUSED)
def test_of_a_refused_step_both_what_and_why_are_sentences(step: str) -> None:
    event = stepped(step)
    found = check(event.text, event.said)
    assert event.refused
    assert found.id == "list.what_why"
    assert isinstance(found.values, dict)
    assert all(isinstance(each, Text) for each in found.values.values())


def test_a_note_stays_as_its_author_wrote_it() -> None:
    event = stepped("drain: m", "In (a) row: 2")
    found = check(event.text, event.said)
    assert isinstance(found.values, dict)
    assert type(found.values["note"]) is str
    assert found.values["note"] == "In (a) row: 2"


def test_why_pods_have_to_leave() -> None:
    scenario = """
steps:
- {at: 1s, drain: n}
- {at: 1s, taint: {node: m, key: k, effect: NoExecute}}
"""
    pods = (make_pod("a").on("n").obj(), make_pod("b").on("m").obj())
    played = play(scenario, make_node("n").obj(), make_node("m").obj(), *pods)
    evicted = [event for event in played.trace if isinstance(event, PodEvicted)]
    assert [event.reason for event in evicted] == ["drain of n", "taint k:NoExecute"]
    for event in evicted:
        check(event.reason, event.said)


def test_what_is_not_modelled_and_why_a_run_stopped() -> None:
    unknown = [
        make_node("n").obj(),
        make_pod("p").priority_class("none").obj(),
    ]
    events = list(simulate(unknown, RunOptions(max_cycles=1, ignored={"PodGroup": 2})))
    begun, ended = events[0], events[-1]
    assert isinstance(begun, RunStarted)
    assert isinstance(ended, RunFinished)
    assert len(begun.not_modelled) == 2
    assert isinstance(begun.said, list)
    for text, said in zip(begun.not_modelled, begun.said, strict=True):
        check(text, said)
    check(ended.reason, ended.said)


def test_what_a_file_makes_up_stays_english() -> None:
    deep: object = "x"
    for _ in range(10_000):
        deep = {"say": "count.pods", "with": {"n": deep}}
    for made_up in (
        *(None, 7, "count.pods", [], {}, {"say": "count.pods"}),
        {"say": "count.pods", "with": {}},
        {"say": "count.pods", "with": {"n": "many"}},
        {"say": "count.pods", "with": 7},
        {"say": "not.known", "with": {"n": 1}},
        made_of(series(["x" * MOST_CHARS, "y"])),
        made_of(series(range(10_000))),
        deep,
    ):
        assert spoken("2 pods", made_up) == "2 pods"
        assert type(spoken("2 pods", made_up)) is str
    two = ["2 pods", "plain"]
    assert all_spoken(two, None) == all_spoken(two, [None]) == two
    first, second = all_spoken(two, [made_of(say("count.pods", "{n:,} pods", n=2)), None])
    assert isinstance(first, Text)
    assert type(second) is str
