"""The API server: objects by kind and key, and watchers that hear of every write."""

from __future__ import annotations

import pytest

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.errors import FieldError
from scheduler_core.changes.merge_patch import merge_patch
from scheduler_core.sim.api_server import ApiServer, ConflictError, NotFoundError
from tests.builders import make_node, make_pod

NOW_NS = 1_767_225_600_000_000_000


class Diary:
    """A watcher that writes down what it hears."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def added(self, item: KubeObject) -> None:
        self.entries.append(f"added {item.key}")

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        versions = f"{old.metadata.resource_version}->{new.metadata.resource_version}"
        self.entries.append(f"updated {new.key} {versions}")

    def deleted(self, item: KubeObject) -> None:
        self.entries.append(f"deleted {item.key}")


def test_watchers_hear_of_every_write_in_order() -> None:
    server, diary = ApiServer(), Diary()
    server.watch(diary)
    node = server.create(make_node("n").obj(), NOW_NS)
    server.update(node)
    server.write(node, NOW_NS)
    server.delete(node)
    server.write(node, NOW_NS)
    assert diary.entries == [
        "added n",
        "updated n 1->2",
        "updated n 2->3",
        "deleted n",
        "added n",
    ]


def test_what_the_server_fills_in() -> None:
    server = ApiServer()
    pod = server.create(make_pod("p").namespace("").uid("").obj(), NOW_NS)
    assert (pod.key, pod.uid) == ("default/p", "default/p")
    assert pod.metadata.creation_timestamp == NOW_NS
    assert pod.spec.scheduler_name == "default-scheduler"
    assert server.get(Pod, "default/p") == pod


def test_objects_come_in_order_of_creation() -> None:
    server = ApiServer()
    for name in ("b", "a", "c"):
        server.create(make_node(name).obj(), NOW_NS)
    server.update(make_node("b").cordoned().obj())
    assert [node.name for node in server.all(Node)] == ["b", "a", "c"]
    assert list(server.all(Pod)) == []


def test_writes_that_cannot_be() -> None:
    server = ApiServer()
    node = server.create(make_node("n").obj(), NOW_NS)
    with pytest.raises(ConflictError, match='Node "n" already exists'):
        server.create(node, NOW_NS)
    with pytest.raises(NotFoundError, match='Node "m" not found'):
        server.update(make_node("m").obj())
    with pytest.raises(NotFoundError, match='Node "m" not found'):
        server.delete(make_node("m").obj())


# ---------------------------------------------------------------- merge patches


def test_maps_merge_nulls_remove_lists_replace() -> None:
    node = make_node("n").label("a", "1").label("b", "2").taint("k").obj()
    patched = merge_patch(
        node,
        {
            "metadata": {"labels": {"a": None, "c": "3"}},
            "spec": {"taints": [{"key": "x", "effect": "NoExecute"}], "unschedulable": True},
        },
    )
    assert patched.metadata.labels == {"kubernetes.io/hostname": "n", "b": "2", "c": "3"}
    assert [taint.key for taint in patched.spec.taints] == ["x"]
    assert patched.spec.unschedulable
    assert patched.status == node.status


def test_an_empty_patch_changes_nothing() -> None:
    pod = make_pod("p").cpu(1).label("a", "b").toleration("k").obj()
    assert merge_patch(pod, {}) == pod


def test_a_null_for_what_is_not_there_is_no_change() -> None:
    pod = make_pod("p").obj()
    assert merge_patch(pod, {"spec": {"affinity": None, "nodeName": None}}) == pod


def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(FieldError) as refusal:
        merge_patch(make_pod("p").obj(), {"spec": {"priority": "high"}})
    assert refusal.value.field == "spec.priority"
