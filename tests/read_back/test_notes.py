"""What is not modelled, left out, warned of or stopped early is read back."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from string import Formatter

import pytest
from django.utils import translation

from kviz import read_back
from kviz.common.wording import translated
from kviz.read_back.grammar import SORTS
from kviz.read_back.reading import TEMPLATES
from scheduler_core.api.ingest import ingest
from scheduler_core.wording import Text
from tests.builders import make_node, make_pod
from tests.sim.played import play


@pytest.fixture(autouse=True)
def in_chinese() -> Iterator[None]:
    with translation.override("zh-hant"):
        yield


NOTES = (
    "scheduling groups (gangs) of 1,003 pods: a/b, c/d, e/f and 1,000 more",
    "attributes of devices that are lists, in 1 ResourceSlice: s-1",
    "how long drivers take to meet binding conditions (none here), in 2 ResourceSlices: s, t",
    "2 PodGroups, 1 Workload",
    "1 DeviceTaintRule",
    "the extender http://x:1 was not called",
    "filterTimeout 5s of DynamicResources: the search for devices ends after so many "
    "candidates, whatever the time",
    "CEL functions of device selectors: f, g; such a selector ends in an error",
    "12 more objects left out, as they cannot be read",
    "1 more object left out, as they cannot be read",
    "Pod a/b left out: spec.containers[0].name: is missing",
    "Pod default/p: no PriorityClass with name none was found; its priority counts as 0",
    "endpoints left out: prod does not let kviz list them; `kviz import --rbac` prints a "
    "ClusterRole that allows it",
    "Not modelled: 2 PodGroups, 1 Workload",
    "Not modelled: scheduling groups (gangs) of 1 pod: a/b",
    "3 pods bound to a node that is not in the upload: a/b, a/c, a/d",
    "1 Secret dropped",
    "2 Secrets dropped",
    "managedFields of 1 object dropped",
    "1 StorageClass of storage.k8s.io/v1beta1 read as storage.k8s.io/v1",
    "4 objects given more than once, the last one counts: Pod a/b, Pod a/c, Node n and 1 more",
    "metadata.uid of 4 pods ignored, as another pod has the same: a/b (that of a/c), "
    "a/d (that of a/e), a/f (that of a/c) and 1 more",
    "PriorityClass swift is not in the upload; its pods count as priority 0: a, b, c and 7 more",
    "kube-scheduler-simulator wrote results on 2 pods",
)


@pytest.mark.parametrize("text", NOTES)
def test_a_note_is_read_back(text: str) -> None:
    read = read_back.note(text)
    assert isinstance(read, Text)
    assert str(read) == text
    assert CHINESE.search(translated(read))


def test_what_stands_inside_is_read_as_well() -> None:
    read = read_back.note("Pod a/b left out: spec.volumes: must be a list, not the number 5")
    assert isinstance(read, Text)
    assert isinstance(read.values, dict)
    assert read.template == "{what} left out: {reason}"
    assert read.values["what"] == "Pod a/b"
    reason = read.values["reason"]
    assert isinstance(reason, Text)
    assert isinstance(reason.values, dict)
    assert (reason.template, reason.values["field"]) == ("{field}: {message}", "spec.volumes")
    message = reason.values["message"]
    assert isinstance(message, Text)
    assert isinstance(message.values, dict)
    assert (message.template, str(message.values["what"])) == (
        "must be a list, not {what}",
        "the number 5",
    )
    assert isinstance(message.values["what"], Text)


@pytest.mark.parametrize(
    "text",
    [
        "stopped after 100 cycles",
        "stopped: no pod was bound for 300 s",
        "a live session holds at most 100000 calls",
        "a live session holds at most 20000 nodes",
        "a live session holds at most 200000 pods",
        "a followed cluster tells at most 1000000 changes",
    ],
)
def test_why_a_run_stopped_is_read_back(text: str) -> None:
    read = read_back.stop_reason(text)
    assert isinstance(read, Text)
    assert str(read) == text


def test_why_pods_had_to_leave_is_read_back() -> None:
    scenario = """
steps:
- {at: 1s, drain: n}
- {at: 1s, taint: {node: m, key: k, effect: NoExecute}}
"""
    nodes = (make_node("n").obj(), make_node("m").obj())
    played = play(scenario, *nodes, make_pod("a").on("n").obj(), make_pod("b").on("m").obj())
    assert played.evicted() == ["drain of n", "taint k:NoExecute"]
    for text in played.evicted():
        read = read_back.eviction(text)
        assert isinstance(read, Text)
        assert read == text
    upstream = "default-scheduler: preempting to accommodate a higher priority pod"
    assert read_back.eviction(upstream) is upstream


@pytest.mark.parametrize(
    "text",
    [
        "",
        "for old times' sake",
        "a, b and c",
        "2,000 things: of this and that",
        "x left over",
        ", in : " * 500,
        "a" * 10_000,
    ],
)
def test_what_is_not_known_stays_as_it_is(text: str) -> None:
    for read in (read_back.note, read_back.stop_reason, read_back.problem):
        assert read(text) is text


# ---------------------------------------------------------------- uploads

CHINESE = re.compile("[\u4e00-\u9fff]")
HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
SPEC = HEAD + "spec: {%s, containers: [{name: c}]}\n"
BROKEN = (
    "kind: Pod\nmetadata: {name: a}\n",
    "apiVersion: v2\nkind: Pod\nmetadata: {name: a}\n",
    "apiVersion: v1\nkind: 5\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: ..}\nspec: {containers: [{name: c}]}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}\nspec: {containers: [{name: c}]}\n",
    f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {'a' * 300}}}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {a: 5}}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: [a]}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {a: [b]}}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: soon}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: '0001-01-01T00:00:00Z'}\n",
    HEAD,
    HEAD + "spec: 5\n",
    HEAD + "spec: {containers: 5}\n",
    HEAD + "spec: {containers: [null]}\n",
    HEAD + "spec: {containers: [{}]}\n",
    HEAD + "spec: {containers: [{name: c, resources: {requests: {cpu: much}}}]}\n",
    HEAD + "spec: {containers: [{name: c, resources: {requests: {cpu: '-1'}}}]}\n",
    SPEC % "hostNetwork: maybe",
    SPEC % "priority: high",
    SPEC % "priority: 99999999999",
    SPEC % "topologySpreadConstraints: [{maxSkew: 0}]",
    SPEC % "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never}]",
    SPEC % "volumes: [{name: v, persistentVolumeClaim: {}}]",
    HEAD + "metadata: {name: b}\n",
    '{"apiVersion": "v1", "kind": "Pod", "kind": "Pod"}',
    '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"',
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n",
    "kind: Status\napiVersion: v1\nmessage: pods is forbidden\n",
    "kind: Table\napiVersion: meta.k8s.io/v1\n",
    "a: b\n",
    "- a\n",
    "a: [\n",
    "",
    "<html></html>",
    "NAME   READY   STATUS\na      1/1     Running\n",
    "\0",
    "\ufeff",
)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_with_an_upload_is_read_back(text: str) -> None:
    found = ingest([("a.yaml", io.BytesIO(text.encode()))])
    for error in found.errors:
        if isinstance(error.message, Text):
            read = read_back.problem(str(error.message))
            assert isinstance(read, Text), error.message
            assert read == error.message
            assert translated(read) == translated(error.message) != read
    for left_out in found.left_out:
        read = read_back.note(str(left_out))
        assert isinstance(read, Text)
        assert (read, read.template) == (left_out, "{what} left out: {reason}")


def test_each_template_is_read_as_itself() -> None:
    """With names in its places, and a sentence where only one may stand."""
    known: dict[str, list[str]] = json.loads(TEMPLATES.read_bytes())
    inside = {"problem": "is missing", "message": "is missing", "slices": "1 x", "objects": "1 x"}
    for module in SORTS["problem"].modules:
        for template in known[module]:
            values = {
                name: 1000 if form else inside.get(name, name)
                for _, name, form, _ in Formatter().parse(template)
                if name
            }
            text = template.format_map(values)
            read = read_back.problem(text)
            assert isinstance(read, Text), template
            assert read == text
