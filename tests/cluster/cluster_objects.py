"""Nodes and pods for tests of the cluster package, short to write."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.api import (
    Container,
    ContainerImage,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Taint,
)

ZONE = "topology.kubernetes.io/zone"


def node(
    name: str,
    *,
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    allocatable: Mapping[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    images: tuple[ContainerImage, ...] = (),
    features: tuple[str, ...] = (),
    unschedulable: bool = False,
) -> Node:
    all_labels = dict(labels or {}) | ({ZONE: zone} if zone else {})
    return Node(
        metadata=ObjectMeta(name=name, labels=all_labels),
        spec=NodeSpec(taints=taints, unschedulable=unschedulable),
        status=NodeStatus(
            allocatable=dict(allocatable or {}), images=images, declared_features=features
        ),
    )


def pod(
    name: str,
    *,
    node_name: str = "",
    cpu: str = "",
    memory: str = "",
    labels: Mapping[str, str] | None = None,
    uid: str = "",
    deleted_at: int | None = None,
    phase: str = "",
) -> Pod:
    requests = {"cpu": cpu} if cpu else {}
    if memory:
        requests["memory"] = memory
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=uid or f"default/{name}",
            labels=dict(labels or {}),
            deletion_timestamp=deleted_at,
        ),
        spec=PodSpec(
            containers=(Container(name="c", resources=ResourceRequirements(requests=requests)),),
            node_name=node_name,
        ),
        status=PodStatus(phase=phase),
    )
