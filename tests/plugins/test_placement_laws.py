"""What holds of spreading and inter-pod affinity in every cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.api import Namespace, Node, Pod, PodAffinityTerm
from scheduler_core.cluster.nodes import Change
from scheduler_core.config import FeatureGates
from scheduler_core.config.types import InterPodAffinityArgs, PodTopologySpreadArgs
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.releases import LATEST
from tests.builders import make_pod
from tests.generator.dumps import dump, read
from tests.plugins.harness import World
from tests.plugins.naive_placement import (
    affinity_rejects,
    affinity_scores,
    spread_rejects,
    spread_scores,
)
from tests.plugins.placement import Cycle, selector

HARD_WEIGHT = 3
PLAIN = FeatureGates(release=LATEST)
"""v1.36 takes a namespaceSelector that a namespace without labels matches for all namespaces."""
FEATURES = (
    *("namespaces", "nodeselector", "nozone", "podaffinity", "policies", "regions", "spread"),
    *("taints", "terminating", "tolerations"),
)
OBJECTS = [item for item in read(dump(0)) if isinstance(item, Namespace)]
NAMESPACES = {each.name: each.metadata.labels for each in OBJECTS}

PLUGINS: dict[str, Callable[[World], Any]] = {
    "PodTopologySpread": lambda world: PodTopologySpread(PodTopologySpreadArgs(), world),
    "InterPodAffinity": lambda world: InterPodAffinity(
        InterPodAffinityArgs(hard_pod_affinity_weight=HARD_WEIGHT), world
    ),
}


def cluster_of(seed: int) -> tuple[list[Node], list[Pod], Pod]:
    """Return nodes, pods on them, and a pod to place."""
    objects = read(dump(seed, 5, 8, FEATURES, 0.7))
    pods = [item for item in objects if isinstance(item, Pod)]
    incoming = next(pod for pod in pods if not pod.spec.node_name)
    nodes = [item for item in objects if isinstance(item, Node)]
    return nodes, [pod for pod in pods if pod.spec.node_name], incoming


def clusters() -> st.SearchStrategy[tuple[list[Node], list[Pod], Pod]]:
    return st.integers(0, 2**32 - 1).map(cluster_of)


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
    world = World(*nodes, *OBJECTS, *pods, features=PLAIN)
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
    world = World(*nodes, *OBJECTS, *pods, features=PLAIN)
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
    drawn = data.draw(st.lists(st.sampled_from(pods), max_size=2)) if pods else []
    added = [
        replace(
            each,
            metadata=replace(each.metadata, name=f"new{i}", uid=f"new{i}"),
            spec=replace(each.spec, node_name=name),
        )
        for i, each in enumerate(drawn)
    ]

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
    if any(term.namespace_selector is not None for term in every_term(incoming)):
        return
    first, second = World(*nodes, *OBJECTS, *pods), World(*nodes, *OBJECTS, *strangers, *pods)
    one, other = (Cycle(world, PLUGINS[plugin](world), incoming) for world in (first, second))
    assert one.rejects() == other.rejects()
    assert one.scores() == other.scores()


def every_term(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    for group in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if group is not None:
            yield from group.required_during_scheduling_ignored_during_execution
            for preferred in group.preferred_during_scheduling_ignored_during_execution:
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
