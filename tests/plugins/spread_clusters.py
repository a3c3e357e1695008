"""Nodes in zones, pods labelled foo on them, and a cycle of PodTopologySpread over both."""

from collections.abc import Mapping, Sequence

from scheduler_core.api import (
    Affinity,
    Node,
    Pod,
    Toleration,
    TopologySpreadConstraint,
)
from scheduler_core.config.types import PodTopologySpreadArgs
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import make_node, make_pod
from tests.plugins.harness import World
from tests.plugins.placement import Cycle, selector

FOO = {"foo": ""}
IS_FOO = selector(foo="")
SYSTEM = PodTopologySpreadArgs()


def hosts(zones: str = "1122", names: str = "abxy", **labels: str) -> list[Node]:
    """Return nodes named a, b, x, y by default, the first two in zone1."""
    return [
        make_node(f"node-{name}").zone(f"zone{zone}").labels(labels).obj()
        for name, zone in zip(names, zones, strict=True)
    ]


def foos(spread: str, names: str = "abxy") -> list[Pod]:
    """Return as many pods per node as `spread` says: 2103 is two on node-a, one on node-b, ..."""
    return [
        make_pod(f"p-{name}{i}").on(f"node-{name}").labels(FOO).obj()
        for name, count in zip(names, spread, strict=True)
        for i in range(int(count))
    ]


def cycle(
    world: World,
    *constraints: TopologySpreadConstraint,
    labels: Mapping[str, str] = FOO,
    args: PodTopologySpreadArgs = SYSTEM,
    **spec: Affinity | Mapping[str, str] | Sequence[Toleration],
) -> Cycle:
    incoming = (
        make_pod("p").labels(labels).spec(topology_spread_constraints=constraints, **spec).obj()
    )
    return Cycle(world, PodTopologySpread(args, world), incoming)
