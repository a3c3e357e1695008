"""The five criteria, in order, each deciding once."""

from __future__ import annotations

from scheduler_core.api import KubeObject
from scheduler_core.preemption.report import PreemptionReport
from tests.builders import budget, make_node, make_pod
from tests.simulated import HOUR_NS, START_NS, Cluster


def pick(*objects: KubeObject) -> PreemptionReport:
    return Cluster(make_node("n1").obj(), make_node("n2").obj(), *objects).preempt()


def test_fewest_budget_violations() -> None:
    report = pick(
        budget("db", allowed=0),
        make_pod("a").cpu(4).on("n1").label("app", "db").obj(),
        make_pod("b").cpu(4).priority(5).on("n2").obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    assert (report.winner, [c.name for c in report.criteria]) == ("n2", ["pdbViolations"])
    assert report.criteria[0].values == (1, 0)


def test_lowest_highest_priority() -> None:
    report = pick(
        make_pod("a").cpu(4).priority(5).on("n1").obj(),
        make_pod("b").cpu(4).priority(3).on("n2").obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    assert report.winner == "n2"
    assert report.criteria[-1].name == "highestPriority"


def test_smallest_sum_of_priorities() -> None:
    report = pick(
        make_pod("a1").cpu(2).priority(5).on("n1").obj(),
        make_pod("a2").cpu(2).priority(4).on("n1").obj(),
        make_pod("b1").cpu(2).priority(5).on("n2").obj(),
        make_pod("b2").cpu(2).priority(1).on("n2").obj(),
        make_pod("preemptor").cpu(4).priority(10).obj(),
    )
    assert report.winner == "n2"
    assert report.criteria[-1].name == "sumPriorities"


def test_negative_priorities_still_count_victims() -> None:
    """The offset per victim makes two pods of -5 weigh more than one."""
    report = pick(
        make_pod("a1").cpu(2).priority(-5).on("n1").obj(),
        make_pod("a2").cpu(2).priority(-5).on("n1").obj(),
        make_pod("b1").cpu(4).priority(-5).on("n2").obj(),
        make_pod("preemptor").cpu(4).priority(10).obj(),
    )
    assert report.winner == "n2"


def test_latest_start_of_the_most_important_victim() -> None:
    report = pick(
        make_pod("a").cpu(4).on("n1").started_ns(START_NS - 9 * HOUR_NS).obj(),
        make_pod("b").cpu(4).on("n2").started_ns(START_NS - 1 * HOUR_NS).obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    assert report.winner == "n2"
    assert report.criteria[-1].name == "latestStartTime"
    assert report.criteria[-1].kept == ("n2",)


def test_a_full_tie_goes_to_the_first_node() -> None:
    report = pick(
        make_pod("a").cpu(4).on("n1").started_ns(START_NS - 2 * HOUR_NS).obj(),
        make_pod("b").cpu(4).on("n2").started_ns(START_NS - 2 * HOUR_NS).obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    assert report.winner == "n1"
    assert report.criteria[-1].kept == ("n1", "n2")
