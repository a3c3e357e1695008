"""Fluent builders of nodes and pods for tests (upstream: pkg/scheduler/testing/wrappers.go).

make_pod("web").cpu("500m").priority(10).gate("example.com/quota").obj()
make_node("n1").zone("a").cpu(4).taint("dedicated", "gpu").obj()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    Container,
    ContainerImage,
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
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.releases import UNNAMED

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


class PodBuilder:
    """A pod in the making; every method returns the builder.

    Its uid is `namespace/name` unless given.
    """

    def __init__(self, name: str) -> None:
        self._metadata = ObjectMeta(name=name, namespace="default")
        self._uid: str | None = None
        self._spec = PodSpec(containers=(Container(name="c", image="registry.example/app:1"),))
        self._status = PodStatus(phase="Pending")

    def obj(self) -> Pod:
        uid = (
            f"{self._metadata.namespace}/{self._metadata.name}" if self._uid is None else self._uid
        )
        metadata = replace(self._metadata, uid=uid)
        return Pod(metadata=metadata, spec=self._spec, status=self._status)

    def spec(self, **fields: object) -> Self:
        """Set fields of the spec by name: those that have no method of their own."""
        self._spec = replace(self._spec, **fields)
        return self

    def _with_metadata(self, **fields: object) -> Self:
        self._metadata = replace(self._metadata, **fields)
        return self

    def namespace(self, name: str) -> Self:
        return self._with_metadata(namespace=name)

    def uid(self, uid: str) -> Self:
        """Set the uid; a pod without one ("") is as it is sent to the API server."""
        self._uid = uid
        return self

    def label(self, key: str, value: str) -> Self:
        return self._with_metadata(labels={**self._metadata.labels, key: value})

    def labels(self, labels: Mapping[str, str]) -> Self:
        return self._with_metadata(labels={**self._metadata.labels, **labels})

    def owner(self, kind: str, name: str) -> Self:
        reference = OwnerReference(kind=kind, name=name, uid=name, controller=True)
        return self.owned_by(reference)

    def owned_by(self, *references: OwnerReference) -> Self:
        return self._with_metadata(owner_references=references)

    def created_ns(self, at_ns: int) -> Self:
        return self._with_metadata(creation_timestamp=at_ns)

    def deleted_at_ns(self, gone_at_ns: int) -> Self:
        return self._with_metadata(deletion_timestamp=gone_at_ns)

    def request(self, resource: str, amount: str | int) -> Self:
        container = self._spec.containers[0]
        known = container.resources.requests if container.resources else {}
        resources = ResourceRequirements(requests={**known, resource: str(amount)})
        return self.spec(containers=(replace(container, resources=resources),))

    def requests(self, amounts: Mapping[str, str]) -> Self:
        for resource, amount in amounts.items():
            self.request(resource, amount)
        return self

    def cpu(self, amount: str | int) -> Self:
        return self.request("cpu", amount)

    def memory(self, amount: str | int) -> Self:
        return self.request("memory", amount)

    def host_port(self, port: int) -> Self:
        return self.ports(ContainerPort(host_port=port))

    def ports(self, *ports: ContainerPort) -> Self:
        return self.containers(replace(self._spec.containers[0], ports=ports))

    def containers(self, *containers: Container) -> Self:
        return self.spec(containers=containers)

    def init_containers(self, *containers: Container) -> Self:
        return self.spec(init_containers=containers)

    def priority(self, priority: int | None) -> Self:
        return self.spec(priority=priority)

    def priority_class(self, name: str) -> Self:
        return self.spec(priority_class_name=name)

    def preemption_policy(self, policy: str) -> Self:
        return self.spec(preemption_policy=policy)

    def grace_seconds(self, seconds: int) -> Self:
        return self.spec(termination_grace_period_seconds=seconds)

    def node_selector(self, key: str, value: str) -> Self:
        return self.spec(node_selector={**self._spec.node_selector, key: value})

    def affinity(self, affinity: Affinity | None) -> Self:
        return self.spec(affinity=affinity)

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
        return self.tolerations(toleration)

    def tolerations(self, *tolerations: Toleration) -> Self:
        return self.spec(tolerations=(*self._spec.tolerations, *tolerations))

    def gate(self, name: str) -> Self:
        gates = (*self._spec.scheduling_gates, PodSchedulingGate(name=name))
        return self.spec(scheduling_gates=gates)

    def gates(self, *names: str) -> Self:
        return self.spec(scheduling_gates=tuple(PodSchedulingGate(name=name) for name in names))

    def spread(self, key: str, max_skew: int, *, app: str) -> Self:
        constraint = TopologySpreadConstraint(
            max_skew=max_skew,
            topology_key=key,
            when_unsatisfiable="DoNotSchedule",
            label_selector=LabelSelector(match_labels={"app": app}),
        )
        return self.spec(topology_spread_constraints=(constraint,))

    def apart_from(self, app: str, key: str = HOSTNAME) -> Self:
        term = PodAffinityTerm(
            topology_key=key, label_selector=LabelSelector(match_labels={"app": app})
        )
        anti = PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,))
        return self.spec(affinity=Affinity(pod_anti_affinity=anti))

    def claim(self, name: str) -> Self:
        source = PersistentVolumeClaimVolumeSource(claim_name=name)
        volume = Volume(name=f"v{len(self._spec.volumes)}", persistent_volume_claim=source)
        return self.volumes(volume)

    def volumes(self, *volumes: Volume) -> Self:
        return self.spec(volumes=(*self._spec.volumes, *volumes))

    def scheduler(self, name: str) -> Self:
        return self.spec(scheduler_name=name)

    def on(self, node_name: str) -> Self:
        """Bind the pod to a node, where it runs; without a name it stays pending."""
        self._status = replace(self._status, phase="Running" if node_name else "Pending")
        return self.spec(node_name=node_name)

    def status(self, status: PodStatus) -> Self:
        self._status = status
        return self

    def started_ns(self, at_ns: int) -> Self:
        self._status = replace(self._status, start_time=at_ns)
        return self

    def phase(self, phase: str) -> Self:
        self._status = replace(self._status, phase=phase)
        return self

    def nominated(self, node_name: str) -> Self:
        self._status = replace(self._status, nominated_node_name=node_name)
        return self


class NodeBuilder:
    """A node in the making, with 4 cpu, 16 GiB and room for 110 pods unless given others."""

    def __init__(self, name: str) -> None:
        self._node = Node(
            metadata=ObjectMeta(name=name, labels={HOSTNAME: name}),
            status=NodeStatus(allocatable={"cpu": "4", "memory": "16Gi", "pods": "110"}),
        )

    def obj(self) -> Node:
        return self._node

    def _with_metadata(self, **fields: object) -> Self:
        self._node = replace(self._node, metadata=replace(self._node.metadata, **fields))
        return self

    def _with_spec(self, **fields: object) -> Self:
        self._node = replace(self._node, spec=replace(self._node.spec, **fields))
        return self

    def _with_status(self, **fields: object) -> Self:
        self._node = replace(self._node, status=replace(self._node.status, **fields))
        return self

    def label(self, key: str, value: str) -> Self:
        return self.labels({key: value})

    def labels(self, labels: Mapping[str, str]) -> Self:
        return self._with_metadata(labels={**self._node.metadata.labels, **labels})

    def without_label(self, key: str) -> Self:
        labels = {k: v for k, v in self._node.metadata.labels.items() if k != key}
        return self._with_metadata(labels=labels)

    def annotations(self, annotations: Mapping[str, str]) -> Self:
        return self._with_metadata(annotations=dict(annotations))

    def uid(self, uid: str) -> Self:
        return self._with_metadata(uid=uid)

    def zone(self, name: str) -> Self:
        return self.label(ZONE, name)

    def resource(self, name: str, amount: str | int) -> Self:
        return self.allocatable({**self._node.status.allocatable, name: str(amount)})

    def resources(self, amounts: Mapping[str, str]) -> Self:
        return self.allocatable({**self._node.status.allocatable, **amounts})

    def allocatable(self, amounts: Mapping[str, str]) -> Self:
        """Set what the node has instead of the default, not besides it."""
        return self._with_status(allocatable=dict(amounts))

    def cpu(self, amount: str | int) -> Self:
        return self.resource("cpu", amount)

    def memory(self, amount: str | int) -> Self:
        return self.resource("memory", amount)

    def pods(self, amount: str | int) -> Self:
        return self.resource("pods", amount)

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        return self.taints(Taint(key=key, value=value, effect=effect))

    def taints(self, *taints: Taint) -> Self:
        return self._with_spec(taints=(*self._node.spec.taints, *taints))

    def cordoned(self, unschedulable: bool = True) -> Self:
        return self._with_spec(unschedulable=unschedulable)

    def images(self, size_bytes: Mapping[str, int]) -> Self:
        """Set the images on the node: their sizes by name."""
        images = (ContainerImage(names=(name,), size_bytes=n) for name, n in size_bytes.items())
        return self._with_status(images=tuple(images))

    def features(self, *names: str) -> Self:
        return self._with_status(declared_features=names)

    def ready(self, status: str) -> Self:
        return self.conditions(NodeCondition(type="Ready", status=status))

    def conditions(self, *conditions: NodeCondition) -> Self:
        return self._with_status(conditions=conditions)


def make_pod(name: str) -> PodBuilder:
    return PodBuilder(name)


def make_node(name: str) -> NodeBuilder:
    return NodeBuilder(name)


def container(
    requests: Mapping[str, str] | None = None,
    *,
    image: str = "app",
    ports: Sequence[ContainerPort] = (),
    sidecar: bool = False,
) -> Container:
    """Return a container for pods whose containers differ."""
    return Container(
        image=image,
        resources=ResourceRequirements(requests=dict(requests or {})),
        ports=tuple(ports),
        restart_policy="Always" if sidecar else "",
    )


def budget(
    app: str,
    *,
    allowed: int | None = None,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
) -> PodDisruptionBudget:
    """A budget of the pods labelled `app`; without `allowed` no controller has seen it."""
    status = PodDisruptionBudgetStatus(expected_pods=2, disruptions_allowed=allowed or 0)
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=app, namespace="default"),
        spec=PodDisruptionBudgetSpec(
            selector=LabelSelector(match_labels={"app": app}),
            min_available=min_available,
            max_unavailable=max_unavailable,
        ),
        status=PodDisruptionBudgetStatus() if allowed is None else status,
    )


def gates_off(*names: str) -> FeatureGates:
    """Gates with some switched off, and with them what cannot be on without one of them."""
    off = set(names)
    off |= {name for name, spec in UNNAMED.gates.items() if spec.default and off & {*spec.requires}}
    return feature_gates(dict.fromkeys(off, False))
