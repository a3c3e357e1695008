"""What becomes of a pod is said in the same words by the Lab and by what unblocks it."""

from __future__ import annotations

import pytest

from kviz.questions.unblock.text import as_json, as_text
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.changes import read_line
from scheduler_core.sim.fate import FROM_THE_START, Fate, verdict
from scheduler_core.sim.run import RunOptions
from tests.builders import make_node, make_pod


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (Fate(), Fate(), "shop/web still finds no node"),
        (Fate(), Fate("b"), "shop/web binds on b"),
        (Fate("a"), Fate("a"), "shop/web still binds on a"),
        (Fate("a"), Fate("b"), "shop/web binds on b; without the change it binds on a"),
        (Fate("a"), Fate(), "shop/web finds no node; without the change it binds on a"),
        (Fate("a", ("x/v",)), Fate(), "shop/web finds no node"),
        (Fate(), Fate("a", ("x/v", "x/w")), "shop/web binds on a after evicting x/v, x/w"),
        (Fate("a", ("x/v",)), Fate("a", ("x/v",)), "shop/web still binds on a after evicting x/v"),
    ],
)
def test_what_becomes_of_a_pod(before: Fate, after: Fate, said: str) -> None:
    assert verdict(before, after, "shop/web") == said
    assert verdict(before, after) == said.replace("shop/web", "The pod")


def test_the_lab_says_of_a_plan_what_unblock_says() -> None:
    objects = (
        make_node("n").cpu(1).obj(),
        make_pod("low").cpu(1).on("n").obj(),
        make_pod("p").cpu(1).priority(0).obj(),
    )
    trials = Trials(objects, RunOptions())
    *_, found = unblock(trials, "default/p")
    answers = as_json(found)["answers"]
    assert isinstance(answers, list)
    (evicting,) = (each for each in answers if each["evicted"])
    assert evicting["verdict"] == "binds on n after evicting default/low"
    held = trials.held_at(objects, trials.as_it_is.of("default/p").cycle)
    assert held is not None
    changes = [read_line(line) for line in evicting["changes"]]
    assert held.previews.change(changes).verdict == f"The pod {evicting['verdict']}."


def test_a_run_from_the_start_may_end_elsewhere_than_the_cycle() -> None:
    """Without `low` the pod that came first takes node a, so that p is left with b."""
    low = make_pod("low").cpu(3).priority(1).on("a").obj()
    first, own = (make_pod(name).cpu(2).priority(2 - i).obj() for i, name in enumerate("fp"))
    objects = (make_node("a").cpu(3).obj(), make_node("b").cpu(2).obj(), low, first, own)
    trials = Trials(objects, RunOptions())
    changes = [read_line("pod/default/low delete")]
    held = trials.held_at(objects, trials.as_it_is.of("default/p").cycle)
    assert held is not None
    assert held.previews.change(changes).verdict == "The pod binds on a."
    assert trials.after(changes).of("default/p").node == "b"
    *_, found = unblock(trials, "default/p")
    assert as_json(found)["verdictsOf"] == FROM_THE_START
    assert FROM_THE_START in as_text(found)
