"""Pods placed by hand: what is refused, what a move is worth, what a placement comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.questions.optimum.answer import answer
from scheduler_core.analysis.model.by_hand import NotPlaced, Table
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions
from tests.analysis.model.small_clusters import small_cluster
from tests.builders import make_node, make_pod
from tests.effort import examples

SIZE_TRAP: list[KubeObject] = [
    make_node("n1").cpu(4).pods(10).obj(),
    make_node("n2").cpu(2).pods(10).obj(),
    make_pod("small").cpu(2).obj(),
    make_pod("large").cpu(4).obj(),
]
SMALL, LARGE = "default/small", "default/large"


def table(objects: list[KubeObject] = SIZE_TRAP) -> Table:
    return Table(objects, RunOptions())


def test_a_node_refuses_with_the_plugin_its_message_and_the_values() -> None:
    refusals = table().look({SMALL: "n1"}, LARGE)
    assert set(refusals) == {"n1", "n2"}
    why = refusals["n1"]
    assert why is not None
    assert (why.plugin, why.message) == ("NodeResourcesFit", "Insufficient cpu")
    assert "needs 4 cpu, 2 free of 4" in why.sentence


def test_what_was_placed_before_counts_and_nothing_else() -> None:
    board = table()
    assert board.look({}, LARGE)["n1"] is None
    assert board.look({SMALL: "n1"}, LARGE)["n1"] is not None
    assert board.look({}, LARGE)["n1"] is None
    assert board.look({SMALL: "n1"}, SMALL) == {"n1": None, "n2": None}


def test_a_move_is_worth_the_total_at_its_turn_beside_the_highest() -> None:
    on_small = table().move({}, SMALL, "n2")
    on_large = table().move({}, SMALL, "n1")
    assert on_small.best == on_large.best == on_large.total > on_small.total
    assert sum(on_small.scores.values()) == on_small.total
    assert table().move({SMALL: "n2"}, LARGE, "n1").node == "n1"


@pytest.mark.parametrize(
    ("before", "pod", "node", "text"),
    [
        ({}, LARGE, "n2", "NodeResourcesFit: needs 4 cpu, the whole node has 2"),
        ({SMALL: "n1"}, LARGE, "n1", "NodeResourcesFit"),
        ({SMALL: "n1"}, SMALL, "n2", "placed already"),
        ({}, "default/nobody", "n1", "no pod default/nobody"),
        ({}, SMALL, "n9", "no node n9"),
    ],
)
def test_what_cannot_be_is_refused(before: dict[str, str], pod: str, node: str, text: str) -> None:
    with pytest.raises(NotPlaced, match=text):
        table().move(before, pod, node)


def test_a_plugin_that_rejects_the_pod_itself_refuses_every_node() -> None:
    pod = make_pod("p").node_selector("disk", "fast").obj()
    found = table([make_node("n1").cpu(4).pods(10).obj(), pod]).look({}, "default/p")
    assert found["n1"] is not None
    assert found["n1"].plugin == "NodeAffinity"


def test_a_placement_is_measured_as_the_optimum_is() -> None:
    best = answer(SIZE_TRAP, RunOptions(), "snapshot").comparison
    reached = table().reached({SMALL: "n2", LARGE: "n1"})
    assert reached.key == best.optimum.key
    assert reached.objections == ()
    assert table().reached(best.run.placement).worth == best.run.value
    assert table().of_priority == {0: 2}


def test_who_would_not_be_feasible_in_the_end_is_named() -> None:
    pods = [make_pod(name).cpu(3).obj() for name in ("a", "b")]
    board = table([make_node("n1").cpu(4).pods(10).obj(), *pods])
    found = board.reached({"default/a": "n1", "default/b": "n1"}).objections
    assert any("default/a on n1: NodeResourcesFit" in text for text in found)


@given(seed=st.integers(0, 10_000), choices=st.lists(st.integers(0, 50), max_size=6))
@examples(8)
def test_whoever_keeps_to_feasible_nodes_beats_no_proven_optimum(
    seed: int, choices: list[int]
) -> None:
    objects = small_cluster(seed)
    board = table(objects)
    placement: dict[str, str] = {}
    for pod, choice in zip(board.waiting, choices, strict=False):
        refusals = board.look(placement, pod.name)
        feasible = [name for name, why in refusals.items() if why is None]
        if feasible:
            node = feasible[choice % len(feasible)]
            assert board.move(placement, pod.name, node).total >= 0
            placement[pod.name] = node
        for name in set(refusals).difference(feasible):
            with pytest.raises(NotPlaced):
                board.move(placement, pod.name, name)
    reached = board.reached(placement)
    best = answer(objects, RunOptions(), "snapshot").comparison.optimum
    assert best.proven
    assert reached.objections or reached.key <= best.key
