"""PodTopologySpread's filter. Upstream: plugins/podtopologyspread/filtering_test.go."""

import pytest

from scheduler_core.api import (
    TopologySpreadConstraint,
)
from scheduler_core.framework.status import Code
from tests.builders import gates_off, make_node, make_pod
from tests.plugins.harness import World
from tests.plugins.placement import HOST, ZONE, hard, selector, soft
from tests.plugins.spread_clusters import FOO, IS_FOO, cycle, foos, hosts

SKEWED = (Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
NO_LABEL = (
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ("node(s) didn't match pod topology spread constraints (missing required label)",),
)


@pytest.mark.parametrize(
    ("spread", "constraint", "fits"),
    [
        ("0000", hard(ZONE, IS_FOO), "abxy"),
        ("2103", hard(ZONE, IS_FOO), "abxy"),
        ("2104", hard(ZONE, IS_FOO), "ab"),
        ("2103", hard(HOST, IS_FOO), "x"),
        ("2103", hard(HOST, IS_FOO, 2), "bx"),
        ("2221", hard(HOST, IS_FOO, 2), "abxy"),
        ("2221", hard(HOST, IS_FOO, 2, min_domains=5), "y"),
        ("2221", hard(HOST, IS_FOO, 2, min_domains=4), "abxy"),
        ("1100", hard(ZONE, IS_FOO, 2, min_domains=3), "xy"),
        ("2103", hard(ZONE, selector(foo="bar")), "abxy"),
        ("2104", hard(ZONE, None), "abxy"),
        ("2104", hard(ZONE, selector()), "abxy"),
        ("2104", hard(ZONE, selector(("foo", "Exists"))), "ab"),
    ],
)
def test_one_constraint(spread: str, constraint: TopologySpreadConstraint, fits: str) -> None:
    world = World(*hosts(), *foos(spread))
    assert cycle(world, constraint).fits() == [f"node-{name}" for name in "axby" if name in fits]


def test_reasons_tell_a_missing_label_from_too_many_pods() -> None:
    world = World(*hosts(), make_node("bare").without_label(HOST).obj(), *foos("2104"))
    assert cycle(world, hard(ZONE, IS_FOO)).rejects() == {
        "bare": NO_LABEL,
        "node-x": SKEWED,
        "node-y": SKEWED,
    }


def test_the_first_constraint_that_fails_gives_the_reason() -> None:
    half = make_node("half").zone("zone2").without_label(HOST).obj()
    world = World(*hosts(), half, *foos("2104"))
    by_zone, by_rack = hard(ZONE, IS_FOO), hard("rack", IS_FOO)
    assert cycle(world, by_zone, by_rack).rejects()["half"] == NO_LABEL
    full = World(*hosts(rack="r"), half, *foos("2104"))
    assert cycle(full, by_zone, by_rack).rejects()["half"] == SKEWED
    assert cycle(full, by_rack, by_zone).rejects()["half"] == NO_LABEL


def test_match_label_keys_need_their_gate() -> None:
    off = gates_off("MatchLabelKeysInPodTopologySpread")
    old = make_pod("old").on("node-a").label("foo", "").label("v", "1").obj()
    world = World(*hosts(), old, features=off)
    constraint = hard(ZONE, IS_FOO, match_label_keys=("v",))
    assert cycle(world, constraint, labels={"foo": "", "v": "2"}).fits() == ["node-x", "node-y"]


def test_without_hard_constraints_it_skips() -> None:
    world = World(*hosts())
    assert cycle(world).status.is_skip
    assert cycle(world, soft(ZONE, IS_FOO)).status.is_skip


def test_a_malformed_selector_is_an_error() -> None:
    world = World(*hosts())
    broken = selector(("foo", "Near", "bar"))
    what = '"Near" is not a valid label selector operator'
    hard_one = cycle(world, hard(ZONE, broken))
    assert hard_one.status.code is Code.ERROR
    assert hard_one.status.message == (
        f"get constraints from pod: obtaining pod's hard topology spread constraints: {what}"
    )
    soft_one = cycle(world, soft(ZONE, broken))
    status = soft_one.plugin.pre_score(None, soft_one.info, soft_one.nodes)
    assert status.code is Code.ERROR
    assert status.message == (
        f"calculating preScoreState: obtaining pod's soft topology spread constraints: {what}"
    )


# ---------------------------------------------------------------- hypothetical pods


def test_hypothetical_pods_count_as_upstream_counts_them() -> None:
    """Pods being deleted count when taken off, and all pods count for an empty selector."""
    dying = make_pod("dying").on("node-a").labels(FOO).deleted_at_ns(1).obj()
    world = World(*hosts(), *foos("1111"), dying)
    found = cycle(world, hard(HOST, IS_FOO))
    assert found.rejects() == {}
    domain = found.state.domains[0]
    assert domain.is_skewed_if(0, -1) is False
    assert domain.minimum_if(0, 0) == 0
    any_pod = cycle(world, hard(HOST, selector()))
    assert any_pod.rejects_if("node-a", added=[make_pod("n").obj()]) == {"node-a": SKEWED}
