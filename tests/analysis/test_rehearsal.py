"""Which change of a release lets which pod end otherwise: alone, or with another."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.analysis.rehearsal import Rehearsal, rehearse
from scheduler_core.api import (
    ContainerStatus,
    KubeObject,
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    ObjectMeta,
    PodStatus,
)
from scheduler_core.config import FeatureGates, default_configuration
from scheduler_core.releases import RELEASES
from scheduler_core.sim import RunOptions
from tests.builders import container, make_node, make_pod
from tests.releases.test_switches import apart_from


def options_for(features: FeatureGates) -> RunOptions:
    return RunOptions(configuration=default_configuration(features), features=features)


def rehearsed(*objects: KubeObject) -> Rehearsal:
    old, new = (options_for(FeatureGates((), RELEASES[name])) for name in ("1.36.3", "1.37.2"))
    return rehearse(objects, old, new, options_for)


def test_one_change_lets_a_pod_bind() -> None:
    untagged = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="tag", operator="DoesNotExist"),)
    )
    found = rehearsed(
        Namespace(metadata=ObjectMeta(name="tagged", labels={"tag": "1"})),
        make_node("n").obj(),
        make_pod("a").namespace("tagged").label("app", "a").on("n").obj(),
        make_pod("p").affinity(apart_from("a", namespace_selector=untagged)).obj(),
    )
    assert found.apart == {"default/p"}
    assert found.because("default/p") == ["unlabelled_namespaces_apart"]
    assert found.causes() == {"unlabelled_namespaces_apart": 1}
    assert [each.node for each in found.comparison.ends.newly_bound] == ["n"]


def test_two_changes_each_of_which_is_enough_have_to_be_undone_together() -> None:
    grown = replace(container({"cpu": "1"}), name="c")
    status = PodStatus(
        container_statuses=(ContainerStatus(name="c", allocated_resources={"cpu": "2"}),)
    )
    found = rehearsed(
        make_node("n").cpu(2).obj(),
        make_pod("resized").containers(grown).status(status).on("n").obj(),
        make_pod("gated").cpu(1).priority(9).gate("g").nominated("n").obj(),
        make_pod("p").cpu(1).obj(),
    )
    assert found.apart == {"default/p"}
    assert ("end", "default/p") not in found.alone
    assert found.because("default/p") == ["gated_pods_nominated", "requests_by_pod"]
    assert [each.node for each in found.comparison.ends.newly_pending] == ["n"]


def test_a_pod_that_only_a_tie_moved_is_luck() -> None:
    """One node less passes, so the first search ends a node later and the second begins there."""
    found = rehearsed(
        *(make_node(f"n{i:03}").cpu(1).obj() for i in range(101)),
        make_pod("gated").cpu(1).priority(9).gate("g").nominated("n005").obj(),
        *(make_pod(name).cpu("500m").obj() for name in ("p", "q")),
    )
    (moved,) = found.comparison.ends.moved
    assert (moved.pod, moved.a, moved.b, moved.luck) == ("default/q", "n100", "n001", True)
    assert found.because("default/q") == ["gated_pods_nominated"]


def test_nothing_is_searched_where_every_pod_ends_as_before() -> None:
    found = rehearsed(make_node("n").cpu(1).obj(), make_pod("p").cpu(1).obj())
    assert (found.apart, found.causes()) == (frozenset(), {})
    undo = {each.name: each.undo for each in found.changes.values()}
    assert undo["StorageCapacityScoring"] == "StorageCapacityScoring=false"
    assert undo["requests_by_pod"] == ""
