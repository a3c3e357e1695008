from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.api import (
    Affinity,
    KubeObject,
    Node,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
    StatefulSet,
    StatefulSetSpec,
    Toleration,
    TopologySpreadConstraint,
)
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.config.features import feature_gates
from scheduler_core.config.types import PodTopologySpreadArgs
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, affinity, expression, term, tolerate
from tests.plugins.placement import HOST, ZONE, Cycle, hard, selector, soft

SKEWED = (Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
NO_LABEL = (
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ("node(s) didn't match pod topology spread constraints (missing required label)",),
)
FOO = {"foo": ""}
IS_FOO = selector(foo="")
SYSTEM = PodTopologySpreadArgs()


def hosts(zones: str = "1122", names: str = "abxy", **labels: str) -> list[Node]:
    """Return nodes named a, b, x, y by default, the first two in zone1."""
    return [
        make_node(f"node-{name}").zone(f"zone{zone}").labels(labels).obj()
        for name, zone in zip(names, zones, strict=True)
    ]


def foos(spread: str, names: str = "abxy") -> list[Pod]:
    """Return as many pods per node as `spread` says: 2103 is two on node-a, one on node-b, ..."""
    return [
        make_pod(f"p-{name}{i}").on(f"node-{name}").labels(FOO).obj()
        for name, count in zip(names, spread, strict=True)
        for i in range(int(count))
    ]


def cycle(
    world: World,
    *constraints: TopologySpreadConstraint,
    labels: Mapping[str, str] = FOO,
    args: PodTopologySpreadArgs = SYSTEM,
    **spec: Affinity | Mapping[str, str] | Sequence[Toleration],
) -> Cycle:
    incoming = (
        make_pod("p").labels(labels).spec(topology_spread_constraints=constraints, **spec).obj()
    )
    return Cycle(world, PodTopologySpread(args, world), incoming)


# ---------------------------------------------------------------- filtering


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
    off = feature_gates({"MatchLabelKeysInPodTopologySpread": False})
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


def test_a_node_that_takes_no_part_is_judged_as_an_empty_domain() -> None:
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


# ---------------------------------------------------------------- scoring


@pytest.mark.parametrize(
    ("spread", "constraints", "feasible", "normalized"),
    [
        ("00", [soft(HOST, IS_FOO)], "ab", [100, 100]),
        ("10", [soft(HOST, IS_FOO)], "a", [100]),
        ("11", [soft(HOST, IS_FOO)], "ab", [100, 100]),
        ("2103", [soft(HOST, IS_FOO)], "abxy", [20, 60, 100, 0]),
        ("2103", [soft(HOST, None)], "abxy", [100, 100, 100, 100]),
        ("2103", [soft(HOST, IS_FOO, 2)], "abxy", [33, 66, 100, 16]),
        ("4321", [soft(HOST, IS_FOO, 3)], "abxy", [44, 66, 77, 100]),
        ("2103", [soft(ZONE, IS_FOO)], "abx", [100, 100, 100]),
        ("4103", [soft(ZONE, IS_FOO)], "abx", [57, 57, 100]),
        ("4103", [soft(ZONE, IS_FOO), soft(HOST, IS_FOO)], "ax", [33, 100]),
    ],
)
def test_fewer_pods_around_score_higher(
    spread: str,
    constraints: Sequence[TopologySpreadConstraint],
    feasible: str,
    normalized: Sequence[int],
) -> None:
    names = "abxy"[: len(spread)]
    world = World(*hosts("1122"[: len(spread)], names), *foos(spread, names))
    wanted = [f"node-{name}" for name in feasible]
    _, scores = cycle(world, *constraints).scored(*wanted)
    assert scores == dict(zip(wanted, normalized, strict=True))


def test_nodes_without_a_topology_key_score_nothing() -> None:
    world = World(
        *hosts("11", "ab"),
        make_node("bare").zone("zone1").without_label(HOST).obj(),
        *foos("21", "ab"),
    )
    raw, normalized = cycle(world, soft(ZONE, IS_FOO), soft(HOST, IS_FOO)).scored()
    assert raw["bare"] == normalized["bare"] == 0
    assert normalized["node-b"] > normalized["node-a"]


def test_system_defaults_spread_nodes_without_a_zone_too() -> None:
    service = Service(
        metadata=ObjectMeta(name="s", namespace="default"), spec=ServiceSpec(selector=FOO)
    )
    zoneless = [make_node(f"node-{name}").obj() for name in "abxy"]
    world = World(*zoneless, service, *foos("4321"))
    _, normalized = cycle(world).scored()
    assert normalized == {"node-a": 44, "node-b": 66, "node-x": 77, "node-y": 100}


def named(kind: type[Any], name: str, spec: object) -> Any:
    return kind(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def owned_by(kind: str, name: str = "owner", version: str = "apps/v1") -> OwnerReference:
    return OwnerReference(api_version=version, kind=kind, name=name, uid="u", controller=True)


@pytest.mark.parametrize(
    ("objects", "owner", "spreads"),
    [
        ([], None, False),
        ([named(Service, "s", ServiceSpec(selector=FOO))], None, True),
        ([named(Service, "s", ServiceSpec(selector={"other": ""}))], None, False),
        ([named(Service, "s", ServiceSpec())], None, False),
        ([named(ReplicaSet, "owner", ReplicaSetSpec(selector=IS_FOO))], "ReplicaSet", True),
        ([named(ReplicaSet, "else", ReplicaSetSpec(selector=IS_FOO))], "ReplicaSet", False),
        ([named(StatefulSet, "owner", StatefulSetSpec(selector=IS_FOO))], "StatefulSet", True),
        ([named(ReplicaSet, "owner", ReplicaSetSpec(selector=IS_FOO))], "Job", False),
    ],
)
def test_default_constraints_follow_services_and_controllers(
    objects: Sequence[KubeObject], owner: str | None, spreads: bool
) -> None:
    world = World(*hosts(), *objects, *foos("2103"))
    incoming = make_pod("p").labels(FOO).owned_by(*([owned_by(owner)] if owner else [])).obj()
    found = Cycle(world, PodTopologySpread(SYSTEM, world), incoming).scores()
    assert (found is not None) == spreads
    if found is not None:
        assert found[1]["node-x"] == 100


def test_default_constraints_follow_a_replication_controller() -> None:
    controller = named(ReplicationController, "rc", ReplicationControllerSpec(selector=FOO))
    world = World(*hosts(), controller)
    owner = owned_by("ReplicationController", "rc", "v1")
    incoming = make_pod("p").labels(FOO).owned_by(owner).obj()
    assert Cycle(world, PodTopologySpread(SYSTEM, world), incoming).scores() is not None


def test_services_that_come_later_are_noticed() -> None:
    world = World(*hosts())
    plugin = PodTopologySpread(SYSTEM, world)
    incoming = make_pod("p").labels(FOO).obj()
    assert Cycle(world, plugin, incoming).scores() is None
    world.add(named(Service, "s", ServiceSpec(selector=FOO)))
    assert Cycle(world, plugin, incoming).scores() is not None


def test_list_defaults_replace_the_systems() -> None:
    args = PodTopologySpreadArgs(
        defaulting_type="List", default_constraints=(hard(ZONE, None), soft(HOST, None))
    )
    service = named(Service, "s", ServiceSpec(selector=FOO))
    world = World(*hosts(), service, *foos("2104"))
    assert cycle(world, args=args).fits() == ["node-a", "node-b"]
    assert cycle(world, hard(HOST, IS_FOO), args=args).fits() == ["node-x"]
    assert cycle(World(*hosts(), *foos("2104")), args=args).status.is_skip
    assert cycle(world, args=PodTopologySpreadArgs(defaulting_type="List")).status.is_skip


# ---------------------------------------------------------------- hints

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
BAR = {"bar": ""}
FOO_ON_A = make_pod("x").on("node-a").labels(FOO).obj()
BAR_ON_A = make_pod("x").on("node-a").labels(BAR).obj()


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, FOO_ON_A, QUEUE),
        (None, BAR_ON_A, SKIP),
        (None, make_pod("x").on("node-a").labels(FOO).namespace("other").obj(), SKIP),
        (None, make_pod("x").labels(FOO).obj(), SKIP),
        (None, make_pod("x").labels(FOO).nominated("node-a").obj(), QUEUE),
        (FOO_ON_A, None, QUEUE),
        (BAR_ON_A, None, SKIP),
        (FOO_ON_A, BAR_ON_A, QUEUE),
        (BAR_ON_A, make_pod("x").on("node-a").label("baz", "").obj(), SKIP),
        (
            FOO_ON_A,
            make_pod("x").on("node-a").labels(FOO).label("baz", "").obj(),
            SKIP,
        ),
        (make_pod("p").labels(BAR).obj(), make_pod("p").labels(FOO).obj(), QUEUE),
        (
            make_pod("p").labels(FOO).obj(),
            make_pod("p").labels(FOO).tolerations(tolerate("k")).obj(),
            QUEUE,
        ),
    ],
)
def test_pod_hints(old: Pod | None, new: Pod | None, hint: QueueingHint) -> None:
    world = World(*hosts())
    constraint = hard(ZONE, IS_FOO, node_taints_policy="Honor")
    found = cycle(world, constraint)
    events = {each.event.label: each for each in found.plugin.events_to_register()}
    assert list(events) == ["Pod", "Node"]
    before, after = (each and world.info(each) for each in (old, new))
    assert events["Pod"].hint(found.info, before, after) is hint


def test_a_new_toleration_helps_only_where_taints_count() -> None:
    world = World(*hosts())
    found = cycle(world, hard(ZONE, IS_FOO))
    old, new = (
        world.info(make_pod("p").labels(FOO).tolerations(*each).obj())
        for each in ((), (tolerate("k"),))
    )
    assert found.plugin.is_schedulable_after_pod_change(found.info, old, new) is SKIP


IN_Z = make_node("n").zone("z").obj()
HALF_IN_Z = make_node("n").zone("z").without_label(HOST).obj()


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, IN_Z, QUEUE),
        (None, HALF_IN_Z, SKIP),
        (IN_Z, None, QUEUE),
        (HALF_IN_Z, None, SKIP),
        (HALF_IN_Z, IN_Z, QUEUE),
        (IN_Z, HALF_IN_Z, QUEUE),
        (IN_Z, make_node("n").zone("y").obj(), QUEUE),
        (HALF_IN_Z, make_node("n").zone("y").without_label(HOST).obj(), SKIP),
        (IN_Z, make_node("n").zone("z").label("more", "").obj(), SKIP),
        (IN_Z, make_node("n").zone("z").taint("k").obj(), QUEUE),
    ],
)
def test_node_hints(old: Node | None, new: Node | None, hint: QueueingHint) -> None:
    found = cycle(World(*hosts()), hard(ZONE, IS_FOO), hard(HOST, IS_FOO))
    assert found.plugin.is_schedulable_after_node_change(found.info, old, new) is hint


def test_a_malformed_selector_queues_on_anything() -> None:
    found = cycle(World(*hosts()), hard(ZONE, selector(("foo", "Near"))))
    node = make_node("n").without_label(HOST).obj()
    assert found.plugin.is_schedulable_after_node_change(found.info, None, node) is QUEUE
