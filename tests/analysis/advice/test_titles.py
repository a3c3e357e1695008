"""Plans in a few words, and answers that repeat others."""

from __future__ import annotations

from typing import cast

import pytest

from scheduler_core.analysis.advice.actions import Kind, Plan, action
from scheduler_core.analysis.advice.answer import Answer, without_repeats
from scheduler_core.analysis.advice.remedies import PREFERRED, REQUIRED
from scheduler_core.analysis.advice.titles import title_of
from scheduler_core.changes import read_line
from scheduler_core.changes.vocabulary import StepChange

POD = "pod/shop/web"
TOLERATE = f'{POD} set spec.tolerations[+]={{"key":"nvidia.com/gpu","operator":"Exists"}}'


def step(line: str) -> StepChange:
    return cast("StepChange", read_line(line))


@pytest.mark.parametrize(
    ("kind", "lines", "title"),
    [
        ("tolerate", [TOLERATE], "Tolerate nvidia.com/gpu"),
        ("shrink", [f"{POD} set spec.containers[0].resources.requests.cpu=2"], "Request 2 cpu"),
        (
            "shrink",
            [f"{POD} set spec.containers[0].resources.requests[nvidia.com/gpu]=2"],
            "Request 2 nvidia.com/gpu",
        ),
        (
            "selector",
            [f"{POD} set spec.nodeSelector[example.com/disk]=null"],
            "Drop node selector example.com/disk",
        ),
        ("uncordon", ["node/a uncordon", "node/a untaint unschedulable"], "Uncordon a"),
        ("untaint", ["node/a untaint gpu"], "Take taint gpu off a"),
        ("label", ["node/a label disk=ssd"], "Label a disk=ssd"),
        ("node", ["node/a copies 1"], "Add a node like a"),
        ("delete", ["pod/shop/a delete", "pod/shop/b delete"], "Delete shop/a, shop/b"),
        (
            "soften",
            [
                f'{POD} set spec.affinity.podAffinity.{PREFERRED}[+]={{"weight": 1}}',
                f"{POD} set spec.affinity.podAffinity.{REQUIRED}[0]=null",
            ],
            "Prefer what its podAffinity requires",
        ),
    ],
)
def test_what_is_done_is_said_in_a_few_words(kind: Kind, lines: list[str], title: str) -> None:
    assert title_of(Plan((action(kind, *map(step, lines)),))) == title


def test_a_pair_says_both() -> None:
    one = action("tolerate", step(TOLERATE))
    other = action("uncordon", step("node/a uncordon"))
    assert title_of(Plan((one, other))) == "Tolerate nvidia.com/gpu + Uncordon a"


def answer(*lines: str, price: int, node: str = "a", evicted: tuple[str, ...] = ()) -> Answer:
    return Answer(
        changes=tuple(map(read_line, lines)),
        sentence="",
        node=node,
        evicted=evicted,
        newly_bound=(),
        newly_pending=(),
        price=price,
        base_price=price,
        kinds=(),
    )


def test_more_of_the_same_and_another_dose_of_it_are_no_answers() -> None:
    high, higher = (f"{POD} set spec.priorityClassName={name}" for name in ("high", "higher"))
    first = answer(high, price=1)
    more = answer(high, "node/a uncordon", price=2)
    dose = answer(higher, price=3)
    elsewhere = answer(higher, price=4, node="b")
    gentler = answer(high, "node/b uncordon", price=5, node="b")
    evicting = answer(high, price=2, evicted=("shop/x",))
    assert without_repeats([first, more, dose, elsewhere, gentler]) == [first, elsewhere]
    assert without_repeats([more, evicting]) == [more, evicting]
