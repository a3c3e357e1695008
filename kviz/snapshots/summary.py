"""A cluster as a page shows it before any run: its nodes, how full they are, pending pods.

`summarise` reads `scheduler_core.api` objects and nothing else; amounts are cpu in millicores and
bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scheduler_core.api import Node, Pod
from scheduler_core.cluster.requests import integer_resources, pod_requests
from scheduler_core.trace.tables import TERMINAL_PHASES

PLAIN_RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage")
ZONE_LABEL = "topology.kubernetes.io/zone"
DEFAULT_SCHEDULER = "default-scheduler"
MAX_PENDING = 10_000


@dataclass(frozen=True)
class Amount:
    """How much of a resource is requested by pods, and how much there is."""

    name: str
    used: int
    whole: int


@dataclass(frozen=True)
class NodeRow:
    name: str
    zone: str
    cordoned: bool
    ready: bool
    taints: tuple[str, ...]
    n_pods: int
    max_pods: int
    cpu: Amount
    memory: Amount
    extended: tuple[Amount, ...]


@dataclass(frozen=True)
class PendingRow:
    """A pod without a node. `message` is what its own PodScheduled condition says, if any."""

    namespace: str
    name: str
    priority: int
    requests: Mapping[str, int]
    gates: tuple[str, ...]
    foreign_scheduler: str
    nominated_node: str
    message: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def cpu_milli(self) -> int:
        return self.requests.get("cpu", 0)

    @property
    def memory_bytes(self) -> int:
        return self.requests.get("memory", 0)

    @property
    def extended(self) -> list[tuple[str, int]]:
        plain = PLAIN_RESOURCES
        return sorted((n, a) for n, a in self.requests.items() if n not in plain and a > 0)


@dataclass(frozen=True)
class ClusterSummary:
    """`missing_nodes` names nodes that pods claim to run on but that are not in the dump.

    Of `n_pending` pods `pending` are the first `MAX_PENDING`.
    """

    nodes: list[NodeRow]
    pending: list[PendingRow]
    n_pending: int
    n_bound: int
    n_finished: int
    missing_nodes: list[str]


@dataclass
class _Load:
    requested: dict[str, int] = field(default_factory=dict)
    n_pods: int = 0

    def add(self, pod: Pod) -> None:
        self.n_pods += 1
        for name, amount in pod_requests(pod).placed.items():
            self.requested[name] = self.requested.get(name, 0) + amount


def summarise(objects: Iterable[object]) -> ClusterSummary:
    """Sum up what every node carries; pending pods come first by priority, then by name."""
    nodes: list[Node] = []
    pending: list[PendingRow] = []
    loads: dict[str, _Load] = {}
    n_finished = 0
    for item in objects:
        if isinstance(item, Node):
            nodes.append(item)
        elif isinstance(item, Pod):
            if item.status.phase in TERMINAL_PHASES:
                n_finished += 1
            elif item.spec.node_name:
                loads.setdefault(item.spec.node_name, _Load()).add(item)
            else:
                pending.append(_pending_row(item))
    pending.sort(key=lambda row: (-row.priority, row.namespace, row.name))
    known = {node.name for node in nodes}
    return ClusterSummary(
        nodes=[_node_row(node, loads.get(node.name, _Load())) for node in nodes],
        pending=pending[:MAX_PENDING],
        n_pending=len(pending),
        n_bound=sum(load.n_pods for load in loads.values()),
        n_finished=n_finished,
        missing_nodes=sorted(loads.keys() - known),
    )


def _pending_row(pod: Pod) -> PendingRow:
    scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    said = (c.message for c in pod.status.conditions if c.type == "PodScheduled")
    return PendingRow(
        namespace=pod.namespace,
        name=pod.name,
        priority=pod.spec.priority or 0,
        requests=pod_requests(pod).asked,
        gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
        foreign_scheduler="" if scheduler == DEFAULT_SCHEDULER else scheduler,
        nominated_node=pod.status.nominated_node_name,
        message=next(said, ""),
    )


def _node_row(node: Node, load: _Load) -> NodeRow:
    allocatable = integer_resources(node.status.allocatable)

    def amount(name: str) -> Amount:
        return Amount(name, load.requested.get(name, 0), allocatable.get(name, 0))

    extended = (name for name in sorted(allocatable) if name not in PLAIN_RESOURCES)
    return NodeRow(
        name=node.name,
        zone=node.metadata.labels.get(ZONE_LABEL, ""),
        cordoned=node.spec.unschedulable,
        ready=all(c.status == "True" for c in node.status.conditions if c.type == "Ready"),
        taints=tuple(_taint_text(t.key, t.value, t.effect) for t in node.spec.taints),
        n_pods=load.n_pods,
        max_pods=allocatable.get("pods", 0),
        cpu=amount("cpu"),
        memory=amount("memory"),
        extended=tuple(amount(name) for name in extended if allocatable[name] > 0),
    )


def _taint_text(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
