"""Which nodes to add, held against all sets; and which to drain, with every budget kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from scheduler_core.analysis.advice.nodes.adding import Addition, nodes_to_add
from scheduler_core.analysis.advice.nodes.draining import Drained, Kept, candidates, drain, plan
from scheduler_core.analysis.advice.nodes.offers import Offer, Terms, offers_of
from scheduler_core.analysis.advice.nodes.shapes import load_shapes
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.analysis.advice.survival import standing_run
from scheduler_core.analysis.advice.trial import trial
from scheduler_core.api import (
    KubeObject,
    Node,
    Pod,
)
from scheduler_core.config import ConfigError
from scheduler_core.sim.copies import RunCopies
from scheduler_core.sim.run import RunOptions
from tests.builders import HOSTNAME, ZONE, PodBuilder, budget, make_node, make_pod

OPTIONS = RunOptions()


def shape(name: str, cpu: int, memory_gi: int, price: str) -> tuple[Node, Terms]:
    node = make_node(name).label(HOSTNAME, name).cpu(cpu).memory(f"{memory_gi}Gi").obj()
    return node, Terms(Fraction(price))


def counted(found: Addition) -> dict[str, int]:
    pairs = zip(found.offers, found.counts, strict=True)
    return {offer.name: n for offer, n in pairs if n}


# ---------------------------------------------------------------- adding


def cheapest_by_enumeration(
    objects: Sequence[KubeObject], offers: Sequence[Offer], most: int
) -> Fraction | None:
    """Run every set of up to so many nodes of each offer; return the least price that will do."""
    best: Fraction | None = None
    wanted = [item.key for item in objects if isinstance(item, Pod)]
    for counts in product(range(most + 1), repeat=len(offers)):
        price = sum(
            (n * (o.terms.price or Fraction(0)) for n, o in zip(counts, offers, strict=True)),
            Fraction(0),
        )
        if best is not None and price >= best:
            continue
        pairs = zip(offers, counts, strict=True)
        end = trial([*objects, *(i for o, n in pairs for i in o.items(n))], OPTIONS)
        if all(end.of(pod).outcome == "bound" for pod in wanted):
            best = price
    return best


@pytest.mark.parametrize("seed", range(4))
def test_as_cheap_as_the_cheapest_of_all_sets(seed: int) -> None:
    draw = Random(seed)
    objects: list[KubeObject] = [make_node("there").cpu(2).memory("4Gi").obj()]
    for i in range(draw.randint(2, 5)):
        pod = make_pod(f"p{i}").label("app", draw.choice("xy")).cpu(draw.randint(1, 4))
        pod.memory(f"{draw.randint(1, 6)}Gi")
        objects.append((pod.apart_from("x") if draw.random() < 0.3 else pod).obj())
    offers = offers_of(
        [], [shape("small", 4, 8, "1"), shape("big", 8, 12, draw.choice(("1.7", "2.3")))]
    )
    found = nodes_to_add(objects, OPTIONS, offers)
    assert not found.unhelped
    assert found.is_minimal
    assert found.prices.total(found.counts)[0] == cheapest_by_enumeration(objects, offers, 5)
    assert found.least_price <= found.prices.total(found.counts)[0]


def test_without_prices_fewer_nodes_are_cheaper_and_then_smaller_ones() -> None:
    nodes = [
        make_node("s").label("pool", "small").cpu(4).memory("16Gi").obj(),
        make_node("m").label("pool", "middle").cpu(8).memory("32Gi").obj(),
        make_node("l").label("pool", "large").cpu(32).memory("99Gi").cordoned().obj(),
    ]
    taken = [make_pod(f"t-{n.name}").cpu(4 if n.name == "s" else 8).on(n.name).obj() for n in nodes]
    pods = [make_pod(f"p{i}").cpu(3).obj() for i in range(2)]
    found = nodes_to_add([*nodes, *taken, *pods], OPTIONS, offers_of(nodes))
    assert counted(found) == {"middle": 1}
    assert found.is_minimal
    assert not found.prices.are_known
    assert set(found.placed) == {"default/p0", "default/p1"}


def test_who_has_no_price_cannot_be_had_where_others_have_one() -> None:
    node = make_node("n").cpu(4).memory("8Gi").cordoned().obj()
    offers = offers_of([node], [shape("dear", 4, 8, "9")])
    found = nodes_to_add([node, make_pod("p").cpu(3).obj()], OPTIONS, offers)
    assert counted(found) == {"dear": 1}


def test_no_more_than_can_be_had() -> None:
    (few, _), (more, terms) = shape("few", 4, 8, "1"), shape("more", 4, 8, "2")
    offers = offers_of([], [(few, Terms(Fraction(1), at_most=1)), (more, terms)])
    pods = [make_pod(f"p{i}").cpu(3).obj() for i in range(3)]
    assert counted(nodes_to_add(pods, OPTIONS, offers)) == {"few": 1, "more": 2}


def test_pods_that_no_node_helps_are_named_with_their_message() -> None:
    node = make_node("n").cpu(4).memory("8Gi").obj()
    pods = [make_pod("huge").cpu(99).obj(), make_pod("gated").gate("x/y").obj()]
    found = nodes_to_add([node, *pods], OPTIONS, offers_of([node]))
    assert (found.n_nodes, found.n_runs, found.is_minimal) == (0, 0, True)
    assert {each.pod: "Insufficient cpu" in each.message for each in found.unhelped} == {
        "default/gated": False,
        "default/huge": True,
    }


def test_pods_of_daemon_sets_take_their_part_of_a_new_node() -> None:
    node = make_node("n").label(HOSTNAME, "n").cpu(4).memory("8Gi").obj()
    agent = make_pod("agent-n").owner("DaemonSet", "agent").cpu(1).on("n").obj()
    picky = (
        make_pod("gpu-n").owner("DaemonSet", "gpu").cpu(1).node_selector("gpu", "yes").on("n").obj()
    )
    (offer,) = offers_of([node, agent, picky])
    assert offer.room["cpu"] == 3000
    pods = [make_pod("there").cpu(3).on("n").obj(), make_pod("p").cpu("3500m").obj()]
    found = nodes_to_add([node, agent, *pods], OPTIONS, [offer])
    assert [each.pod for each in found.unhelped] == ["default/p"]


def test_a_node_in_a_zone_that_is_not_there_yet() -> None:
    nodes = [make_node(z).zone(z).cpu(4).obj() for z in ("a", "b")]
    pods = [make_pod(f"db-{i}").label("app", "db").apart_from("db", ZONE).cpu(1) for i in range(3)]
    objects = [*nodes, pods[0].on("a").obj(), pods[1].on("b").obj(), pods[2].obj()]
    found = nodes_to_add(objects, OPTIONS, offers_of(objects))
    assert counted(found) == {"4 cpu 16Gi memory/new-zone": 1}
    assert found.placed == {"default/db-2": "a-new-zone-copy-1"}


# ---------------------------------------------------------------- draining


def replica(app: str, number: int) -> PodBuilder:
    return make_pod(f"{app}-{number}").label("app", app).owner("ReplicaSet", app).cpu(1)


def cluster(n_on_b: int, min_available: int) -> list[KubeObject]:
    nodes = [make_node(name).label(HOSTNAME, name).cpu(4).memory("8Gi").obj() for name in "abc"]
    pods = [replica("web", i).on("b" if i < n_on_b else "a").obj() for i in range(4)]
    return [*nodes, *pods, budget("web", min_available=min_available)]


def test_waves_keep_the_budget() -> None:
    found = drain(standing_run(cluster(3, min_available=2), OPTIONS), "b")
    assert isinstance(found, Drained)
    assert [len(wave) for wave in found.waves] == [2, 1]


def test_a_budget_that_allows_nothing_keeps_the_node() -> None:
    found = drain(standing_run(cluster(1, min_available=4), OPTIONS), "b")
    assert found == Kept("b", "budget default/web allows no eviction")


def test_what_would_find_no_node_keeps_the_node() -> None:
    nodes = [make_node(name).cpu(4).memory("8Gi").obj() for name in "ab"]
    pods = [make_pod(f"p{i}").owner("ReplicaSet", "p").cpu(3).on("ab"[i]).obj() for i in range(2)]
    found = drain(standing_run([*nodes, *pods], OPTIONS), "a")
    assert isinstance(found, Kept)
    assert found.why.endswith("would find no node")


def test_nobody_makes_a_pod_of_its_own_again() -> None:
    nodes = [make_node(name).cpu(4).memory("8Gi").obj() for name in "ab"]
    alone = make_pod("alone").cpu(1).on("a").obj()
    found = drain(standing_run([*nodes, alone], OPTIONS), "a")
    assert found == Kept("a", "default/alone is a bare pod (no controller)")


def test_a_pod_that_is_terminating_on_a_lost_node_is_not_evicted() -> None:
    lost = make_node("lost").cpu(4).memory("8Gi").ready("Unknown")
    lost.taint("node.kubernetes.io/unreachable", effect="NoExecute")
    stuck = make_pod("old").owner("ReplicaSet", "old").on("lost").deleted_at_ns(0).obj()
    waits = make_pod("p").node_selector("disk", "ssd").cpu(1).obj()
    free = make_node("free").cpu(4).memory("8Gi").label("disk", "ssd").obj()
    full = make_pod("full").cpu(4).on("free").obj()
    objects = [lost.obj(), free, full, stuck, waits]
    assert nodes_to_add(objects, OPTIONS, offers_of(objects)).evicted == ()
    found = drain(standing_run(objects, OPTIONS), "lost")
    assert found == Kept("lost", "default/old is terminating there")


def test_one_node_after_the_other() -> None:
    run = standing_run(cluster(2, min_available=1), OPTIONS)

    def try_each(names: Sequence[str]) -> list[Drained | Kept]:
        copies = RunCopies(run)
        return [drain(copies.take(), name) for name in names]

    found = list(plan(candidates(run), run, try_each, 2))
    assert [type(each).__name__ for each in found] == ["Drained", "Drained", "Kept"]
    assert found[0] == Drained("c", ())
    left = {pod.spec.node_name for pod in run.simulation.server.all(Pod)}
    assert left == {found[2].node}


def test_control_planes_stay() -> None:
    node = make_node("cp").label("node-role.kubernetes.io/control-plane", "").cpu(4).obj()
    assert candidates(standing_run([node], OPTIONS)) == []


# ---------------------------------------------------------------- pools, shapes


def test_pools() -> None:
    def nodes() -> Iterator[Node]:
        for i, zone in enumerate("aab"):
            node = make_node(f"n{i}").label(HOSTNAME, f"n{i}").label("pool", "general").zone(zone)
            yield node.cpu(4).memory(f"{16_000 + i}Mi").cordoned(i == 1).obj()
        yield make_node("gpu").label("pool", "general").cpu(4).memory("16Gi").taint("gpu").obj()
        yield make_node("bare").cpu(2).memory("4Gi").taint("node.kubernetes.io/unreachable").obj()

    found = pools_of(nodes())
    assert [(pool.name, len(pool.nodes)) for pool in found] == [
        *(("general", 3), ("general-2", 1), ("2 cpu 4Gi memory", 1))
    ]
    assert found[0].zones == ("a", "b")
    assert found[2].example("").spec.taints == ()


def test_shapes_are_read() -> None:
    text = """\
shapes:
- {name: big, allocatable: {cpu: "16", memory: 64Gi}, price: 0.5, atMost: 3,
   taints: [{key: gpu, effect: NoSchedule}]}
pools:
- {name: general, price: 2}
"""
    found = load_shapes(text)
    ((node, terms),) = found.shapes
    assert (node.name, node.status.allocatable["pods"]) == ("big", "110")
    assert (terms, node.spec.taints[0].key) == (Terms(Fraction(1, 2), 3), "gpu")
    assert found.pools == {"general": Terms(Fraction(2))}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "expected a mapping"),
        ("shape: []", "shape: unknown field"),
        ("shapes: {}\npools: 3", "pools: expected a list"),
        ("shapes: [{allocatable: {}}]", "shapes[0]: expected a mapping with a name"),
        ("shapes: [{name: a}]", "shapes[0].allocatable"),
        ("shapes: [{name: a, allocatable: {cpu: x}}]", "line 1: shapes[0]: status.allocatable"),
        ("pools: [{name: a, price: cheap}]", "pools[0].price: expected a number"),
        ("pools: [{name: a, atMost: 0}]", "pools[0].atMost: expected a whole number"),
        ("pools: [{name: a, cost: 1}]", "pools[0].cost: unknown field"),
    ],
)
def test_shapes_that_are_wrong(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_shapes(text)
    assert says in str(raised.value)
