"""Cached answers change nothing: the same trace, byte by byte, as when every plugin is called."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    Affinity,
    KubeObject,
    Node,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
    Taint,
    Toleration,
)
from scheduler_core.changes.vocabulary import AddTaint, Create, RemoveTaint, StepChange
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import load_configuration
from scheduler_core.framework.dependence import DependsOn, NodeFacts
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.status import Code, ListedVerdict, Verdict
from scheduler_core.sim.run import RunOptions, simulate
from scheduler_core.sim.scenario import Scenario, Step
from tests.builders import HOSTNAME, container, make_node, make_pod
from tests.effort import examples
from tests.framework.profile import Named, framework
from tests.framework.random_clusters import Manifest, read
from tests.framework.random_clusters import clusters as random_clusters
from tests.without_memo import without_memo

PACKING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 50
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/gpu]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 3}, {name: example.com/gpu, weight: 5}]
        requestedToCapacityRatio:
          shape: [{utilization: 0, score: 10}, {utilization: 100, score: 3}]
  - name: NodeResourcesBalancedAllocation
    args: {resources: [{name: cpu, weight: 1}, {name: example.com/gpu, weight: 1}]}
"""
SSD = NodeSelectorRequirement(key="disk", operator="In", values=("ssd",))
TAINTS = st.builds(
    Taint,
    key=st.sampled_from("ab"),
    value=st.just("x"),
    effect=st.sampled_from(["NoSchedule", "PreferNoSchedule"]),
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    images = draw(st.lists(st.sampled_from(["web", "db"]), unique=True))
    return (
        make_node(name)
        .without_label(HOSTNAME)
        .label("disk", draw(st.sampled_from(["ssd", "hdd"])))
        .cpu(draw(st.sampled_from(["1", "2"])))
        .memory("4Gi")
        .pods(4)
        .cordoned(draw(st.integers(0, 5)) == 0)
        .taints(*draw(st.lists(TAINTS, max_size=2, unique_by=lambda t: t.key)))
        .images({f"{image}:latest": 300_000_000 for image in images})
        .obj()
    )


def _pod(name: str, kind: int, priority: int) -> Pod:
    """One of four kinds of pod, so that many share a template."""
    term = NodeSelectorTerm(match_expressions=(SSD,))
    preferred = NodeAffinity(
        preferred_during_scheduling_ignored_during_execution=(
            PreferredSchedulingTerm(weight=5, preference=term),
        )
    )
    requests = {"cpu": "400m", "memory": "100Mi"}
    return (
        make_pod(name)
        .namespace("shop")
        .containers(container(requests, image=("web", "db")[kind % 2]))
        .priority(priority)
        .tolerations(*([Toleration(key="a", operator="Exists")] if kind % 2 else []))
        .affinity(Affinity(node_affinity=preferred) if kind >= 2 else None)
        .node_selectors({"disk": "ssd"} if kind == 3 else {})
        .obj()
    )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[KubeObject], Scenario]:
    n = draw(st.integers(2, 6))
    kinds = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=3, max_size=24))
    items: list[KubeObject] = [draw(nodes(f"node-{i}")) for i in range(n)]
    items += [_pod(f"pod-{i}", kind, priority) for i, (kind, priority) in enumerate(kinds)]
    actions: st.SearchStrategy[StepChange] = st.one_of(
        st.builds(AddTaint, st.sampled_from(["node-0", "node-1"]), TAINTS),
        st.builds(RemoveTaint, st.just("node-0"), st.sampled_from("ab"), st.just("")),
        st.builds(lambda node: Create((node,)), nodes("node-new")),
    )
    steps = [
        Step(draw(st.integers(0, 12)) * 1_000_000, action)
        for action in draw(st.lists(actions, max_size=3))
    ]
    return items, Scenario(steps=tuple(sorted(steps, key=lambda step: step.at_ns)))


def _trace_hash(objects: Sequence[KubeObject], options: RunOptions) -> str:
    digest = hashlib.sha256()
    for event in simulate(objects, options):
        digest.update(msgspec.msgpack.encode(event))
    return digest.hexdigest()


def _trace_hash_without_memo(objects: Sequence[KubeObject], options: RunOptions) -> str:
    with without_memo():
        return _trace_hash(objects, options)


@examples(60)
@given(clusters())
def test_the_trace_is_the_same_without_cached_answers(
    cluster: tuple[list[KubeObject], Scenario],
) -> None:
    objects, scenario = cluster
    options = RunOptions(scenario=scenario, max_cycles=200)
    assert _trace_hash(objects, options) == _trace_hash_without_memo(objects, options)


def _stamped(cluster: list[Manifest], n: int) -> list[Manifest]:
    """Return the cluster with `n` more of each pending pod, all of one template."""
    copies = []
    for each in cluster:
        if each["kind"] == "Pod" and "nodeName" not in each["spec"]:
            for i in range(n):
                name = f"{each['metadata']['name']}-{i}"
                copies.append(each | {"metadata": each["metadata"] | {"name": name, "uid": name}})
    return [*cluster, *copies]


@examples(60)
@given(random_clusters(), st.sampled_from(["", PACKING]))
def test_so_it_is_where_every_plugin_has_something_to_say(
    cluster: list[Manifest], configuration: str
) -> None:
    objects = read(_stamped(cluster, 3))
    options = RunOptions(max_cycles=100)
    if configuration:
        options = replace(options, configuration=load_configuration(configuration))
    assert _trace_hash(objects, options) == _trace_hash_without_memo(objects, options)


class _Moody(Named):
    """Rejects crowded nodes, in other words at each call: against its declaration."""

    depends_on = DependsOn(per_node=NodeFacts.RESOURCES)
    n_calls = 0

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.n_calls += 1
        return Verdict.reject(nodes.n_pods > 0, Code.UNSCHEDULABLE, f"no, for the {self.n_calls}.")


def test_verdicts_that_change_their_texts_are_not_cached() -> None:
    columns, profile = ClusterColumns(), framework(_Moody("Moody"))
    for name, cpu in (("n1", 4), ("n2", 8)):
        columns.set_node(make_node(name).cpu(cpu).obj())
    first, second = (columns.templates.info(make_pod(name).uid(name).obj()) for name in ("q", "q2"))
    nodes = Nodes(columns, np.arange(2))
    profile.run_filter(CycleState(), first, nodes)  # never cached: there may be no second pod

    def reasons_after_a_pod_came_to(node_name: str) -> list[tuple[str, ...]]:
        columns.add_pod(columns.templates.info(make_pod(f"on-{node_name}").obj()), node_name)
        verdicts = profile.run_filter(CycleState(), second, Nodes(columns, np.arange(2)))
        return [verdicts.status(i).reasons for i in range(2)]

    assert reasons_after_a_pod_came_to("n1") == [("no, for the 2.",), ()]
    assert reasons_after_a_pod_came_to("n2") == [("no, for the 4.",), ("no, for the 4.",)]
    assert reasons_after_a_pod_came_to("n1") == [("no, for the 5.",), ("no, for the 5.",)]


class _Counting(Named):
    """Counts how often it is asked about nodes."""

    depends_on = DependsOn(per_node=NodeFacts.OBJECT)
    n_calls = 0

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.n_calls += 1
        return Verdict.passed(nodes.n)


class _CountingImages(_Counting):
    depends_on = DependsOn(per_node=NodeFacts.OBJECT_AND_IMAGES)


def test_image_counts_clear_what_depends_on_images_and_nothing_else() -> None:
    """As on a dump: a node says on how many nodes an image was until a pod comes to it."""
    columns, of_object, of_images = ClusterColumns(), _Counting("A"), _CountingImages("B")
    profile = framework(of_object, of_images)
    for name in ("n1", "n2"):
        columns.set_node(make_node(name).images({"web:latest": 1}).obj())
        columns.take_snapshot()
    pods = [columns.templates.info(make_pod(name).uid(name).obj()) for name in "abcd"]
    everywhere = Nodes(columns, np.arange(2))
    for pod in pods[:3]:
        profile.run_filter(CycleState(), pod, everywhere)
    assert (of_object.n_calls, of_images.n_calls) == (2, 2)  # the first pod's is not cached
    columns.add_pod(pods[0], "n1")
    profile.run_filter(CycleState(), pods[3], everywhere)
    assert (of_object.n_calls, of_images.n_calls) == (2, 3)


class _Wordy(_Moody):
    """Names each crowded node in its reason, which no cache by resources can hold."""

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.n_calls += 1
        code = np.where(nodes.n_pods > 0, np.int8(Code.UNSCHEDULABLE), np.int8(0))
        lists = tuple((f"{name} is crowded",) for name in nodes.names)
        return ListedVerdict(code, np.arange(nodes.n, dtype=np.uint64), (), lists)


def test_verdicts_that_list_their_reasons_are_not_cached_by_resources() -> None:
    columns, profile = ClusterColumns(), framework(_Wordy("Wordy"))
    for name in ("n1", "n2"):
        columns.set_node(make_node(name).obj())
        columns.add_pod(columns.templates.info(make_pod(f"on-{name}").obj()), name)
    for name in ("q", "q2", "q3"):
        pod = columns.templates.info(make_pod(name).uid(name).obj())
        verdicts = profile.run_filter(CycleState(), pod, Nodes(columns, np.arange(2)))
        reasons = [verdicts.status(i).reasons for i in range(2)]
        assert reasons == [("n1 is crowded",), ("n2 is crowded",)]
