"""Kept answers change nothing: the same trace, byte by byte, as with every plugin asked anew."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api import (
    Affinity,
    Container,
    ContainerImage,
    KubeObject,
    Node,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
    ResourceRequirements,
    Taint,
    Toleration,
)
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.plugins.node_affinity import NodeAffinity as NodeAffinityPlugin
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.sim.run import RunOptions, simulate
from scheduler_core.sim.scenario import Action, AddTaint, Create, RemoveTaint, Scenario, Step

NODE_ONLY = (
    ImageLocality,
    NodeAffinityPlugin,
    NodeDeclaredFeatures,
    NodeUnschedulable,
    TaintToleration,
)
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
    capacity = {"cpu": draw(st.sampled_from(["1", "2"])), "memory": "4Gi", "pods": "4"}
    return Node(
        metadata=ObjectMeta(name=name, labels={"disk": draw(st.sampled_from(["ssd", "hdd"]))}),
        spec=NodeSpec(
            unschedulable=draw(st.integers(0, 5)) == 0,
            taints=tuple(draw(st.lists(TAINTS, max_size=2, unique_by=lambda t: t.key))),
        ),
        status=NodeStatus(
            allocatable=capacity,
            images=tuple(
                ContainerImage(names=(f"{i}:latest",), size_bytes=300_000_000) for i in images
            ),
        ),
    )


def _pod(name: str, kind: int, priority: int) -> Pod:
    """One of four kinds of pod, so that many share a template."""
    term = NodeSelectorTerm(match_expressions=(SSD,))
    preferred = NodeAffinity(
        preferred_during_scheduling_ignored_during_execution=(
            PreferredSchedulingTerm(weight=5, preference=term),
        )
    )
    requests = ResourceRequirements(requests={"cpu": "400m", "memory": "100Mi"})
    return Pod(
        metadata=ObjectMeta(name=name, namespace="shop"),
        spec=PodSpec(
            containers=(Container(name="main", image=("web", "db")[kind % 2], resources=requests),),
            priority=priority,
            tolerations=(Toleration(key="a", operator="Exists"),) if kind % 2 else (),
            affinity=Affinity(node_affinity=preferred) if kind >= 2 else None,
            node_selector={"disk": "ssd"} if kind == 3 else {},
        ),
    )


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[KubeObject], Scenario]:
    n = draw(st.integers(2, 6))
    kinds = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=3, max_size=24))
    items: list[KubeObject] = [draw(nodes(f"node-{i}")) for i in range(n)]
    items += [_pod(f"pod-{i}", kind, priority) for i, (kind, priority) in enumerate(kinds)]
    actions: st.SearchStrategy[Action] = st.one_of(
        st.builds(AddTaint, st.sampled_from(["node-0", "node-1"]), TAINTS),
        st.builds(RemoveTaint, st.just("node-0"), st.sampled_from("ab"), st.just("")),
        st.builds(lambda node: Create((node,)), nodes("node-new")),
    )
    steps = [
        Step(draw(st.integers(0, 12)) * 1_000_000, action)
        for action in draw(st.lists(actions, max_size=3))
    ]
    return items, Scenario(steps=tuple(sorted(steps, key=lambda step: step.at_ns)))


def _trace_hash(objects: Sequence[KubeObject], scenario: Scenario) -> str:
    digest = hashlib.sha256()
    for event in simulate(objects, RunOptions(scenario=scenario, max_cycles=200)):
        digest.update(msgspec.msgpack.encode(event))
    return digest.hexdigest()


@settings(max_examples=60, deadline=None)
@given(clusters())
def test_the_trace_is_the_same_without_kept_answers(
    cluster: tuple[list[KubeObject], Scenario],
) -> None:
    kept = _trace_hash(*cluster)
    with pytest.MonkeyPatch.context() as patch:
        for plugin in NODE_ONLY:
            patch.setattr(plugin, "node_only", False)
        assert _trace_hash(*cluster) == kept
