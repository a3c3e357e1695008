"""The workloads: a cluster, and pods that wait for the scheduler when it starts.

Modelled on scheduler_perf, the benchmark of Kubernetes. All nodes are alike but for their zone,
and so are all pods of one kind but for their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import (
    Affinity,
    Container,
    CSIDriver,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    KubeObject,
    LabelSelector,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeStatus,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimVolumeSource,
    PersistentVolumeSpec,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    TopologySpreadConstraint,
    Volume,
    VolumeNodeAffinity,
    VolumeNodeResources,
    VolumeResourceRequirements,
    WeightedPodAffinityTerm,
)

RELEASE: Final = "1.36.2"
"""Whose scheduler is measured, so that measurements of different days compare."""
ZONES: Final = ("a", "b", "c")
ZONE: Final = "topology.kubernetes.io/zone"
HOSTNAME: Final = "kubernetes.io/hostname"
NAMESPACE: Final = "bench"
CSI_DRIVER: Final = "ebs.csi.aws.com"
STARTED_NS: Final = 1_767_225_600_000_000_000
SMALL: Final = {"cpu": "100m", "memory": "500Mi"}
UNSCHEDULABLE_EACH: Final = 10
"""In *unschedulable*, one pod of so many asks for more than any node has."""

PREEMPTOR_EACH: Final = 10
"""In *contested*, one pod of so many preempts."""


@dataclass(frozen=True, slots=True)
class Workload:
    """How to make a workload, and how large it is unless said otherwise."""

    make: Callable[[int, int], Iterator[KubeObject]]
    """`(n_nodes, n_pods)` -> objects in creation order."""
    n_nodes: int
    n_pods: int
    about: str


def make_node(i: int) -> Node:
    name = f"node-{i:05d}"
    labels = {HOSTNAME: name, ZONE: ZONES[i % len(ZONES)]}
    allocatable = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        status=NodeStatus(capacity=allocatable, allocatable=allocatable),
    )


def make_pod(
    name: str,
    *,
    app: str = "app",
    requests: Mapping[str, str] = SMALL,
    priority: int = 0,
    node_name: str = "",
    affinity: Affinity | None = None,
    spread: Sequence[TopologySpreadConstraint] = (),
    volumes: Sequence[Volume] = (),
) -> Pod:
    container = Container(
        name="main", image="pause", resources=ResourceRequirements(requests=dict(requests))
    )
    return Pod(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, labels={"app": app}),
        spec=PodSpec(
            containers=(container,),
            priority=priority,
            node_name=node_name,
            affinity=affinity,
            topology_spread_constraints=tuple(spread),
            volumes=tuple(volumes),
            scheduler_name="default-scheduler",
        ),
        status=PodStatus(
            phase="Running" if node_name else "Pending",
            start_time=STARTED_NS if node_name else None,
        ),
    )


# ---------------------------------------------------------------- kinds of pods

PodKind = Callable[[str], Pod]
"""A pod of that name."""


def _selecting(app: str) -> LabelSelector:
    return LabelSelector(match_labels={"app": app})


def _spread_pod(when_unsatisfiable: str) -> PodKind:
    constraint = TopologySpreadConstraint(
        max_skew=5,
        topology_key=ZONE,
        when_unsatisfiable=when_unsatisfiable,
        label_selector=_selecting("spread"),
    )
    return lambda name: make_pod(name, app="spread", spread=[constraint])


def _near_pod(affinity: Affinity, app: str) -> PodKind:
    return lambda name: make_pod(name, app=app, affinity=affinity)


def _term(app: str, topology_key: str) -> PodAffinityTerm:
    return PodAffinityTerm(label_selector=_selecting(app), topology_key=topology_key)


def _weighted(app: str, topology_key: str) -> WeightedPodAffinityTerm:
    return WeightedPodAffinityTerm(weight=10, pod_affinity_term=_term(app, topology_key))


def _in_zones(*zones: str) -> NodeSelector:
    requirement = NodeSelectorRequirement(key=ZONE, operator="In", values=zones)
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement,)),))


KINDS: Final[Mapping[str, PodKind]] = {
    "basic": make_pod,
    "spread": _spread_pod("DoNotSchedule"),
    "preferredspread": _spread_pod("ScheduleAnyway"),
    "nodeaffinity": _near_pod(
        Affinity(
            node_affinity=NodeAffinity(
                required_during_scheduling_ignored_during_execution=_in_zones("a", "b")
            )
        ),
        "nodeaffinity",
    ),
    "podaffinity": _near_pod(
        Affinity(
            pod_affinity=PodAffinity(
                required_during_scheduling_ignored_during_execution=(_term("podaffinity", ZONE),)
            )
        ),
        "podaffinity",
    ),
    "preferredpodaffinity": _near_pod(
        Affinity(
            pod_affinity=PodAffinity(
                preferred_during_scheduling_ignored_during_execution=(
                    _weighted("preferredpodaffinity", HOSTNAME),
                )
            )
        ),
        "preferredpodaffinity",
    ),
    "antiaffinity": _near_pod(
        Affinity(
            pod_anti_affinity=PodAntiAffinity(
                required_during_scheduling_ignored_during_execution=(
                    _term("antiaffinity", HOSTNAME),
                )
            )
        ),
        "antiaffinity",
    ),
    "preferredantiaffinity": _near_pod(
        Affinity(
            pod_anti_affinity=PodAntiAffinity(
                preferred_during_scheduling_ignored_during_execution=(
                    _weighted("preferredantiaffinity", HOSTNAME),
                )
            )
        ),
        "preferredantiaffinity",
    ),
    "unschedulable": lambda name: make_pod(name, app="large", requests={"cpu": "9"}),
}


# ---------------------------------------------------------------- whole workloads


def _nodes(n: int) -> Iterator[Node]:
    return map(make_node, range(n))


def _of_kinds(*kinds: str) -> Callable[[int, int], Iterator[KubeObject]]:
    """Return a workload of empty nodes and pods of the given kinds in turn."""

    def make(n_nodes: int, n_pods: int) -> Iterator[KubeObject]:
        yield from _nodes(n_nodes)
        for i in range(n_pods):
            yield KINDS[kinds[i % len(kinds)]](f"pod-{i:05d}")

    return make


def _crowded(cpu: str) -> Callable[[int, int], Iterator[KubeObject]]:
    """Return a workload of nodes that are all but full, and pods of higher priority."""

    def make(n_nodes: int, n_pods: int) -> Iterator[KubeObject]:
        yield from _nodes(n_nodes)
        for i in range(n_nodes):
            for k in range(4):
                requests = {"cpu": "900m", "memory": "500Mi"}
                yield make_pod(f"low-{i:05d}-{k}", requests=requests, node_name=f"node-{i:05d}")
        for i in range(n_pods):
            yield make_pod(f"high-{i:05d}", requests={"cpu": cpu, "memory": "500Mi"}, priority=10)

    return make


def _contested(n_nodes: int, n_pods: int) -> Iterator[KubeObject]:
    """Full nodes, preemptors, and pods that fit while those wait for their victims to go."""
    n_preemptors = n_pods // PREEMPTOR_EACH
    yield from _crowded("3000m")(n_nodes, n_preemptors)
    for i in range(n_pods - n_preemptors):
        yield make_pod(f"pod-{i:05d}")


def _volumes(n_nodes: int, n_pods: int) -> Iterator[KubeObject]:
    """Every pod has its own volume, which is bound already and in one zone."""
    yield CSIDriver(metadata=ObjectMeta(name=CSI_DRIVER))
    limit = CSINodeDriver(
        name=CSI_DRIVER, node_id="node", allocatable=VolumeNodeResources(count=39)
    )
    for node in _nodes(n_nodes):
        yield node
        yield CSINode(metadata=ObjectMeta(name=node.name), spec=CSINodeSpec(drivers=(limit,)))
    for i in range(n_pods):
        yield from _volume(i)
        claim = PersistentVolumeClaimVolumeSource(claim_name=f"claim-{i:05d}")
        volume = Volume(name="data", persistent_volume_claim=claim)
        yield make_pod(f"pod-{i:05d}", app="volumes", volumes=[volume])


def _volume(i: int) -> Iterator[KubeObject]:
    claim, volume = f"claim-{i:05d}", f"volume-{i:05d}"
    yield PersistentVolume(
        metadata=ObjectMeta(name=volume),
        spec=PersistentVolumeSpec(
            capacity={"storage": "1Gi"},
            access_modes=("ReadWriteOnce",),
            csi=CSIPersistentVolumeSource(driver=CSI_DRIVER, volume_handle=volume),
            claim_ref=ObjectReference(
                kind="PersistentVolumeClaim",
                namespace=NAMESPACE,
                name=claim,
                uid=f"{NAMESPACE}/{claim}",
            ),
            node_affinity=VolumeNodeAffinity(required=_in_zones(ZONES[i % len(ZONES)])),
        ),
    )
    yield PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=claim,
            namespace=NAMESPACE,
            uid=f"{NAMESPACE}/{claim}",
            annotations={"pv.kubernetes.io/bind-completed": "yes"},
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            volume_name=volume,
            storage_class_name="",
            resources=VolumeResourceRequirements(requests={"storage": "1Gi"}),
        ),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )


WORKLOADS: Final[Mapping[str, Workload]] = {
    "basic": Workload(_of_kinds("basic"), 5000, 5000, "plain pods"),
    "spread": Workload(_of_kinds("spread"), 5000, 2000, "zones at most 5 pods apart"),
    "preferredspread": Workload(_of_kinds("preferredspread"), 5000, 2000, "the same, preferred"),
    "nodeaffinity": Workload(_of_kinds("nodeaffinity"), 5000, 5000, "nodes of two zones only"),
    "podaffinity": Workload(_of_kinds("podaffinity"), 5000, 2000, "all pods in one zone"),
    "preferredpodaffinity": Workload(
        _of_kinds("preferredpodaffinity"), 5000, 2000, "pods on one node, preferred"
    ),
    "antiaffinity": Workload(_of_kinds("antiaffinity"), 5000, 2000, "one pod per node"),
    "preferredantiaffinity": Workload(
        _of_kinds("preferredantiaffinity"), 5000, 2000, "one pod per node, preferred"
    ),
    "preemption": Workload(_crowded("3000m"), 500, 400, "full nodes, pods of higher priority"),
    "crowded": Workload(_crowded("100m"), 500, 400, "the same nodes, pods that still fit"),
    "contested": Workload(
        _contested, 5000, 1000, f"the same nodes, one pod in {PREEMPTOR_EACH} preempts"
    ),
    "unschedulable": Workload(
        _of_kinds("unschedulable", *["basic"] * (UNSCHEDULABLE_EACH - 1)),
        5000,
        5000,
        f"one pod in {UNSCHEDULABLE_EACH} fits nowhere",
    ),
    "volumes": Workload(_volumes, 5000, 2000, "a bound volume for every pod"),
    "mixed": Workload(_of_kinds(*KINDS), 5000, 2000, "pods of all kinds in turn"),
}
