"""Which pods share a template, from one state of a pod to the next."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.api import PodCondition
from scheduler_core.cluster.pods import TemplateTable
from tests.builders import make_pod

POD = make_pod("web").namespace("shop").label("app", "web").obj()


def test_what_the_scheduler_does_not_read_leaves_the_template() -> None:
    table = TemplateTable()
    template = table.info(POD).template
    bound = replace(POD, spec=replace(POD.spec, node_name="node-1"))
    running = replace(bound, status=replace(POD.status, phase="Running"))
    assert table.info(bound).template is template
    assert table.info(running).template is template
    assert table.info(POD).template is template
    assert len(table) == 1


def test_what_it_reads_makes_another_one() -> None:
    table = TemplateTable()
    template = table.info(POD).template
    relabelled = replace(POD, metadata=replace(POD.metadata, labels={"app": "shop"}))
    urgent = replace(POD, spec=replace(POD.spec, priority=1))
    resized = replace(
        POD, status=replace(POD.status, conditions=(PodCondition(type="PodResizePending"),))
    )
    others = [table.info(pod).template for pod in (relabelled, urgent, resized)]
    assert len({template.index, *(other.index for other in others)}) == 4
    assert table.info(POD).template is template


def test_a_pod_keeps_its_own_state_and_is_the_same_one_while_it_does_not_change() -> None:
    table = TemplateTable()
    info = table.info(POD)
    assert table.info(POD) is info
    bound = replace(POD, spec=replace(POD.spec, node_name="node-1"))
    assert table.info(bound).node_name == "node-1"
    table.forget(bound)
    assert table.info(POD) is not info
    assert table.info(POD).template is info.template
