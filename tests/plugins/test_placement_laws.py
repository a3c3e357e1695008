"""What holds of spreading and inter-pod affinity in every cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Namespace, Node, Pod
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.cluster.nodes import Change
from scheduler_core.config.types import InterPodAffinityArgs, PodTopologySpreadArgs
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, taint
from tests.plugins.naive_placement import (
    affinity_rejects,
    affinity_scores,
    spread_rejects,
    spread_scores,
)
from tests.plugins.placement import HOST, ZONE, Cycle, aff_term, hard, pod_affinity, selector, soft

HARD_WEIGHT = 3
NAMESPACES = {"default": {"team": "a"}, "other": {"team": "b"}}
OBJECTS = [
    Namespace(metadata=ObjectMeta(name=name, labels=labels)) for name, labels in NAMESPACES.items()
]

PLUGINS: dict[str, Callable[[World], Any]] = {
    "PodTopologySpread": lambda world: PodTopologySpread(PodTopologySpreadArgs(), world),
    "InterPodAffinity": lambda world: InterPodAffinity(
        InterPodAffinityArgs(hard_pod_affinity_weight=HARD_WEIGHT), world
    ),
}

selectors = st.sampled_from(
    [selector(app="a"), selector(app="b"), selector(("app", "Exists")), selector(), None]
)
keys = st.sampled_from([HOST, ZONE, "rack"])
pod_labels = st.sampled_from([{"app": "a"}, {"app": "b"}, {}, {"app": "a", "v": "1"}])
pod_namespaces = st.sampled_from(["default", "default", "other"])


@st.composite
def node_lists(draw: st.DrawFn) -> Any:
    chosen = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["1", "2", "", None]),
                st.sampled_from(["r", "s", None]),
                st.booleans(),
            ),
            min_size=1,
            max_size=5,
        )
    )
    result = []
    for i, (zone, rack, tainted) in enumerate(chosen):
        drawn = {HOST: f"n{i}", ZONE: zone, "rack": rack}
        labels = {key: value for key, value in drawn.items() if value is not None}
        taints = [taint("k:NoSchedule")] if tainted else []
        result.append(make_node(f"n{i}").labels(labels).taints(*taints).obj())
    return result


constraints = st.builds(
    lambda make, key, what, skew, domains, taints, honors: make(
        key,
        what,
        skew,
        min_domains=domains if make is hard else None,
        node_taints_policy=taints,
        node_affinity_policy=honors,
    ),
    st.sampled_from([hard, soft]),
    keys,
    selectors,
    st.integers(1, 3),
    st.sampled_from([None, 2, 3]),
    st.sampled_from(["", "Honor"]),
    st.sampled_from(["", "Ignore"]),
)
terms = st.builds(
    lambda key, what, fields: aff_term(key, what, **fields),
    keys,
    selectors,
    st.sampled_from(
        [
            {},
            {"namespaces": ("other",)},
            {"namespace_selector": selector()},
            {"namespace_selector": selector(team="b")},
        ]
    ),
)
weighted = st.tuples(st.integers(1, 9), terms)
affinities = st.builds(
    lambda near, far, liked, disliked: pod_affinity(
        near=near, far=far, liked=liked, disliked=disliked
    ),
    *(st.lists(terms, max_size=1) for _ in range(2)),
    *(st.lists(weighted, max_size=1) for _ in range(2)),
)
plain_pods = st.builds(
    lambda labels, namespace, affinity, dying: (labels, namespace, affinity, dying),
    pod_labels,
    pod_namespaces,
    st.none() | affinities,
    st.sampled_from([False, False, True]),
)


def placed(name: str, on: str, drawn: tuple[Any, ...], *, dying: Any = True) -> Pod:
    labels, namespace, affinity, terminating = drawn
    pod = make_pod(name).on(on).labels(labels).namespace(namespace).affinity(affinity)
    return pod.deleted_at_ns(1).obj() if terminating and dying else pod.obj()


incoming_pods = st.builds(
    lambda labels, affinity, spread, only: (
        make_pod("incoming")
        .labels(labels)
        .affinity(affinity)
        .node_selectors({"rack": "r"} if only else {})
        .spec(topology_spread_constraints=tuple(spread))
        .obj()
    ),
    pod_labels,
    affinities,
    st.lists(constraints, min_size=1, max_size=3),
    st.sampled_from([False, False, True]),
)


@st.composite
def clusters(draw: st.DrawFn) -> Any:
    """Return nodes, pods on them, and a pod to place."""
    nodes = draw(node_lists())
    names = st.sampled_from([each.name for each in nodes])
    drawn = draw(st.lists(st.tuples(names, plain_pods), max_size=8))
    pods = [placed(f"p{i}", on, each) for i, (on, each) in enumerate(drawn)]
    return nodes, pods, draw(incoming_pods)


def placement_of(nodes: Sequence[Node], pods: Sequence[Pod]) -> dict[str, tuple[Node, list[Pod]]]:
    return {
        each.name: (each, [pod for pod in pods if pod.spec.node_name == each.name])
        for each in nodes
    }


# ---------------------------------------------------------------- against the plain rules


@given(clusters())
def test_spreading_filters_as_the_plain_rules_do(
    cluster: tuple[Sequence[Node], Sequence[Pod], Pod],
) -> None:
    nodes, pods, incoming = cluster
    world = World(*nodes, *OBJECTS, *pods)
    got = Cycle(world, PLUGINS["PodTopologySpread"](world), incoming).rejects()
    missing = {name: "missing" in reasons[0] for name, (_, reasons) in got.items()}
    assert missing == spread_rejects(incoming, placement_of(nodes, pods))


@given(clusters(), st.data())
def test_spreading_scores_as_the_plain_rules_do(
    cluster: tuple[Sequence[Node], Sequence[Pod], Pod], data: st.DataObject
) -> None:
    nodes, pods, incoming = cluster
    feasible = data.draw(
        st.lists(st.sampled_from([n.name for n in nodes]), min_size=1, unique=True)
    )
    world = World(*nodes, *OBJECTS, *pods)
    got = Cycle(world, PLUGINS["PodTopologySpread"](world), incoming).scores(*feasible)
    softs = [
        each
        for each in incoming.spec.topology_spread_constraints
        if each.when_unsatisfiable == "ScheduleAnyway"
    ]
    assert (got is None) == (not softs)
    if got is not None:
        assert got[0] == spread_scores(incoming, placement_of(nodes, pods), feasible)


@given(clusters())
def test_affinity_filters_as_the_plain_rules_do(
    cluster: tuple[Sequence[Node], Sequence[Pod], Pod],
) -> None:
    nodes, pods, incoming = cluster
    world = World(*nodes, *OBJECTS, *pods)
    got = Cycle(world, PLUGINS["InterPodAffinity"](world), incoming).rejects()
    expected = affinity_rejects(incoming, placement_of(nodes, pods), NAMESPACES)
    words = {"affinity": "pod affinity", "anti-affinity": "anti-affinity", "existing": "existing"}
    assert got.keys() == expected.keys()
    assert all(words[rule] in got[name][1][0] for name, rule in expected.items())


@given(clusters())
def test_affinity_scores_as_the_plain_rules_do(
    cluster: tuple[Sequence[Node], Sequence[Pod], Pod],
) -> None:
    nodes, pods, incoming = cluster
    world = World(*nodes, *OBJECTS, *pods)
    got = Cycle(world, PLUGINS["InterPodAffinity"](world), incoming).scores()
    expected = affinity_scores(incoming, placement_of(nodes, pods), NAMESPACES, HARD_WEIGHT)
    if got is None:
        assert not any(expected.values())
    else:
        assert got[0] == expected


# ---------------------------------------------------------------- laws of both

both = pytest.mark.parametrize("plugin", PLUGINS)


@both
@given(cluster=clusters(), data=st.data())
def test_a_hypothetical_node_is_judged_as_if_its_pods_had_really_changed(
    plugin: str, cluster: tuple[Sequence[Node], Sequence[Pod], Pod], data: st.DataObject
) -> None:
    """The other nodes are filtered as they are. Pods being deleted are counted twofold upstream."""
    nodes, pods, incoming = cluster
    pods = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    spread = [
        each
        for each in incoming.spec.topology_spread_constraints
        if each.label_selector != selector()
    ]
    incoming = (
        make_pod("incoming")
        .labels(incoming.metadata.labels)
        .affinity(incoming.spec.affinity)
        .spec(topology_spread_constraints=tuple(spread))
        .obj()
    )
    name = data.draw(st.sampled_from([each.name for each in nodes]))
    here = [pod for pod in pods if pod.spec.node_name == name]
    removed = data.draw(st.lists(st.sampled_from(here), unique_by=id) if here else st.just([]))
    drawn = data.draw(st.lists(plain_pods, max_size=2))
    added = [placed(f"new{i}", name, each, dying=False) for i, each in enumerate(drawn)]

    world = World(*nodes, *OBJECTS, *pods)
    found = Cycle(world, PLUGINS[plugin](world), incoming)
    if found.prepared is None:
        return  # a plugin that skips takes no part in hypothetical cycles either
    changed = found.rejects_if(name, added, removed)
    kept = [pod for pod in pods if pod not in removed]
    real = World(*nodes, *OBJECTS, *kept, *added)
    really = Cycle(real, PLUGINS[plugin](real), incoming)
    assert changed.get(name) == really.rejects().get(name)
    untouched = found.rejects()
    for other in found.nodes.names:
        if other != name:
            assert changed.get(other) == untouched.get(other)


@both
@given(cluster=clusters(), data=st.data())
def test_the_order_of_pods_changes_nothing(
    plugin: str, cluster: tuple[Sequence[Node], Sequence[Pod], Pod], data: st.DataObject
) -> None:
    nodes, pods, incoming = cluster
    shuffled = data.draw(st.permutations(pods))
    first, second = (World(*nodes, *OBJECTS, *order) for order in (pods, shuffled))
    one, other = (Cycle(world, PLUGINS[plugin](world), incoming) for world in (first, second))
    assert one.rejects() == other.rejects()
    assert one.scores() == other.scores()


@both
@given(cluster=clusters())
def test_pods_that_nobody_asks_about_change_nothing(
    plugin: str, cluster: tuple[Sequence[Node], Sequence[Pod], Pod]
) -> None:
    nodes, pods, incoming = cluster
    strangers = [
        make_pod(f"stranger{i}").on(each.name).label("stranger", "").namespace("nowhere").obj()
        for i, each in enumerate(nodes)
    ]
    asked = [term for term in every_term(incoming) if term.namespace_selector == selector()]
    if any(term.label_selector == selector() for term in asked):
        return
    first, second = World(*nodes, *OBJECTS, *pods), World(*nodes, *OBJECTS, *strangers, *pods)
    one, other = (Cycle(world, PLUGINS[plugin](world), incoming) for world in (first, second))
    assert one.rejects() == other.rejects()
    assert one.scores() == other.scores()


def every_term(pod: Pod) -> Iterator[Any]:
    assert pod.spec.affinity is not None
    near, far = pod.spec.affinity.pod_affinity, pod.spec.affinity.pod_anti_affinity
    for each in (near, far):
        assert each is not None
        yield from each.required_during_scheduling_ignored_during_execution
        for preferred in each.preferred_during_scheduling_ignored_during_execution:
            yield preferred.pod_affinity_term


@both
@given(cluster=clusters(), data=st.data())
def test_counts_kept_from_cycle_to_cycle_equal_fresh_ones(
    plugin: str, cluster: tuple[Sequence[Node], Sequence[Pod], Pod], data: st.DataObject
) -> None:
    """Pods come and go between cycles of one plugin; a new plugin has to agree each time."""
    nodes, pods, incoming = cluster
    world = World(*nodes, *OBJECTS)
    veteran = PLUGINS[plugin](world)
    there: list[Pod] = []
    for pod in pods:
        leaves = bool(there) and data.draw(st.booleans())
        if leaves:
            gone = there.pop(data.draw(st.integers(0, len(there) - 1)))
            world.cluster.remove_pod(world.info(gone), gone.spec.node_name)
        world.add(pod)
        there.append(pod)
        fresh = World(*nodes, *OBJECTS, *there)
        kept, new = Cycle(world, veteran, incoming), Cycle(fresh, PLUGINS[plugin](fresh), incoming)
        assert kept.rejects() == new.rejects()
        assert kept.scores() == new.scores()


@both
@given(cluster=clusters())
def test_an_unchanged_hypothesis_changes_nothing(
    plugin: str, cluster: tuple[Sequence[Node], Sequence[Pod], Pod]
) -> None:
    nodes, pods, incoming = cluster
    world = World(*nodes, *OBJECTS, *pods)
    found = Cycle(world, PLUGINS[plugin](world), incoming)
    if found.prepared is None:
        return
    coming = world.info(make_pod("x").label("app", "a").obj())
    back = {i: Change((coming,), (coming,)) for i in range(found.nodes.n)}
    assert found.rejects(found.nodes.what_if(back)) == found.rejects()
