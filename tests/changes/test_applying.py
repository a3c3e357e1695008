"""Changes of a cluster at rest: what becomes of the objects, and what is refused before a run."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    CSINode,
    KubeObject,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
)
from scheduler_core.changes import (
    ChangeAt,
    ChangeError,
    Rules,
    apply,
    carried_out,
    inverse,
    line_of,
    plan,
    read_lines,
)
from scheduler_core.changes.applying import RestingCluster
from tests.builders import make_node, make_pod
from tests.changes.strategies import cluster


def after(lines: str, objects: list[KubeObject] | None = None) -> RestingCluster:
    return RestingCluster(apply(cluster() if objects is None else objects, read_lines(lines)))


def pod(name: str, found: RestingCluster) -> Pod:
    there = found.get(Pod, f"default/{name}")
    assert there is not None
    return there


def node(name: str, found: RestingCluster) -> Node:
    there = found.get(Node, name)
    assert there is not None
    return there


def problems_of(lines: str, objects: list[KubeObject] | None = None) -> list[str]:
    with pytest.raises(ChangeError) as refusal:
        after(lines, objects)
    return [str(problem) for problem in refusal.value.problems]


def test_what_is_not_changed_keeps_its_place() -> None:
    names = [item.name for item in apply(cluster(), read_lines("node/n2 cordon"))]
    assert names == [item.name for item in cluster()]


def test_a_drained_node_keeps_its_own_pods_and_the_others_come_back_pending() -> None:
    found = after("node/n1 drain")
    assert node("n1", found).spec.unschedulable
    assert pod("daemon", found).spec.node_name == "n1"
    assert pod("bound-1", found).spec.node_name == ""
    assert found.objects()[-1].name == "bound-1"


def test_a_drained_pod_without_an_owner_is_gone() -> None:
    bare = make_pod("bare").on("n1").obj()
    assert after("node/n1 drain", [*cluster(), bare]).get(Pod, "default/bare") is None


def test_a_deleted_node_takes_its_daemons_along() -> None:
    found = after("node/n1 delete")
    assert found.get(Node, "n1") is None
    assert found.get(Pod, "default/daemon") is None
    assert pod("bound-1", found).spec.node_name == ""


def test_a_no_execute_taint_evicts_those_that_do_not_tolerate_it() -> None:
    patient = make_pod("patient").toleration("gpu").on("n1").obj()
    found = after("node/n1 taint gpu:NoExecute", [*cluster(), patient])
    assert pod("patient", found).spec.node_name == "n1"
    assert pod("bound-1", found).spec.node_name == ""


def test_copies_of_a_node_have_names_and_hostnames_of_their_own_and_its_volume_limits() -> None:
    labels = {"kubernetes.io/hostname": "n1", "disk": "ssd"}
    like = replace(make_node("n1").cpu(2).obj(), metadata=ObjectMeta(name="n1", labels=labels))
    taken = make_node("n1-copy-1").obj()
    found = after("node/n1 copies 2", [like, taken, CSINode(metadata=ObjectMeta(name="n1"))])
    assert node("n1-copy-3", found).metadata.labels["kubernetes.io/hostname"] == "n1-copy-3"
    assert node("n1-copy-2", found).metadata.labels["disk"] == "ssd"
    assert [each.name for each in found.all(CSINode)] == ["n1", "n1-copy-2", "n1-copy-3"]


def test_a_priority_class_brings_its_priority() -> None:
    found = after("pod/a set spec.priorityClassName=high")
    assert pod("a", found).spec.priority == 1000


@pytest.mark.parametrize(("replicas", "names"), [(1, {"bound-1"}), (3, {"bound-1", "bound-2"})])
def test_scaling(replicas: int, names: set[str]) -> None:
    found = after(f"replicaset/web scale {replicas}")
    web = {item.name for item in found.all(Pod) if item.metadata.owner_references[:1]} - {"daemon"}
    assert len(web) == replicas
    assert names <= web


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("node/x cordon", "changes[0]: cordon node x: there is none"),
        ("pod/other/a delete", "changes[0]: delete pod other/a: there is none; is it default/a?"),
        ("node/n1 untaint gpu", "there is no such taint; there is soft:PreferNoSchedule"),
        ("node/n1 unlabel disk", "there is no such label; there is "),
        ("pod/bound-1 set spec.nodeName=n2", "refused, the pod is bound to n1"),
        ("pod/a set spec.priorityClassName=none", "no PriorityClass with name none was found"),
        (
            "pod/a set spec.containers[1].image=x",
            "spec.containers[1]: is not there; there are 1: c",
        ),
        ("pod/a set spec.tolerations[0]=null", "spec.tolerations: is not there"),
        ("pod/a set spec.containers[0].resources.requests.cpu=lots", '"lots" is not a quantity'),
        ("pod/a set spec.containers=[]", "spec.containers: a pod needs at least one container"),
        ("pod/a set metadata.name=z", "metadata.name, namespace and uid cannot change"),
        (
            '{"create": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}}',
            '"n1" already exists',
        ),
        ("replicaset/none scale 3", "it has no pod to copy"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_run(line: str, problem: str) -> None:
    (found,) = problems_of(line)
    assert problem in found


def test_every_change_that_cannot_be_done_is_named() -> None:
    assert len(problems_of("node/x cordon\nnode/n1 cordon\nnode/y drain")) == 2


def test_a_list_creates_no_more_than_a_scenario_may() -> None:
    (problem,) = problems_of("node/n1 copies 10000\n" * 11)
    assert problem == "changes: may create 110,000 objects in all; the limit is 100,000"
    later = [ChangeAt(change, 2) for change in read_lines("node/n1 copies 10000\n" * 11)]
    with pytest.raises(ChangeError, match="may create 110,000 objects"):
        plan(cluster(), Rules(), later)


def test_claims_and_volumes_in_use_are_kept() -> None:
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data", namespace="default"),
        spec=PersistentVolumeClaimSpec(volume_name="pv"),
    )
    volume = PersistentVolume(metadata=ObjectMeta(name="pv"))
    waits = make_pod("waits").claim("data").obj()
    freed = after("persistentvolumeclaim/data delete", [claim, volume, waits])
    assert freed.objects() == [volume, waits]
    objects = [claim, volume, waits, make_pod("web").claim("data").on("n").obj()]
    assert "mounted by default/web" in problems_of("persistentvolumeclaim/data delete", objects)[0]
    assert "bound to default/data" in problems_of("persistentvolume/pv delete", objects)[0]
    change = "persistentvolumeclaim/data set spec.volumeName=other"
    assert "the claim is bound to pv" in problems_of(change, objects)[0]
    freed = after("pod/web delete\npersistentvolumeclaim/data delete", objects)
    assert [each.name for each in freed.all(Pod)] == ["waits"]


@pytest.mark.parametrize(
    ("line", "sentence", "undo"),
    [
        ("node/n1 cordon", "cordon node n1", ["node/n1 uncordon"]),
        (
            "pod/a set spec.containers[0].resources.requests.cpu=500m",
            "pod default/a: requests.cpu 1500m → 500m",
            ["pod/default/a set spec.containers[0].resources.requests.cpu=1500m"],
        ),
        (
            "node/n1 set status.allocatable.cpu=8",
            "node n1: allocatable.cpu 2 → 8",
            ["node/n1 set status.allocatable.cpu=2"],
        ),
        (
            "node/n1 label disk=ssd",
            "label node n1 disk=ssd",
            ["node/n1 unlabel disk"],
        ),
        ("node/n1 copies 2", "add 2 nodes like n1", None),
        ("replicaset/web scale 3", "scale replicaset default/web from 2 to 3", None),
        (
            'pod/a set spec.tolerations[+]={"key":"gpu"}',
            'pod default/a: spec.tolerations + {"key":"gpu"}',
            None,
        ),
        ("pod/a delete", "delete pod default/a", None),
    ],
)
def test_sentences_and_what_undoes(line: str, sentence: str, undo: list[str] | None) -> None:
    (change,) = read_lines(line)
    changed, sentences = carried_out(cluster(), [change])
    assert sentences == (sentence,)
    undoing = inverse(change, cluster())
    assert apply(changed, undoing) == cluster()
    if undo is not None:
        assert [line_of(each) for each in undoing] == undo
