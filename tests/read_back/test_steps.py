"""Every sentence that a step of a scenario can write into a trace is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kviz import read_back
from kviz.read_back.reading import TEMPLATES
from scheduler_core.wording import LISTS, Text
from tests.builders import make_node, make_pod
from tests.sim.played import owned, play

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


def said(step: str, note: str = "") -> str:
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
    played = play(f"steps:\n{claim}- at: 1s\n{noted}  {step}\n", *cluster)
    return played.flags[1]


def templates_of(value: object) -> Iterator[str]:
    """Yield the templates that a text was made of."""
    if isinstance(value, Text):
        yield value.template
        values = value.values if isinstance(value.values, tuple) else value.values.values()
        for each in values:
            yield from templates_of(each)


@pytest.mark.parametrize("step", [*STEPS, *REFUSED])
def test_what_a_step_says_is_read_back(step: str) -> None:
    text = said(step)
    read = read_back.step(text)
    assert isinstance(read, Text), text
    assert str(read) == text


@pytest.mark.parametrize("step", REFUSED)
def test_of_a_refused_step_both_what_and_why_are_read(step: str) -> None:
    read = read_back.step(said(step))
    assert isinstance(read, Text)
    assert read.template == "{what}: {why}"
    assert isinstance(read.values, dict)
    assert all(isinstance(each, Text) for each in read.values.values())


@pytest.mark.parametrize("note", ["A crowd", "In (a) row: 2", "drain node n (evict 3 pods)"])
@pytest.mark.parametrize("step", ["drain: m", "drain: x", "cordon: n"])
def test_a_note_stays_as_its_author_wrote_it(step: str, note: str) -> None:
    text = said(step, note)
    read = read_back.step(text)
    assert isinstance(read, Text)
    assert str(read) == text
    assert isinstance(read.values, dict)
    assert read.values["note"] == note
    assert isinstance(read.values["what"], Text)


NEVER_A_STEP = {
    # what undoes a change, and changes of rules: there are no such steps
    "put back {objects}",
    "take away {objects}",
    "undo nothing",
    "{n:,} objects",
    "schedule with another configuration",
    "schedule with the default configuration",
    "weight of {plugin} {old} → {new}",
    "scoring strategy {old} → {new}",
    "feature gate {gate} {old} → {new}",
    "seed {old} → {new}",
    "queue order {old} → {new}",
    # only at rest
    "mounted by {pods}; delete the pods first",
    "bound to {claims}; delete the claim first",
}
MODULES = (
    "scheduler_core/sim/steps.py",
    "scheduler_core/changes/sentences.py",
    "scheduler_core/changes/refusals.py",
    "scheduler_core/changes/editing.py",
    "scheduler_core/changes/node_changes.py",
)


def test_no_sentence_of_a_step_is_missing_here() -> None:
    known: dict[str, list[str]] = json.loads(TEMPLATES.read_bytes())
    can_be_said = {text for module in MODULES for text in known[module]} - NEVER_A_STEP
    texts = [said(step) for step in (*STEPS, *REFUSED)] + [said("cordon: n", "Noted")]
    seen = {template for text in texts for template in templates_of(read_back.step(text))}
    assert can_be_said - seen - {each.english for each in LISTS} == set()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add node worker-late",
        "Once upon a time",
        "Why: because (of this)",
        "a: " * 1000,
        "Patch x: " + ", " * 3000,
    ],
)
def test_what_no_step_says_stays_as_it_is(text: str) -> None:
    read = read_back.step(text)
    assert read == text
    assert not isinstance(read, Text)
