"""Nodes that could be added: one more of a pool that is there, or of a shape typed in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from fractions import Fraction
from itertools import count

from msgspec.structs import replace

from scheduler_core.analysis.advice.daemons import daemons_of, running_on, runs_on
from scheduler_core.analysis.advice.pools import pools_of, zone_of
from scheduler_core.api import CSINode, KubeObject, Node, Pod
from scheduler_core.changes.node_changes import copies_of, moved_to
from scheduler_core.cluster.node_tree import ZONE_LABELS
from scheduler_core.cluster.requests import integer_resources, pod_requests


@dataclass(frozen=True)
class Terms:
    """The price of a node, in any unit, and how many can be added; None: not given."""

    price: Fraction | None = None
    at_most: int | None = None


@dataclass(frozen=True)
class Offer:
    """A node that can be added, with what comes with it: pods of DaemonSets, limits of volumes."""

    name: str
    node: Node
    csi_node: CSINode | None
    daemons: tuple[Pod, ...]
    terms: Terms = Terms()

    @property
    def room(self) -> Mapping[str, int]:
        """What DaemonSets leave for others, by resource; cpu in milli."""
        room = integer_resources(self.node.status.allocatable)
        for pod in self.daemons:
            for name, amount in {**pod_requests(pod).placed, "pods": 1}.items():
                room[name] = room.get(name, 0) - amount
        return room

    def items(self, n: int) -> Iterator[KubeObject]:
        """Yield `n` such nodes and what comes with them, under names of their own."""
        for item in copies_of(self.node, self.csi_node, n, ()):
            yield item
            if isinstance(item, Node):
                yield from (running_on(pod, item.name) for pod in self.daemons)


def offers_of(
    objects: Sequence[KubeObject],
    shapes: Iterable[tuple[Node, Terms]] = (),
    terms: Mapping[str, Terms] | None = None,
) -> tuple[Offer, ...]:
    """Return one offer per pool and zone that has nodes, then one per shape.

    `terms` are those of pools, by their names. A new node of a pool is like one that is there, not
    cordoned and in good health.
    """
    nodes = [item for item in objects if isinstance(item, Node)]
    csi_nodes = {item.name: item for item in objects if isinstance(item, CSINode)}
    daemons = daemons_of(objects)
    found = []
    for pool in pools_of(nodes):
        for zone in pool.zones:
            node = pool.example(zone)
            name = f"{pool.name}/{zone}" if zone and len(pool.zones) > 1 else pool.name
            at = (terms or {}).get(pool.name, Terms())
            found.append(_offer(name, node, csi_nodes.get(node.name), daemons, at))
    found += [_offer(node.name, node, None, daemons, at) for node, at in shapes]
    return tuple(found)


def in_new_zone(offers: Sequence[Offer], zones: Collection[str]) -> tuple[Offer, ...]:
    """Return one more offer for each pool with a zone: a node in a zone that none of `zones` is."""
    word = next(each for each in _words() if each not in zones)
    found: dict[str, Offer] = {}
    for offer in offers:
        zone = zone_of(offer.node)
        pool = offer.name.removesuffix(f"/{zone}")
        if zone and pool not in found:
            node = moved_to(
                offer.node, f"{offer.node.name}-{word}", dict.fromkeys(ZONE_LABELS, word)
            )
            csi_node = offer.csi_node
            if csi_node is not None:
                csi_node = replace(csi_node, metadata=replace(csi_node.metadata, name=node.name))
            found[pool] = replaced(offer, name=f"{pool}/{word}", node=node, csi_node=csi_node)
    return tuple(found.values())


def _words() -> Iterator[str]:
    return ("new-zone" if n == 1 else f"new-zone-{n}" for n in count(1))


def _offer(
    name: str, node: Node, csi_node: CSINode | None, daemons: Iterable[Pod], terms: Terms
) -> Offer:
    return Offer(name, node, csi_node, tuple(p for p in daemons if runs_on(p, node)), terms)
