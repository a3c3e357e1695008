"""Pools of nodes: nodes that look alike to the scheduler, but for their names and zones.

Nothing in the API says which nodes belong together. Here a pool is the nodes with the same
labels, taints and resources, without what is a node's own: its name, zone and region, the taints
that conditions put on it, and a cordon. Resources count to two digits, since machines of one type
differ by some megabytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from scheduler_core.amounts import amounts_text
from scheduler_core.api import Node, Taint
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.cluster.node_tree import REGION_LABELS, ZONE_LABELS
from scheduler_core.cluster.requests import integer_resources

POOL_LABELS: Final = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "node-pool",
    "nodepool",
    "pool",
)
"""Labels by which pools are named, the first that a node has; most are put on by clouds."""
INSTANCE_TYPE_LABELS: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
CONDITION_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


@dataclass(frozen=True)
class Pool:
    """Nodes that look alike; `nodes` in order of the cluster, at least one."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones that it has nodes in, in order of these."""
        return tuple(dict.fromkeys(map(zone_of, self.nodes)))

    def example(self, zone: str) -> Node:
        """Return a node of the pool there as a new one would be: not cordoned, in good health."""
        node = next(each for each in self.nodes if zone_of(each) == zone)
        spec = replace(node.spec, unschedulable=False, taints=tuple(_lasting(node)))
        return replace(node, spec=spec)


def pools_of(nodes: Iterable[Node]) -> tuple[Pool, ...]:
    """Group nodes into pools, in order of their first nodes; names are unique."""
    groups: dict[tuple[object, ...], list[Node]] = {}
    for node in nodes:
        groups.setdefault(looks_of(node), []).append(node)
    taken: Counter[str] = Counter()
    pools = []
    for members in groups.values():
        name = _name(members[0])
        taken[name] += 1
        unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
        pools.append(Pool(unique, tuple(members)))
    return tuple(pools)


def zone_of(node: Node) -> str:
    """Return the zone of a node, empty if it names none."""
    return _first(node.metadata.labels, ZONE_LABELS)


def region_of(node: Node) -> str:
    """Return the region of a node, empty if it names none."""
    return _first(node.metadata.labels, REGION_LABELS)


def looks_of(node: Node) -> tuple[object, ...]:
    """Return what nodes of one pool have in common."""
    own = {HOSTNAME, *ZONE_LABELS, *REGION_LABELS}
    labels = {
        key: value
        for key, value in node.metadata.labels.items()
        if key not in own and value != node.name
    }
    allocatable = integer_resources(node.status.allocatable)
    amounts = {name: _two_digits(amount) for name, amount in allocatable.items()}
    return (
        tuple(sorted(labels.items())),
        tuple(sorted((each.key, each.value, each.effect) for each in _lasting(node))),
        tuple(sorted(amounts.items())),
    )


def _lasting(node: Node) -> Iterable[Taint]:
    return (each for each in node.spec.taints if not each.key.startswith(CONDITION_TAINTS))


def _two_digits(amount: int) -> int:
    scale: int = 10 ** max(len(str(amount)) - 2, 0)
    return (amount + scale // 2) // scale * scale


def _name(node: Node) -> str:
    """Return what people call the pool: by its labels, or else by its size."""
    labels = node.metadata.labels
    named = (_first(labels, POOL_LABELS), _first(labels, INSTANCE_TYPE_LABELS))
    if name := "/".join(part for part in named if part):
        return name
    allocatable = integer_resources(node.status.allocatable)
    return amounts_text(allocatable, only=("cpu", "memory")).replace(",", "") or "nodes"


def _first(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    return next((labels[key] for key in keys if key in labels), "")
