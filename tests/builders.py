"""Fluent builders of nodes and pods for tests (upstream: pkg/scheduler/testing/wrappers.go).

make_pod("web").cpu("500m").priority(10).gate("example.com/quota").obj()
make_node("n1").zone("a").cpu(4).taint("dedicated", "gpu").obj()
"""

from __future__ import annotations

from typing import Self

from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    Container,
    ContainerPort,
    LabelSelector,
    Node,
    NodeCondition,
    NodeStatus,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


class PodBuilder:
    """A pod in the making; every method returns the builder."""

    def __init__(self, name: str) -> None:
        self._metadata = ObjectMeta(name=name, namespace="default")
        self._spec = PodSpec(containers=(Container(name="c", image="registry.example/app:1"),))
        self._status = PodStatus(phase="Pending")

    def obj(self) -> Pod:
        return Pod(metadata=self._metadata, spec=self._spec, status=self._status)

    def _with_spec(self, **fields: object) -> Self:
        self._spec = replace(self._spec, **fields)
        return self

    def _with_metadata(self, **fields: object) -> Self:
        self._metadata = replace(self._metadata, **fields)
        return self

    def namespace(self, name: str) -> Self:
        return self._with_metadata(namespace=name)

    def uid(self, uid: str) -> Self:
        return self._with_metadata(uid=uid)

    def label(self, key: str, value: str) -> Self:
        return self._with_metadata(labels={**self._metadata.labels, key: value})

    def owner(self, kind: str, name: str) -> Self:
        reference = OwnerReference(kind=kind, name=name, uid=name, controller=True)
        return self._with_metadata(owner_references=(reference,))

    def created_ns(self, at_ns: int) -> Self:
        return self._with_metadata(creation_timestamp=at_ns)

    def deleted_at_ns(self, gone_at_ns: int) -> Self:
        return self._with_metadata(deletion_timestamp=gone_at_ns)

    def request(self, resource: str, amount: str | int) -> Self:
        container = self._spec.containers[0]
        known = container.resources.requests if container.resources else {}
        resources = ResourceRequirements(requests={**known, resource: str(amount)})
        return self._with_spec(containers=(replace(container, resources=resources),))

    def cpu(self, amount: str | int) -> Self:
        return self.request("cpu", amount)

    def memory(self, amount: str) -> Self:
        return self.request("memory", amount)

    def host_port(self, port: int) -> Self:
        container = replace(self._spec.containers[0], ports=(ContainerPort(host_port=port),))
        return self._with_spec(containers=(container,))

    def priority(self, priority: int) -> Self:
        return self._with_spec(priority=priority)

    def priority_class(self, name: str) -> Self:
        return self._with_spec(priority_class_name=name)

    def grace_seconds(self, seconds: int) -> Self:
        return self._with_spec(termination_grace_period_seconds=seconds)

    def node_selector(self, key: str, value: str) -> Self:
        return self._with_spec(node_selector={**self._spec.node_selector, key: value})

    def toleration(
        self, key: str, effect: str = "", *, seconds: int | None = None, value: str = ""
    ) -> Self:
        toleration = Toleration(
            key=key,
            operator="Equal" if value else "Exists",
            value=value,
            effect=effect,
            toleration_seconds=seconds,
        )
        return self._with_spec(tolerations=(*self._spec.tolerations, toleration))

    def gate(self, name: str) -> Self:
        gates = (*self._spec.scheduling_gates, PodSchedulingGate(name=name))
        return self._with_spec(scheduling_gates=gates)

    def spread(self, key: str, max_skew: int, *, app: str) -> Self:
        constraint = TopologySpreadConstraint(
            max_skew=max_skew,
            topology_key=key,
            when_unsatisfiable="DoNotSchedule",
            label_selector=LabelSelector(match_labels={"app": app}),
        )
        return self._with_spec(topology_spread_constraints=(constraint,))

    def apart_from(self, app: str, key: str = HOSTNAME) -> Self:
        term = PodAffinityTerm(
            topology_key=key, label_selector=LabelSelector(match_labels={"app": app})
        )
        anti = PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,))
        return self._with_spec(affinity=Affinity(pod_anti_affinity=anti))

    def claim(self, name: str) -> Self:
        source = PersistentVolumeClaimVolumeSource(claim_name=name)
        volume = Volume(name=f"v{len(self._spec.volumes)}", persistent_volume_claim=source)
        return self._with_spec(volumes=(*self._spec.volumes, volume))

    def scheduler(self, name: str) -> Self:
        return self._with_spec(scheduler_name=name)

    def on(self, node_name: str) -> Self:
        """Bind the pod to a node, where it runs."""
        self._status = replace(self._status, phase="Running")
        return self._with_spec(node_name=node_name)

    def phase(self, phase: str) -> Self:
        self._status = replace(self._status, phase=phase)
        return self

    def nominated(self, node_name: str) -> Self:
        self._status = replace(self._status, nominated_node_name=node_name)
        return self


class NodeBuilder:
    """A node in the making, with 4 cpu, 16 GiB and room for 110 pods unless told otherwise."""

    def __init__(self, name: str) -> None:
        self._node = Node(
            metadata=ObjectMeta(name=name, labels={HOSTNAME: name}),
            status=NodeStatus(allocatable={"cpu": "4", "memory": "16Gi", "pods": "110"}),
        )

    def obj(self) -> Node:
        return self._node

    def label(self, key: str, value: str) -> Self:
        metadata = self._node.metadata
        labels = {**metadata.labels, key: value}
        self._node = replace(self._node, metadata=replace(metadata, labels=labels))
        return self

    def zone(self, name: str) -> Self:
        return self.label(ZONE, name)

    def resource(self, name: str, amount: str | int) -> Self:
        status = self._node.status
        allocatable = {**status.allocatable, name: str(amount)}
        self._node = replace(self._node, status=replace(status, allocatable=allocatable))
        return self

    def cpu(self, amount: str | int) -> Self:
        return self.resource("cpu", amount)

    def pods(self, amount: int) -> Self:
        return self.resource("pods", amount)

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        spec = self._node.spec
        taint = Taint(key=key, value=value, effect=effect)
        self._node = replace(self._node, spec=replace(spec, taints=(*spec.taints, taint)))
        return self

    def cordoned(self) -> Self:
        self._node = replace(self._node, spec=replace(self._node.spec, unschedulable=True))
        return self

    def ready(self, status: str) -> Self:
        conditions = (NodeCondition(type="Ready", status=status),)
        self._node = replace(self._node, status=replace(self._node.status, conditions=conditions))
        return self


def make_pod(name: str) -> PodBuilder:
    return PodBuilder(name)


def make_node(name: str) -> NodeBuilder:
    return NodeBuilder(name)
