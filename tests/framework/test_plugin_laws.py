"""What holds of all in-tree plugins together, in any cluster (seldom more than a few nodes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.config import load_configuration
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Status, Verdict
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.sim.run import Run
from scheduler_core.trace.events import RunFinished, ScoreColumns
from tests.effort import examples
from tests.generator.draw import Json
from tests.generator.dumps import dumps, manifest, read

SMALL = examples(10)
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = (
    HEAD
    + """\
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 3}, {name: example.com/gpu, weight: 5}]
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 10}
          - {utilization: 60, score: 2}
          - {utilization: 100, score: 9}
  - name: NodeResourcesBalancedAllocation
    args: {resources: [{name: cpu, weight: 1}, {name: example.com/gpu, weight: 1}]}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 100, ignorePreferredTermsOfExistingPods: true}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}
"""
)
CONFIGURATIONS = st.sampled_from(["", HEAD + "percentageOfNodesToScore: 50\n", PACKING])


def options(text: str) -> RunOptions:
    return RunOptions(configuration=load_configuration(text)) if text else RunOptions()


# ---------------------------------------------------------------- what is irrelevant

IRRELEVANT: list[Json] = [
    manifest("Namespace", "far", metadata={"labels": {"app": "web"}}),
    manifest("Service", "web", namespace="far", spec={"selector": {"app": "web"}}),
    manifest("Service", "empty", namespace="default", spec={"selector": {"app": "nobody"}}),
    manifest(
        "ReplicaSet",
        "web",
        "apps/v1",
        namespace="far",
        spec={"selector": {"matchLabels": {"app": "web"}}},
    ),
    manifest(
        "PodDisruptionBudget",
        "a",
        "policy/v1",
        namespace="far",
        spec={"selector": {}, "minAvailable": 9},
        status={"disruptionsAllowed": 0},
    ),
    manifest(
        "StorageClass",
        "unused",
        "storage.k8s.io/v1",
        provisioner="example.com/none",
        volumeBindingMode="WaitForFirstConsumer",
    ),
    manifest(
        "PersistentVolume",
        "unused",
        spec={
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "unused",
            "local": {"path": "/mnt"},
        },
    ),
    manifest(
        "PersistentVolumeClaim",
        "claim1",
        namespace="far",
        spec={
            "storageClassName": "unused",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    ),
    manifest("CSIDriver", "example.com.none", "storage.k8s.io/v1", spec={"attachRequired": True}),
    manifest(
        "CSIStorageCapacity",
        "none",
        "storage.k8s.io/v1",
        namespace="far",
        storageClassName="unused",
        capacity="1Ti",
    ),
    manifest("PriorityClass", "unused", "scheduling.k8s.io/v1", value=1_000_000),
]
"""Objects that no pod of `dumps` has anything to do with, though some bear the same names."""


@SMALL
@given(cluster=dumps(), order=st.permutations(IRRELEVANT), data=st.data())
def test_irrelevant_objects_change_nothing(
    cluster: Sequence[Json], order: Sequence[Json], data: st.DataObject
) -> None:
    alone = list(simulate(read(cluster), RunOptions()))
    mixed = list(cluster)
    for each in order:
        mixed.insert(data.draw(st.integers(0, len(mixed))), each)
    assert list(simulate(read(mixed), RunOptions())) == alone
    assert list(simulate(read([*reversed(order), *cluster]), RunOptions())) == alone


# ---------------------------------------------------------------- scores


@SMALL
@given(cluster=dumps(), configuration=CONFIGURATIONS)
def test_normalized_scores_lie_in_0_to_100(cluster: Sequence[Json], configuration: str) -> None:
    finished = False
    for event in simulate(read(cluster), options(configuration)):
        if isinstance(event, ScoreColumns):
            for plugin in event.plugins:
                normalized = plugin.normalized.array()
                assert ((normalized >= 0) & (normalized <= 100)).all(), plugin.plugin
            weighted = np.sum(
                [each.weight * each.normalized.array() for each in event.plugins], axis=0
            )
            assert event.totals.array().tolist() == weighted.tolist()
        finished |= isinstance(event, RunFinished)
    assert finished


# ---------------------------------------------------------------- single rows


def rows(verdicts: dict[str, Verdict], at: int) -> dict[str, Status]:
    return {plugin: verdict.status(at) for plugin, verdict in verdicts.items()}


def filtered(framework: Framework, cycle: Cycle, nodes: Nodes) -> dict[str, Verdict]:
    return framework.run_filter_individually(cycle.state, cycle.pod, nodes)


def observe(cluster: Sequence[Json], configuration: str, look: Callable[..., Any]) -> None:
    """Look at every cycle of a run that came through PreFilter."""

    def on_decision(cycle: Cycle) -> None:
        if cycle.pre_filter is not None and cycle.pre_filter.status.is_success:
            look(cycle.framework, cycle)

    for _ in Run(read(cluster), options(configuration), on_decision=on_decision).events():
        pass


@SMALL
@given(cluster=dumps(), configuration=CONFIGURATIONS, data=st.data())
def test_a_node_is_filtered_alike_alone_and_among_others(
    cluster: Sequence[Json], configuration: str, data: st.DataObject
) -> None:
    def look(framework: Framework, cycle: Cycle) -> None:
        nodes = cycle.nodes
        together = filtered(framework, cycle, nodes)
        for i in range(nodes.n):
            alone = filtered(framework, cycle, nodes.take(np.array([i])))
            assert rows(alone, 0) == rows(together, i)
        order = data.draw(st.lists(st.integers(0, nodes.n - 1), max_size=6))
        mixed = filtered(framework, cycle, nodes.take(np.array(order, np.int64)))
        for k, i in enumerate(order):
            assert rows(mixed, k) == rows(together, i)

    observe(cluster, configuration, look)


@SMALL
@given(cluster=dumps(), configuration=CONFIGURATIONS, data=st.data())
def test_what_if_concerns_one_node_at_a_time(
    cluster: Sequence[Json], configuration: str, data: st.DataObject
) -> None:
    """In the world of a node only that node is changed, whatever is asked beside it."""

    def look(framework: Framework, cycle: Cycle) -> None:
        nodes = cycle.nodes
        everyone = [pod for i in range(nodes.n) for pod in nodes.pods(i)]
        changes = {}
        for i in range(nodes.n):
            removed = tuple(pod for pod in nodes.pods(i) if data.draw(st.booleans()))
            others = [pod for pod in everyone if pod not in nodes.pods(i)]
            added = (
                data.draw(st.lists(st.sampled_from(others), unique=True, max_size=2))
                if others
                else []
            )
            changes[i] = Change(tuple(added), removed)
        together = filtered(framework, cycle, nodes.what_if(changes))
        for i in range(nodes.n):
            one = nodes.take(np.array([i])).what_if({0: changes[i]})
            assert rows(filtered(framework, cycle, one), 0) == rows(together, i)
        plain = filtered(framework, cycle, nodes)
        untouched = filtered(framework, cycle, nodes.what_if({}))
        assert [rows(untouched, i) for i in range(nodes.n)] == [
            rows(plain, i) for i in range(nodes.n)
        ]

    observe(cluster, configuration, look)
