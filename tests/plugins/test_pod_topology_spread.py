"""PodTopologySpread's filter. Upstream: plugins/podtopologyspread/filtering_test.go."""

from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.api import (
    Pod,
    Toleration,
    TopologySpreadConstraint,
)
from scheduler_core.framework.status import Code
from tests.builders import gates_off, make_node, make_pod
from tests.plugins.harness import World, affinity, expression, term, tolerate
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


def test_two_constraints_must_both_hold() -> None:
    world = World(*hosts(), *foos("2103"))
    assert cycle(world, hard(ZONE, IS_FOO), hard(HOST, IS_FOO)).fits() == ["node-x"]
    world = World(*hosts(), *foos("2104"))
    assert cycle(world, hard(ZONE, IS_FOO), hard(HOST, IS_FOO)).fits() == []


def test_nodes_without_all_topology_keys_do_not_count() -> None:
    """node-b has no zone: its pod is in no domain, not even in that of its hostname."""
    bare = make_node("node-b").obj()
    a, _, x, _ = hosts()
    world = World(a, bare, x, *foos("11", "ab"))
    both = cycle(world, hard(ZONE, IS_FOO), hard(HOST, IS_FOO))
    assert both.rejects() == {"node-a": SKEWED, "node-b": NO_LABEL}
    counts = [each.counts.sum() for each in both.state.domains]
    assert counts == [1, 1]


def test_who_counts() -> None:
    world = World(
        *hosts(),
        make_pod("other namespace").on("node-a").labels(FOO).namespace("other").obj(),
        make_pod("terminating").on("node-a").labels(FOO).deleted_at_ns(1).obj(),
        make_pod("other labels").on("node-a").label("bar", "").obj(),
    )
    assert cycle(world, hard(ZONE, IS_FOO)).fits() == ["node-a", "node-x", "node-b", "node-y"]
    world.add(make_pod("counts").on("node-a").labels(FOO).obj())
    assert cycle(world, hard(ZONE, IS_FOO)).fits() == ["node-x", "node-y"]


def test_a_pod_that_does_not_match_itself_adds_nothing() -> None:
    world = World(*hosts(), *foos("1000"))
    assert cycle(world, hard(ZONE, IS_FOO), labels={}).rejects() == {}


@pytest.mark.parametrize(
    ("keys", "labels", "fits"),
    [
        ((), {"foo": "", "v": "2"}, "xy"),
        (("v",), {"foo": "", "v": "2"}, "abxy"),
        (("v",), {"foo": "", "v": "1"}, "xy"),
        (("v",), FOO, "xy"),
    ],
)
def test_match_label_keys(keys: Sequence[str], labels: Mapping[str, str], fits: str) -> None:
    old = [make_pod(f"p{i}").on("node-a").label("foo", "").label("v", "1").obj() for i in range(2)]
    world = World(*hosts(), *old)
    constraint = hard(ZONE, IS_FOO, match_label_keys=keys)
    kept = cycle(world, constraint, labels=labels).fits()
    assert kept == [f"node-{name}" for name in "axby" if name in fits]


def test_match_label_keys_need_their_gate() -> None:
    off = gates_off("MatchLabelKeysInPodTopologySpread")
    old = make_pod("old").on("node-a").label("foo", "").label("v", "1").obj()
    world = World(*hosts(), old, features=off)
    constraint = hard(ZONE, IS_FOO, match_label_keys=("v",))
    assert cycle(world, constraint, labels={"foo": "", "v": "2"}).fits() == ["node-x", "node-y"]


@pytest.mark.parametrize(
    ("policy", "fits"), [("Honor", ["node-a", "node-x"]), ("", ["node-a", "node-x"])]
)
def test_node_affinity_policy_leaves_nodes_out(policy: str, fits: Sequence[str]) -> None:
    """node-b and node-y are not for the pod: only a and x make the minimum (0)."""
    world = World(*hosts(), *foos("0404"))
    constraint = hard(HOST, IS_FOO, node_affinity_policy=policy)
    only = affinity(term(expression(HOST, "In", "node-a", "node-x")))
    assert cycle(world, constraint, affinity=only).fits()[:2] == fits
    ignoring = hard(HOST, IS_FOO, 4, node_affinity_policy="Ignore")
    world = World(*hosts(), *foos("4040"))
    assert cycle(world, ignoring, node_selector={ZONE: "zone1"}).fits() == ["node-b", "node-y"]
    honoring = hard(HOST, IS_FOO, 4, node_affinity_policy="Honor")
    by_selector = cycle(world, honoring, node_selector={HOST: "node-a"})
    assert by_selector.state.domains[0].global_minimum == 4


@pytest.mark.parametrize(
    ("policy", "tolerations", "minimum"),
    [
        ("Ignore", (), 0),
        ("", (), 0),
        ("Honor", (), 1),
        ("Honor", (tolerate("k", operator="Exists"),), 0),
    ],
)
def test_node_taints_policy(policy: str, tolerations: Sequence[Toleration], minimum: int) -> None:
    tainted = make_node("node-t").taint("k").obj()
    world = World(*hosts(), tainted, *foos("1111"))
    constraint = hard(HOST, IS_FOO, node_taints_policy=policy)
    found = cycle(world, constraint, tolerations=tolerations)
    assert found.state.domains[0].global_minimum == minimum


def test_prefer_no_schedule_keeps_a_node_in() -> None:
    tainted = make_node("node-t").taint("k", effect="PreferNoSchedule").obj()
    world = World(*hosts(), tainted, *foos("1111"))
    found = cycle(world, hard(HOST, IS_FOO, node_taints_policy="Honor"))
    assert found.state.domains[0].global_minimum == 0


def test_a_node_that_takes_no_part_is_filtered_as_an_empty_domain() -> None:
    world = World(*hosts(), *foos("3111"))
    constraint = hard(HOST, IS_FOO, node_affinity_policy="Honor")
    assert cycle(world, constraint, node_selector={ZONE: "zone2"}).fits() == [
        "node-a",
        "node-x",
        "node-b",
        "node-y",
    ]


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


def test_a_removed_pod_makes_room_in_its_own_domain_only() -> None:
    victim = make_pod("victim").on("node-y").labels(FOO).obj()
    world = World(*hosts(), *foos("2103"), victim)
    found = cycle(world, hard(ZONE, IS_FOO))
    assert set(found.rejects()) == {"node-x", "node-y"}
    assert set(found.rejects_if("node-y", removed=[victim])) == {"node-x"}


def test_an_added_pod_fills_its_own_domain_and_may_raise_the_minimum() -> None:
    world = World(*hosts("123", "abx"), *foos("100", "abx"))
    found = cycle(world, hard(ZONE, IS_FOO, 2))
    more = [make_pod(f"n{i}").labels(FOO).obj() for i in range(2)]
    assert found.rejects() == {}
    assert found.rejects_if("node-a", added=more[:1]) == {"node-a": SKEWED}
    assert found.rejects_if("node-b", added=more) == {"node-b": SKEWED}
    world = World(*hosts("12", "ab"), *foos("10", "ab"))
    assert cycle(world, hard(ZONE, IS_FOO)).rejects_if("node-b", added=more[:1]) == {
        "node-a": SKEWED
    }


@pytest.mark.parametrize(
    "pod",
    [make_pod("n").labels(FOO).namespace("other").obj(), make_pod("n").label("bar", "").obj()],
)
def test_hypothetical_pods_of_others_change_nothing(pod: Pod) -> None:
    world = World(*hosts(), *foos("1111"))
    assert cycle(world, hard(ZONE, IS_FOO)).rejects_if("node-a", added=[pod]) == {}


def test_hypothetical_pods_do_not_count_where_the_node_takes_no_part() -> None:
    world = World(*hosts(), *foos("1111"))
    found = cycle(world, hard(HOST, IS_FOO), node_selector={ZONE: "zone2"})
    more = [make_pod(f"n{i}").labels(FOO).obj() for i in range(5)]
    assert found.rejects_if("node-a", added=more) == {}
    assert set(found.rejects_if("node-x", added=more)) == {"node-x"}


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
