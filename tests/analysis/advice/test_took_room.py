"""Who took a pod's room, and how much is free in all: what is named is what a run confirms."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from kviz.questions.why.answer import explain
from scheduler_core.analysis.advice.took_room import MAX_TOOK, Placement, TookRoom
from scheduler_core.analysis.advice.trial import Trials, trial
from scheduler_core.analysis.advice.unblock import Unblocked, unblock
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions
from tests.builders import make_node, make_pod
from tests.effort import examples


def first_for(objects: Sequence[KubeObject], pod: str = "default/p") -> Unblocked:
    """What is known before any change is tried."""
    return next(unblock(Trials(objects, RunOptions()), pod))


def took(*objects: KubeObject) -> TookRoom:
    found = first_for(objects).took_room
    assert found is not None
    return found


def sentence(*objects: KubeObject) -> str:
    found = first_for(objects).free_room
    assert found is not None
    return found.sentence


# ---------------------------------------------------------------- who took it


def test_each_placement_that_alone_was_in_the_way_the_newest_first() -> None:
    found = took(
        make_node("n").cpu(4).obj(),
        make_pod("small").cpu("500m").obj(),
        make_pod("one").cpu(2).obj(),
        make_pod("two").cpu("1500m").obj(),
        make_pod("p").cpu("1500m").obj(),
    )
    assert found.placements == (
        Placement("default/two", 3, "n"),
        Placement("default/one", 2, "n"),
    )
    assert (found.n_nodes, found.n_earlier, found.complete) == (1, 3, True)


def test_none_alone_where_two_were_in_the_way() -> None:
    pods = [make_pod(f"w{i}").cpu(1).obj() for i in range(4)]
    found = took(make_node("n").cpu(4).obj(), *pods, make_pod("p").cpu(2).obj())
    assert (found.placements, found.n_earlier, found.complete) == ((), 4, True)


def test_a_host_port_is_room() -> None:
    web = make_pod("web").host_port(80).obj()
    found = took(make_node("n").cpu(4).obj(), web, make_pod("p").host_port(80).obj())
    assert [each.pod for each in found.placements] == ["default/web"]


def test_a_place_is_room() -> None:
    full = make_node("n").cpu(4).pods(1).obj()
    found = took(full, make_pod("web").obj(), make_pod("p").obj())
    assert [each.pod for each in found.placements] == ["default/web"]


def test_pods_that_were_there_before_and_nodes_with_other_reasons_do_not_count() -> None:
    found = first_for(
        [
            make_node("n").cpu(4).taint("gpu").obj(),
            make_node("m").cpu(4).obj(),
            make_pod("old").cpu(4).on("m").phase("Running").obj(),
            make_pod("gpu").cpu(4).toleration("gpu").obj(),
            make_pod("p").cpu(2).obj(),
        ]
    ).took_room
    assert found is None


def test_the_newest_ten_are_named() -> None:
    nodes = [make_node(f"n{i}").cpu(1).obj() for i in range(12)]
    pods = [make_pod(f"w{i}").cpu(1).obj() for i in range(12)]
    found = took(*nodes, *pods, make_pod("p").cpu(1).obj())
    assert [each.cycle for each in found.placements] == list(range(12, 12 - MAX_TOOK, -1))
    assert not found.complete


@examples(10)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.lists(st.integers(1, 3), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_the_pod_binds_without_a_named_one_and_not_without_another(
    nodes: list[int], workers: list[int], wanted: int
) -> None:
    there: list[KubeObject] = [make_node(f"n{i}").cpu(n).obj() for i, n in enumerate(nodes)]
    pods = [make_pod(f"w{i}").cpu(n) for i, n in enumerate(workers)]
    asking = make_pod("p").cpu(wanted).obj()
    trials = Trials([*there, *(pod.obj() for pod in pods), asking], RunOptions())
    ends = trials.as_it_is
    if ends.of(asking.key).outcome != "pending" or wanted > max(nodes):
        return
    found = next(unblock(trials, asking.key)).took_room
    if found is None:
        assert not any(end.node for key, end in ends.pods.items() if key != asking.key)
        return
    placed = [
        pod.on(end.node).phase("Running").obj()
        for pod in pods
        if (end := ends.of(pod.obj().key)).outcome == "bound"
    ]
    binding = {
        gone.key
        for gone in placed
        if trial([*there, *(pod for pod in placed if pod is not gone), asking], RunOptions())
        .of(asking.key)
        .node
    }
    assert {each.pod for each in found.placements} == binding


# ---------------------------------------------------------------- how much is free


def test_much_in_all_and_little_on_each() -> None:
    text = sentence(
        make_node("a").cpu(3).obj(),
        make_node("b").cpu(3).obj(),
        make_node("c").cpu(8).taint("gpu").obj(),
        make_node("too-small").cpu(2).obj(),
        make_pod("w").cpu(1).on("b").phase("Running").obj(),
        make_pod("v").cpu(2).on("a").phase("Running").obj(),
        make_pod("p").cpu(3).obj(),
    )
    assert text == (
        "The 2 nodes that lack only room have 3 cpu free in all, 2 on the emptiest (b), "
        "of 3 asked for"
    )


def test_each_resource_that_is_short_and_places() -> None:
    text = sentence(
        make_node("a").cpu(4).memory("4Gi").obj(),
        make_node("b").cpu(4).memory("8Gi").pods(0).obj(),
        make_node("c").cpu(2).memory("4Gi").obj(),
        make_pod("w").memory("2Gi").on("a").phase("Running").obj(),
        make_pod("v").cpu(1).memory("2Gi").on("c").phase("Running").obj(),
        make_pod("p").cpu(2).memory("4Gi").obj(),
    )
    assert text == (
        "The 3 nodes that lack only room have 12Gi memory free in all, 8Gi on the emptiest (b), "
        "of 4Gi asked for; 9 cpu free in all, 4 on the emptiest (a), of 2 asked for; "
        "218 places for pods free in all, 109 on the emptiest (a), of 1 asked for"
    )


def test_an_overcommitted_node_takes_nothing_from_the_others() -> None:
    crowded = [make_pod(f"w{i}").cpu(2).on("a").phase("Running").obj() for i in range(2)]
    asking, other = make_pod("p").cpu(3).obj(), make_pod("v").cpu(1).on("b").phase("Running").obj()
    nodes = (make_node("a").cpu(3).obj(), make_node("b").cpu(3).obj())
    text = sentence(*nodes, *crowded, other, asking)
    assert "have 2 cpu free in all, 2 on the emptiest (b)" in text
    only = sentence(nodes[0], *crowded, asking)
    assert only == "Only a lacks nothing but room: it has no cpu free"


def test_what_is_kept_for_a_nominated_pod_is_not_free() -> None:
    objects = [
        make_node("a").cpu(4).obj(),
        make_pod("first").cpu(3).priority(10).nominated("a").obj(),
        make_pod("p").cpu(2).obj(),
    ]
    found = explain(objects, "default/p").free_room
    assert found is not None
    assert found.sentence == "Only a lacks nothing but room: it has 1 cpu free"


def test_nothing_is_said_where_something_else_is_against_every_node() -> None:
    found = first_for([make_node("a").cpu(1).taint("gpu").obj(), make_pod("p").cpu(2).obj()])
    assert found.free_room is None
    assert found.took_room is None
