"""How many more pods fit, held against a fresh run for every pod."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice
from random import Random

import pytest
from msgspec.structs import replace

from scheduler_core.analysis.advice.capacity import Capacity, capacity, capacity_of_mix, turns_of
from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import CycleFinished
from scheduler_core.trace.records import Result
from tests.builders import HOSTNAME, ZONE, PodBuilder, make_node, make_pod

OPTIONS = RunOptions()
WEB = make_pod("web").cpu(1).memory("1Gi").obj()


def filled(objects: Sequence[KubeObject], *templates: Pod) -> Capacity:
    return capacity(objects, OPTIONS, templates or (WEB,))


# ---------------------------------------------------------------- brute force


def one_run_per_pod(objects: Sequence[KubeObject], template: Pod) -> tuple[list[str], str]:
    """Bind copies where a fresh run puts them, until its cycle finds none; with its message."""
    there = list(objects)
    nodes: list[str] = []
    for number in count(1):
        metadata = replace(template.metadata, name=f"{template.name}-{number}", uid="")
        pod = replace(template, metadata=metadata)
        run = Run([*there, pod], OPTIONS)
        first = next(event for event in run.events() if isinstance(event, CycleFinished))
        if first.result is not Result.SCHEDULED:
            return nodes, first.message
        cycle = run.simulation.scheduler.last_cycle
        assert cycle is not None
        nodes.append(cycle.suggested_host)
        there.append(replace(pod, spec=replace(pod.spec, node_name=cycle.suggested_host)))
    raise AssertionError


def cluster(draw: Random) -> list[KubeObject]:
    objects: list[KubeObject] = []
    for i in range(draw.randint(1, 4)):
        node = make_node(f"n{i}").label(HOSTNAME, f"n{i}").cpu(draw.randint(1, 4))
        node.memory(f"{draw.randint(1, 4)}Gi").pods(draw.randint(1, 6))
        if draw.random() < 0.6:
            node.zone(draw.choice("ab"))
        if draw.random() < 0.2:
            node.taint("dedicated", effect=draw.choice(("NoSchedule", "PreferNoSchedule")))
        objects.append(node.cordoned(draw.random() < 0.1).obj())
        for k in range(draw.randint(0, 2)):
            pod = make_pod(f"n{i}-{k}").cpu("500m").priority(draw.choice((0, -10)))
            objects.append(pod.label("app", draw.choice(("web", "db"))).on(f"n{i}").obj())
    return objects


def template(draw: Random) -> Pod:
    pod = make_pod("web").label("app", "web").cpu(draw.choice(("500m", "1", "1500m")))
    pod.memory(draw.choice(("256Mi", "1Gi")))
    special = draw.choice((None, None, apart, spread, with_port))
    return (special(pod) if special is not None else pod).obj()


def apart(pod: PodBuilder) -> PodBuilder:
    return pod.apart_from("web")


def spread(pod: PodBuilder) -> PodBuilder:
    return pod.spread(ZONE, 1, app="web")


def with_port(pod: PodBuilder) -> PodBuilder:
    return pod.host_port(8080)


@pytest.mark.parametrize("seed", range(12))
def test_as_many_fit_as_with_a_fresh_run_for_every_pod(seed: int) -> None:
    draw = Random(seed)
    objects, pod = cluster(draw), template(draw)
    nodes, message = one_run_per_pod(objects, pod)
    found = filled(objects, pod)
    assert [each.node for each in found.placements] == nodes
    assert found.stop.message == message
    assert sum(found.stop.by.values()) == sum(item.kind == "Node" for item in objects)


# ---------------------------------------------------------------- what stops it


def test_the_resource_that_runs_out_is_told_by_pool() -> None:
    small = make_node("small").label("pool", "small").cpu(8).memory("2Gi").obj()
    few = make_node("few").label("pool", "few").cpu(8).memory("32Gi").pods(3).obj()
    gpu = make_node("gpu").label("pool", "gpu").cpu(8).taint("gpu").obj()
    found = filled([small, few, gpu])
    assert found.by_node == {"small": 2, "few": 3}
    assert {each.pool: (each.copies, each.runs_out) for each in found.pools} == {
        "small": (2, "memory"),
        "few": (3, "pods"),
        "gpu": (0, ""),
    }
    assert found.stop.by == {"NodeResourcesFit": 2, "TaintToleration": 1}
    free = found.headroom.free["memory"]["small"]
    assert (free[0], free[-1], len(free)) == (2 << 30, 0, found.count + 1)


def test_nobody_is_evicted_for_a_copy_that_counts() -> None:
    low = make_pod("low").cpu(2).priority(-1).on("n").obj()
    found = filled([make_node("n").cpu(4).memory("8Gi").obj(), low], WEB)
    assert found.count == 2
    assert (found.stop.nominated_node, found.stop.victims) == ("n", ("default/low",))


def test_pending_pods_have_their_turn_first() -> None:
    waiting = make_pod("waiting").cpu(3).obj()
    too_big = make_pod("too-big").cpu(30).obj()
    found = filled([make_node("n").cpu(4).memory("8Gi").obj(), waiting, too_big])
    assert (found.count, found.n_waiting, found.n_placed_first) == (1, 2, 1)


@pytest.mark.parametrize(
    ("pod", "kind", "says"),
    [
        (make_pod("web").gate("example.com/quota"), "gated", "example.com/quota"),
        (make_pod("web").priority_class("absent"), "refused", "absent"),
        (make_pod("web").scheduler("another"), "other-scheduler", "another"),
        (make_pod("web").node_selector("disk", "ssd"), "unschedulable", "0/1 nodes"),
    ],
)
def test_why_none_fits(pod: PodBuilder, kind: str, says: str) -> None:
    found = filled([make_node("n").cpu(4).obj()], pod.obj())
    assert (found.count, found.stop.kind) == (0, kind)
    assert says in found.stop.message


def test_a_limit_is_no_answer_to_how_many_fit() -> None:
    found = capacity([make_node("n").cpu(4).memory("8Gi").obj()], OPTIONS, [WEB], max_copies=2)
    assert (found.count, found.stop.kind, found.stop.by) == (2, "limit", {})


def test_a_pod_that_runs_serves_as_a_template() -> None:
    node = make_node("n").cpu(4).memory("8Gi").obj()
    found = filled(
        [node, make_pod("web-1").cpu(1).on("n").obj()], make_pod("web").cpu(1).on("x").obj()
    )
    assert found.by_node == {"n": 3}


# ---------------------------------------------------------------- several templates


def test_several_templates_take_turns_until_none_fits() -> None:
    node = make_node("n").cpu(14).memory("64Gi").obj()
    big, small = make_pod("big").cpu(4).priority(5).obj(), make_pod("small").cpu(1).obj()
    found = filled([node, make_pod("low").cpu("500m").priority(-5).on("n").obj()], big, small)
    assert {each.pod: each.count for each in found.ends} == {"default/big": 2, "default/small": 5}
    assert all(each.stop is not None and not each.stop.victims for each in found.ends)


def test_a_mix_ends_with_the_first_that_does_not_fit() -> None:
    node = make_node("n").cpu(10).memory("64Gi").obj()
    big, small = make_pod("big").cpu(4).obj(), make_pod("small").cpu(1).obj()
    found = capacity_of_mix([node], OPTIONS, [(big, 1), (small, 2)])
    assert [each.count for each in found.ends] == [1, 3]
    assert found.ends[1].stop is None
    assert found.stop is found.ends[0].stop


def test_turns_are_spread_evenly() -> None:
    assert list(islice(turns_of([1, 3]), 8)) == [1, 0, 1, 1, 1, 0, 1, 1]
