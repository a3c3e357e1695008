"""What is not cached. That caching changes no decision: tests/generator/test_generated.py."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.status import Code, ListedVerdict, Verdict
from tests.builders import make_node, make_pod
from tests.framework.profile import Named, framework


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
