from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.api import Namespace, Node, PodAffinityTerm
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


def test_the_first_rule_that_fails_gives_the_reason() -> None:
    hater = (
        make_pod("db").on("a").labels(DB).affinity(pod_affinity(far=[aff_term(HOST, IS_WEB)])).obj()
    )
    world = World(*nodes(), hater)
    far = [aff_term(HOST, IS_DB)]
    assert cycle(world, far=far).rejects() == {"a": ANTI}
    near = [aff_term(HOST, selector(app="cache"))]
    assert cycle(world, near=near, far=far).rejects()["a"] == AFFINITY


def test_namespaces_that_come_later_are_noticed() -> None:
    world = World(*nodes(), make_pod("db").on("a").labels(DB).namespace("prod").obj())
    plugin = InterPodAffinity(DEFAULTS, world)
    term = aff_term(HOST, IS_DB, namespace_selector=selector(env="prod"))
    incoming = make_pod("p").affinity(pod_affinity(near=[term])).obj()
    assert Cycle(world, plugin, incoming).fits() == []
    world.add(namespace("prod", env="prod"))
    assert Cycle(world, plugin, incoming).fits() == ["a"]


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


def test_a_nominated_pod_may_shut_the_pod_out() -> None:
    hater = make_pod("n").labels(DB).affinity(pod_affinity(far=[aff_term("rack", IS_WEB)])).obj()
    racked = [make_node("r").label("rack", "1").obj(), *nodes()]
    world = World(*racked, make_pod("db").on("a").labels(DB).obj())
    found = cycle(world, far=[aff_term(HOST, IS_DB)])
    assert found.rejects_if("r", added=[hater]) == {"a": ANTI, "r": ANTI}
    found = cycle(world, far=[aff_term(HOST, selector(app="cache"))])
    assert found.rejects_if("r", added=[hater]) == {"r": EXISTING}
    assert found.rejects_if("a", added=[hater]) == {}


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
