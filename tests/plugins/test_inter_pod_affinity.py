from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.api import LabelSelector, Namespace, Node, PodAffinityTerm
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.config.types import InterPodAffinityArgs
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from tests.builders import PodBuilder, make_node, make_pod
from tests.plugins.harness import World
from tests.plugins.placement import HOST, ZONE, Cycle, aff_term, pod_affinity, selector

AFFINITY = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match pod affinity rules",))
ANTI = (Code.UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",))
EXISTING = (Code.UNSCHEDULABLE, ("node(s) didn't satisfy existing pods anti-affinity rules",))
DEFAULTS = InterPodAffinityArgs()
WEB, DB = {"app": "web"}, {"app": "db"}
IS_WEB, IS_DB = selector(app="web"), selector(app="db")


def nodes() -> list[Node]:
    """Return a and b in zone 1, c in zone 2, and d without a zone."""
    zones = {"a": "1", "b": "1", "c": "2", "d": None}
    return [
        make_node(name).labels({ZONE: zone} if zone else {}).obj() for name, zone in zones.items()
    ]


def namespace(name: str, **labels: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, uid=name, labels=labels))


def cycle(
    world: World,
    labels: Mapping[str, str] = WEB,
    args: InterPodAffinityArgs = DEFAULTS,
    namespace: str = "default",
    **terms: Any,
) -> Cycle:
    incoming = (
        make_pod("p").labels(labels).affinity(pod_affinity(**terms)).namespace(namespace).obj()
    )
    return Cycle(world, InterPodAffinity(args, world), incoming)


# ---------------------------------------------------------------- filtering


@pytest.mark.parametrize(
    ("near", "rejected"),
    [
        ([aff_term(ZONE, IS_DB)], {"c": AFFINITY, "d": AFFINITY}),
        ([aff_term(HOST, IS_DB)], {"b": AFFINITY, "c": AFFINITY, "d": AFFINITY}),
        ([aff_term(ZONE, IS_DB), aff_term(HOST, IS_DB)], dict.fromkeys("bcd", AFFINITY)),
        ([aff_term("rack", IS_DB)], dict.fromkeys("abcd", AFFINITY)),
        ([aff_term(ZONE, selector(app="cache"))], dict.fromkeys("abcd", AFFINITY)),
        ([aff_term(ZONE, None)], dict.fromkeys("abcd", AFFINITY)),
        ([aff_term(ZONE, selector())], {"c": AFFINITY, "d": AFFINITY}),
        ([aff_term(ZONE, selector(("app", "NotIn", "web")))], {"c": AFFINITY, "d": AFFINITY}),
        ([aff_term(ZONE, IS_DB, namespaces=("other",))], dict.fromkeys("abcd", AFFINITY)),
    ],
)
def test_required_affinity_opens_domains(
    near: Sequence[PodAffinityTerm], rejected: Mapping[str, tuple[Code, Sequence[str]]]
) -> None:
    world = World(*nodes(), make_pod("db").on("a").labels(DB).obj())
    assert cycle(world, near=near).rejects() == rejected


def test_one_pod_has_to_meet_all_terms() -> None:
    both = {"app": "db", "tier": "back"}
    near = [aff_term(ZONE, IS_DB), aff_term(ZONE, selector(tier="back"))]
    apart = World(
        *nodes(),
        make_pod("db").on("a").labels(DB).obj(),
        make_pod("back").on("a").label("tier", "back").obj(),
    )
    assert cycle(apart, near=near).fits() == []
    assert cycle(
        World(*nodes(), make_pod("both").on("a").labels(both).obj()), near=near
    ).fits() == ["a", "b"]


@pytest.mark.parametrize(
    ("labels", "placed_web", "fits"),
    [
        (WEB, (), ["a", "c", "b"]),
        (DB, (), []),
        (WEB, ("c",), ["c"]),
        (WEB, ("d",), ["a", "c", "b"]),
    ],
)
def test_the_first_of_its_kind_may_go_where_the_labels_are(
    labels: Mapping[str, str], placed_web: Sequence[str], fits: Sequence[str]
) -> None:
    """A pod on d is in no zone, so that the first pod of its kind still may go anywhere."""
    world = World(
        *nodes(), *(make_pod(f"web-{name}").on(name).labels(WEB).obj() for name in placed_web)
    )
    found = cycle(world, labels, near=[aff_term(ZONE, IS_WEB)])
    assert sorted(found.fits()) == sorted(fits)


@pytest.mark.parametrize(
    ("far", "rejected"),
    [
        ([aff_term(ZONE, IS_DB)], {"a": ANTI, "b": ANTI}),
        ([aff_term(HOST, IS_DB)], {"a": ANTI}),
        ([aff_term("rack", IS_DB)], {}),
        ([aff_term(HOST, IS_WEB), aff_term(HOST, IS_DB)], {"a": ANTI, "c": ANTI}),
        ([aff_term(ZONE, None)], {}),
    ],
)
def test_required_anti_affinity_closes_domains(
    far: Sequence[PodAffinityTerm], rejected: Mapping[str, tuple[Code, Sequence[str]]]
) -> None:
    world = World(
        *nodes(), make_pod("db").on("a").labels(DB).obj(), make_pod("web").on("c").labels(WEB).obj()
    )
    assert cycle(world, far=far).rejects() == rejected


@pytest.mark.parametrize(
    ("term", "rejected"),
    [
        (aff_term(ZONE, IS_WEB), {"a": EXISTING, "b": EXISTING}),
        (aff_term(HOST, IS_WEB), {"a": EXISTING}),
        (aff_term(HOST, IS_DB), {}),
        (aff_term(HOST, IS_WEB, namespaces=("other",)), {}),
        (aff_term(HOST, IS_WEB, namespaces=("other", "default")), {"a": EXISTING}),
        (aff_term(HOST, IS_WEB, namespace_selector=selector()), {"a": EXISTING}),
        (aff_term(HOST, IS_WEB, namespace_selector=selector(team="x")), {"a": EXISTING}),
        (aff_term(HOST, IS_WEB, namespace_selector=selector(team="y")), {}),
        (aff_term(HOST, selector(("app", "Near", "x"))), {}),
    ],
)
def test_anti_affinity_of_pods_that_are_there(
    term: PodAffinityTerm, rejected: Mapping[str, tuple[Code, Sequence[str]]]
) -> None:
    existing = make_pod("db").on("a").labels(DB).affinity(pod_affinity(far=[term])).obj()
    world = World(*nodes(), namespace("default", team="x"), existing)
    found = cycle(world)
    assert found.rejects() == rejected
    assert found.status.is_skip == (not rejected)


def test_the_first_rule_that_fails_gives_the_reason() -> None:
    hater = (
        make_pod("db").on("a").labels(DB).affinity(pod_affinity(far=[aff_term(HOST, IS_WEB)])).obj()
    )
    world = World(*nodes(), hater)
    far = [aff_term(HOST, IS_DB)]
    assert cycle(world, far=far).rejects() == {"a": ANTI}
    near = [aff_term(HOST, selector(app="cache"))]
    assert cycle(world, near=near, far=far).rejects()["a"] == AFFINITY


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, []),
        ({"namespaces": ("prod",)}, ["a"]),
        ({"namespaces": ("prod", "dev")}, ["a", "c"]),
        ({"namespace_selector": selector(env="prod")}, ["a"]),
        ({"namespace_selector": selector(env="none")}, []),
        ({"namespace_selector": selector()}, ["a", "c"]),
        ({"namespaces": ("dev",), "namespace_selector": selector(env="prod")}, ["a", "c"]),
        ({"namespace_selector": selector(("env", "NotIn", "prod"))}, ["a", "c"]),
    ],
)
def test_namespaces_of_a_term(
    fields: Mapping[str, LabelSelector | Sequence[str]], fits: Sequence[str]
) -> None:
    """The last one shows upstream: what an unlabelled namespace would match is every namespace."""
    world = World(
        *nodes(),
        namespace("prod", env="prod"),
        namespace("dev", env="dev"),
        make_pod("db").on("a").labels(DB).namespace("prod").obj(),
        make_pod("db").on("c").labels(DB).namespace("dev").obj(),
    )
    assert sorted(cycle(world, near=[aff_term(HOST, IS_DB, **fields)]).fits()) == fits


def test_namespaces_that_come_later_are_noticed() -> None:
    world = World(*nodes(), make_pod("db").on("a").labels(DB).namespace("prod").obj())
    plugin = InterPodAffinity(DEFAULTS, world)
    term = aff_term(HOST, IS_DB, namespace_selector=selector(env="prod"))
    incoming = make_pod("p").affinity(pod_affinity(near=[term])).obj()
    assert Cycle(world, plugin, incoming).fits() == []
    world.add(namespace("prod", env="prod"))
    assert Cycle(world, plugin, incoming).fits() == ["a"]


def test_terminating_pods_still_count() -> None:
    world = World(*nodes(), make_pod("db").on("a").labels(DB).deleted_at_ns(1).obj())
    assert cycle(world, far=[aff_term(HOST, IS_DB)]).rejects() == {"a": ANTI}


def test_without_terms_it_skips() -> None:
    world = World(*nodes(), make_pod("db").on("a").labels(DB).obj())
    assert cycle(world).status.is_skip
    off_the_map = (
        make_pod("x").on("d").labels(DB).affinity(pod_affinity(far=[aff_term(ZONE, IS_WEB)])).obj()
    )
    assert cycle(World(*nodes(), off_the_map)).status.is_skip


def test_malformed_terms_turn_the_pod_down() -> None:
    broken = selector(("app", "Near", "x"))
    found = cycle(World(*nodes()), near=[aff_term(HOST, broken)], far=[aff_term(HOST, broken)])
    what = '"Near" is not a valid label selector operator'
    assert found.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert found.status.message == (
        f"parsing pod: [requiredAffinityTerms: {what}, requiredAntiAffinityTerms: {what}]"
    )
    one = cycle(World(*nodes()), liked=[(1, aff_term(HOST, broken))])
    assert one.status.message == f"parsing pod: preferredAffinityTerms: {what}"


# ---------------------------------------------------------------- hypothetical pods


def test_a_victim_takes_its_anti_affinity_along() -> None:
    hater = (
        make_pod("db").on("a").labels(DB).affinity(pod_affinity(far=[aff_term(ZONE, IS_WEB)])).obj()
    )
    world = World(*nodes(), hater)
    found = cycle(world)
    assert found.rejects() == {"a": EXISTING, "b": EXISTING}
    assert found.rejects_if("a", removed=[hater]) == {"b": EXISTING}


def test_a_victim_that_was_wanted_is_missed() -> None:
    db = make_pod("db").on("a").labels(DB).obj()
    world = World(*nodes(), db)
    found = cycle(world, near=[aff_term(ZONE, IS_DB)])
    assert found.rejects_if("a", removed=[db]) == dict.fromkeys("acd", AFFINITY)


def test_the_last_of_its_kind_gone_makes_the_pod_the_first() -> None:
    web = make_pod("web").on("c").labels(WEB).obj()
    world = World(*nodes(), web)
    found = cycle(world, near=[aff_term(ZONE, IS_WEB)])
    assert found.fits() == ["c"]
    assert set(found.rejects_if("c", removed=[web])) == {"a", "b", "d"}
    assert set(found.rejects_if("a", added=[make_pod("w2").labels(WEB).obj()])) == {"b", "d"}


def test_a_nominated_pod_may_shut_the_pod_out() -> None:
    hater = make_pod("n").labels(DB).affinity(pod_affinity(far=[aff_term("rack", IS_WEB)])).obj()
    racked = [make_node("r").label("rack", "1").obj(), *nodes()]
    world = World(*racked, make_pod("db").on("a").labels(DB).obj())
    found = cycle(world, far=[aff_term(HOST, IS_DB)])
    assert found.rejects_if("r", added=[hater]) == {"a": ANTI, "r": ANTI}
    found = cycle(world, far=[aff_term(HOST, selector(app="cache"))])
    assert found.rejects_if("r", added=[hater]) == {"r": EXISTING}
    assert found.rejects_if("a", added=[hater]) == {}


# ---------------------------------------------------------------- scoring


@pytest.mark.parametrize(
    ("terms", "raw", "normalized"),
    [
        ({"liked": [(5, aff_term(ZONE, IS_DB))]}, [5, 5, 0, 0], [100, 100, 0, 0]),
        ({"disliked": [(5, aff_term(ZONE, IS_DB))]}, [-5, -5, 0, 0], [0, 0, 100, 100]),
        (
            {"liked": [(8, aff_term(HOST, IS_DB)), (2, aff_term(ZONE, IS_WEB))]},
            [8, 0, 2, 0],
            [100, 0, 25, 0],
        ),
        (
            {"liked": [(5, aff_term(ZONE, IS_DB))], "disliked": [(5, aff_term(ZONE, IS_DB))]},
            [0, 0, 0, 0],
            [0, 0, 0, 0],
        ),
        ({"liked": [(3, aff_term(HOST, selector(("app", "Exists"))))]}, [3, 0, 3, 0], None),
    ],
)
def test_preferred_terms_of_the_pod(
    terms: Mapping[str, Any],
    raw: Sequence[int],
    normalized: Sequence[int] | None,
) -> None:
    world = World(
        *nodes(), make_pod("db").on("a").labels(DB).obj(), make_pod("web").on("c").labels(WEB).obj()
    )
    got_raw, got_normalized = cycle(world, **terms).scored(*"abcd")
    assert list(got_raw.values()) == raw
    if normalized is not None:
        assert list(got_normalized.values()) == normalized


@pytest.mark.parametrize(
    ("args", "terms", "raw"),
    [
        (DEFAULTS, {"liked": [(7, aff_term(ZONE, IS_WEB))]}, [7, 7, 0, 0]),
        (DEFAULTS, {"disliked": [(7, aff_term(ZONE, IS_WEB))]}, [-7, -7, 0, 0]),
        (DEFAULTS, {"near": [aff_term(ZONE, IS_WEB)]}, [1, 1, 0, 0]),
        (
            InterPodAffinityArgs(hard_pod_affinity_weight=30),
            {"near": [aff_term(ZONE, IS_WEB)], "liked": [(7, aff_term(HOST, IS_WEB))]},
            [37, 30, 0, 0],
        ),
        (
            InterPodAffinityArgs(hard_pod_affinity_weight=0),
            {"near": [aff_term(ZONE, IS_WEB)]},
            None,
        ),
        (DEFAULTS, {"far": [aff_term(ZONE, IS_WEB)]}, None),
        (DEFAULTS, {"liked": [(7, aff_term("rack", IS_WEB))]}, None),
        (DEFAULTS, {"liked": [(7, aff_term(ZONE, IS_DB))]}, None),
    ],
)
def test_terms_of_pods_that_are_there_draw_the_pod(
    args: InterPodAffinityArgs,
    terms: Mapping[str, Any],
    raw: Sequence[int] | None,
) -> None:
    world = World(*nodes(), make_pod("x").on("a").labels(DB).affinity(pod_affinity(**terms)).obj())
    found = cycle(world, args=args).scores(*"abcd")
    assert (found and list(found[0].values())) == raw


def test_preferences_of_others_may_be_left_out() -> None:
    args = InterPodAffinityArgs(ignore_preferred_terms_of_existing_pods=True)
    fond = (
        make_pod("x")
        .on("a")
        .labels(DB)
        .affinity(pod_affinity(liked=[(7, aff_term(HOST, IS_WEB))]))
        .obj()
    )
    world = World(*nodes(), fond)
    assert cycle(world, args=args).scores() is None
    own = cycle(world, args=args, liked=[(1, aff_term(HOST, IS_DB))]).scores("a", "b")
    assert own is not None
    assert own[0] == {"a": 8, "b": 0}


# ---------------------------------------------------------------- hints

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


def placed(app: str) -> PodBuilder:
    return make_pod("x").on("a").label("app", app)


HATER = placed("db").affinity(pod_affinity(far=[aff_term(ZONE, IS_WEB)]))


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, placed("db"), QUEUE),
        (None, make_pod("x").labels(DB), SKIP),
        (None, make_pod("x").labels(DB).nominated("a"), QUEUE),
        (None, placed("cache"), SKIP),
        (placed("cache"), placed("db"), QUEUE),
        (placed("db"), placed("cache"), SKIP),
        (placed("foe"), placed("cache"), QUEUE),
        (placed("foe"), None, QUEUE),
        (placed("db"), None, SKIP),
        (HATER, None, QUEUE),
        (make_pod("p").labels(DB), make_pod("p").labels(WEB), QUEUE),
    ],
)
def test_pod_hints(old: PodBuilder | None, new: PodBuilder | None, hint: QueueingHint) -> None:
    world = World(*nodes())
    terms: dict[str, Any] = {
        "near": [aff_term(ZONE, IS_DB)],
        "far": [aff_term(ZONE, selector(app="foe"))],
    }
    found = cycle(world, **terms)
    before, after = (each and world.info(each.obj()) for each in (old, new))
    events = {each.event.label: each.hint for each in found.plugin.events_to_register()}
    assert events["Pod"](found.info, before, after) is hint


@pytest.mark.parametrize(
    ("terms", "old", "new", "hint"),
    [
        ("near", None, {ZONE: "1"}, QUEUE),
        ("near", None, {HOST: "a"}, SKIP),
        ("near", {}, {ZONE: "1"}, QUEUE),
        ("near", {ZONE: "1"}, {ZONE: "2"}, QUEUE),
        ("near", {ZONE: "1"}, {}, SKIP),
        ("near", {ZONE: "1"}, {ZONE: "1", "more": ""}, SKIP),
        ("far", None, {}, QUEUE),
        ("far", {ZONE: "1"}, {}, QUEUE),
        ("far", {ZONE: "1"}, {ZONE: "2"}, QUEUE),
        ("far", {}, {ZONE: "1"}, SKIP),
    ],
)
def test_node_hints(
    terms: str, old: Mapping[str, str] | None, new: Mapping[str, str], hint: QueueingHint
) -> None:
    required: dict[str, Any] = {terms: [aff_term(ZONE, IS_DB)]}
    found = cycle(World(*nodes()), **required)
    before, after = (
        None if each is None else make_node("n").without_label(HOST).labels(each).obj()
        for each in (old, new)
    )
    assert found.plugin.is_schedulable_after_node_change(found.info, before, after) is hint


def test_malformed_terms_queue_on_anything() -> None:
    broken = aff_term(ZONE, selector(("app", "Near")))
    found = cycle(World(*nodes()), near=[broken])
    assert (
        found.plugin.is_schedulable_after_node_change(
            found.info, None, make_node("n").without_label(HOST).obj()
        )
        is QUEUE
    )
    gone = found.world.info(make_pod("x").on("a").obj())
    assert found.plugin.is_schedulable_after_pod_change(found.info, gone, None) is QUEUE
