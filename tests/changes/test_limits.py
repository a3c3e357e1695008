"""What a real cluster may have to say to changes that kviz can make."""

from __future__ import annotations

from scheduler_core.api import (
    Container,
    KubeObject,
    Node,
    ObjectMeta,
    Pod,
    PriorityClass,
    VolumeAttachment,
    VolumeAttachmentSpec,
)
from scheduler_core.changes import limits, read_lines
from tests.builders import make_node, make_pod


def said(lines: str, *objects: KubeObject) -> list[tuple[str, ...]]:
    return limits(objects, read_lines(lines))


def pod(name: str) -> Pod:
    return make_pod(name).obj()


def node(name: str) -> Node:
    return make_node(name).obj()


def test_nothing_is_said_of_what_any_cluster_takes() -> None:
    lines = """
        node/n1 cordon
        pod/default/web set spec.tolerations[+]={"key":"gpu","operator":"Exists"}
        pod/default/web set metadata.labels.app=db
        weight NodeResourcesFit=5
        node/n1 drain
    """
    assert said(lines, node("n1"), pod("web")) == [()] * 5


def test_quotas_of_pods_that_are_made_or_resized_are_not_known() -> None:
    made = (
        '{"create": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"},'
        ' "spec": {"containers": [{"name": "c"}]}}]}'
    )
    resized = "pod/default/web set spec.containers[0].resources.requests.cpu=4"
    for [limit] in said(f"{made}\n{resized}", pod("web")):
        assert limit.startswith("whether quotas, limit ranges and webhooks of namespace default")


def test_a_field_that_no_pod_changes_is_named() -> None:
    lines = """
        pod/default/web set spec.nodeSelector.disk=ssd
        pod/default/web set spec.containers[0].resources.requests[nvidia.com/gpu]=1
        pod/default/web set spec.tolerations[0]=null
    """
    found = said(lines, make_pod("web").toleration("old").obj())
    assert found[0][0].startswith("spec.nodeSelector of an existing pod cannot change")
    assert found[1][1].startswith("the request of nvidia.com/gpu of an existing pod")
    assert found[2][0].startswith("spec.tolerations of an existing pod")


def test_a_name_of_many_parts_is_read_in_one_go() -> None:
    """It took twice as long with each dot: forty of them held a server's thread for ever."""
    name = "a" + ".a" * 40
    named = make_pod("web").containers(Container(name=name)).obj()
    line = f"pod/default/web set spec.containers[name={name}].resources.requests.gpus=1"
    [found] = said(line, named)
    assert found[1].startswith("the request of gpus of an existing pod cannot change")


def test_a_priority_without_a_class_is_said() -> None:
    known = PriorityClass(metadata=ObjectMeta(name="high"), value=1000)
    lines = "pod/default/web set spec.priority=1000\npod/default/web set spec.priority=7"
    with_class, without = said(lines, known, pod("web"))
    assert len(with_class) == 1
    assert without[0].startswith("no PriorityClass has the value 7")


def test_volumes_of_pods_that_leave_are_still_attached() -> None:
    db = make_pod("db").on("n1").claim("data").obj()
    attached = VolumeAttachment(
        metadata=ObjectMeta(name="a"), spec=VolumeAttachmentSpec(node_name="n1")
    )
    for what in ("node/n1 drain", "node/n1 delete", "node/n1 taint k:NoExecute"):
        [[limit]] = said(what, node("n1"), db, make_pod("web").on("n1").obj(), attached)
        assert limit.startswith("volumes of default/db are attached to n1: a real cluster detaches")
        assert limit.endswith("its VolumeAttachments still count there")


def test_changes_are_looked_at_one_after_the_other() -> None:
    db = make_pod("db").on("n1").claim("data").obj()
    first, second = said("node/n1 drain\nnode/n1 delete", node("n1"), db)
    assert first
    assert second == ()


def test_what_is_refused_is_left_to_the_refusal() -> None:
    assert said("node/n9 drain\npod/default/none set spec.priority=7") == [(), ()]
