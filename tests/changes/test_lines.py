"""Changes in one line: what they say, and what is said of those that are wrong."""

from __future__ import annotations

import pytest

from scheduler_core.api import Node, PersistentVolumeClaim, Pod, Taint
from scheduler_core.changes import Change, ChangeError, line_of, read_changes, read_line, read_lines
from scheduler_core.changes.texts import read_file_of_changes
from scheduler_core.changes.vocabulary import (
    AddTaint,
    CopyNode,
    Cordon,
    Delete,
    Drain,
    Put,
    RemoveLabel,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    Target,
    UseConfiguration,
)
from scheduler_core.config.types import ScoringStrategyType

NODE = Target(Node, "", "n1")
WEB = Target(Pod, "shop", "web")


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("node/n1 cordon", Cordon("n1", True)),
        ("node/n1 uncordon", Cordon("n1", False)),
        ("node/n1 drain", Drain("n1")),
        (
            "node/n1 taint gpu=yes:NoSchedule",
            AddTaint("n1", Taint(key="gpu", value="yes", effect="NoSchedule")),
        ),
        ("node/n1 taint gpu:NoExecute", AddTaint("n1", Taint(key="gpu", effect="NoExecute"))),
        ("node/n1 untaint example.com/gpu", RemoveTaint("n1", "example.com/gpu")),
        ("node/n1 untaint gpu:NoSchedule", RemoveTaint("n1", "gpu", "NoSchedule")),
        ("node/n1 label disk=ssd", SetLabel("n1", "disk", "ssd")),
        ("node/n1 unlabel disk", RemoveLabel("n1", "disk")),
        ("node/n1 copies 3", CopyNode("n1", 3)),
        ("node/n1 delete", Delete(NODE)),
        ("node/n1 set status.allocatable.cpu=8", SetField(NODE, "status.allocatable.cpu", "8")),
        ("pod/shop/web delete", Delete(WEB)),
        (
            "pod/shop/web set spec.containers[0].resources.requests.cpu=2",
            SetField(WEB, "spec.containers[0].resources.requests.cpu", "2"),
        ),
        (
            "pod/shop/web set spec.containers[name=app].resources.limits[example.com/gpu]=1",
            SetField(WEB, "spec.containers[name=app].resources.limits[example.com/gpu]", "1"),
        ),
        ("pod/shop/web set spec.priority=5", SetField(WEB, "spec.priority", 5)),
        ("pod/shop/web set spec.hostNetwork=true", SetField(WEB, "spec.hostNetwork", True)),
        (
            "pod/shop/web set metadata.labels.tier=true",
            SetField(WEB, "metadata.labels.tier", "true"),
        ),
        (
            'pod/shop/web set metadata.labels.tier="null"',
            SetField(WEB, "metadata.labels.tier", "null"),
        ),
        (
            "pod/shop/web set spec.nodeSelector.disk=null",
            SetField(WEB, "spec.nodeSelector.disk", None),
        ),
        (
            'pod/shop/web set spec.tolerations[+]={"key":"gpu","operator":"Exists"}',
            SetField(WEB, "spec.tolerations[+]", {"key": "gpu", "operator": "Exists"}),
        ),
        (
            "persistentvolumeclaim/shop/data delete",
            Delete(Target(PersistentVolumeClaim, "shop", "data")),
        ),
        ("replicaset/shop/web scale 3", Scale("ReplicaSet", "shop", "web", 3)),
        ("gate NodeDeclaredFeatures=false", SwitchGate("NodeDeclaredFeatures", False)),
        ("seed -5", SetSeed(-5)),
        ("queue-order created", SetQueueOrder("created")),
        ("weight NodeAffinity=10", SetWeight("NodeAffinity", 10)),
        ("scoring MostAllocated", SetScoring(ScoringStrategyType.MOST_ALLOCATED)),
        (
            "scoring RequestedToCapacityRatio 0=0,70=10",
            SetScoring(ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO, ((0, 0), (70, 10))),
        ),
    ],
)
def test_short_forms(line: str, change: Change) -> None:
    assert read_line(f"  {line} ") == change
    if change != Scale("ReplicaSet", "shop", "web", 3):
        assert line_of(change) == line
    assert read_line(line_of(change)) == change


def test_a_pod_without_a_namespace_is_in_default() -> None:
    assert read_line("pod/web delete") == Delete(Target(Pod, "default", "web"))


def test_kube_schedulers_words_for_true() -> None:
    assert read_line("gate NodeDeclaredFeatures=T") == SwitchGate("NodeDeclaredFeatures", True)


def test_a_configuration_is_read_from_the_file_that_the_line_names() -> None:
    change = read_line("config sched.yaml", {"sched.yaml": "kind: x\n"}.__getitem__)
    assert change == UseConfiguration("kind: x\n")
    assert read_line(line_of(change)) == change


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nodes/n1 cordon", '"nodes/n1" names no object: write node/NAME'),
        ("node/n1", "expected one of cordon, uncordon"),
        ("node/n1 cordon now", '"cordon now": expected one of cordon'),
        ("node/n1 taint gpu", "expected taint K=V:EFFECT or taint K:EFFECT"),
        ("node/n1 taint gpu=a:Never", 'taint.effect: Unsupported value: "Never"'),
        ("node/n1 label disk", "expected one of cordon"),
        ("node/n1 copies many", '"copies many": expected a whole number'),
        ("node/n1 copies 0", "copyNode.copies: Invalid value: 0: must be between 1 and 10000"),
        ("node/a/b cordon", '"node/a/b" names no object'),
        ("pod/shop/web cordon", "expected one of set PATH=VALUE, delete after pod/shop/web"),
        ("pod/shop/web set spec.priority", "expected set PATH=VALUE"),
        ("pod/shop/web set spec.priority=high", 'spec.priority: the text "high" is no JSON'),
        ("pod/shop/web set spec.priority=true", "spec.priority: must be a whole number, not true"),
        (
            "pod/shop/web set spec.prioritee=1",
            "spec.prioritee: is no field that is read of a Pod, did you mean priority",
        ),
        (
            "pod/shop/web set spec.containers.cpu=1",
            "spec.containers: is a list: write spec.containers[0]",
        ),
        (
            "pod/shop/web set spec.containers[0].resources.requests.example.com/gpu=1",
            "a key with dots or slashes stands in brackets",
        ),
        (
            'pod/shop/web set spec.tolerations[+]={"kee":"gpu"}',
            "spec.tolerations[+].kee: is no field that is read, did you mean key?",
        ),
        ("gate X=maybe", "invalid value of X=maybe, expected true or false"),
        ("gate X", "missing bool value for X"),
        ("seed one", '"seed one": expected a whole number'),
        ("seed 9223372036854775808", "seed: expected a whole number of 64 bits"),
        ("queue-order random", 'queueOrder: Unsupported value: "random"'),
        ("weight NodeAffinity=0", "weight.weight: Invalid value: 0: must be between 1 and"),
        ("config", "config: expected a file after it"),
        ("config sched.yaml", "no file can be read here"),
        ('{"cordon": "n1", "drain": "n1"}', "one action is needed"),
        ('{"cordn": "n1"}', 'unknown field "cordn", did you mean "cordon"?'),
        ('{"cordon": ', "truncated"),
        (
            '{"set": {"kind": "Pod", "name": "p", "path": "spec.priority"}}',
            "set.value: Required value",
        ),
        ('{"restore": {"objects": [{"place": -1}]}}', "restore.objects[0]: expected a place"),
    ],
)
def test_what_is_wrong_is_named(line: str, problem: str) -> None:
    with pytest.raises(ChangeError) as refusal:
        read_line(line)
    assert problem in str(refusal.value)


def test_lines_of_a_form_have_numbers_and_all_problems_are_told() -> None:
    assert read_lines("# quiet\n\nnode/n1 cordon\r\nseed 4") == (Cordon("n1", True), SetSeed(4))
    with pytest.raises(ChangeError) as refusal:
        read_lines("node/n1 cordn\nseed 4\nseed x\n")
    assert [problem.line for problem in refusal.value.problems] == [1, 3]


def test_a_list_may_mix_lines_and_documents_and_names_the_one_at_fault() -> None:
    assert read_changes(["node/n1 cordon", {"seed": 4}]) == (Cordon("n1", True), SetSeed(4))
    with pytest.raises(ChangeError) as refusal:
        read_changes(["node/n1 cordon", {"seed": "x"}, "seed y", 5])
    fields = [problem.field for problem in refusal.value.problems]
    assert fields == ["changes[1].seed", "changes[2]", "changes[3]"]


def test_files() -> None:
    def read(text: str) -> tuple[Change, ...]:
        return read_file_of_changes("c.yaml", text.encode())

    assert read("cordon: n1") == (Cordon("n1", True),)
    assert read("- cordon: n1\n- node/n2 drain\n") == (Cordon("n1", True), Drain("n2"))
    (config,) = read(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    assert isinstance(config, UseConfiguration)
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n"
    (put,) = read(f"{node % 'a'}---\n{node % 'b'}")
    assert isinstance(put, Put)
    assert [item.name for item in put.objects] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- cordon: n1\n- cordn: n1\n", 'line 2: [1].cordn: unknown field "cordn"'),
        ("- node/n1 cordn\n", "line 1: [0]: "),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: 5}\n", "metadata.name: must be text"),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
            "Secret is no kind that is modelled",
        ),
        ("", "c.yaml: is empty"),
    ],
)
def test_files_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(ChangeError) as refusal:
        read_file_of_changes("c.yaml", text.encode())
    assert problem in str(refusal.value)
