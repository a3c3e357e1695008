"""The order in which a cycle looks at nodes: zones in turn, one node of each at a time.

Upstream: v1.36 pkg/scheduler/backend/cache/node_tree.go.
"""

from __future__ import annotations

from collections.abc import Mapping

REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


def zone_key(labels: Mapping[str, str]) -> str:
    """Return region and zone of a node as one key, empty if it has neither.

    The beta labels win over the stable ones. Upstream: component-helpers GetZoneKey.
    """
    region = _first(labels, REGION_LABELS)
    zone = _first(labels, ZONE_LABELS)
    return f"{region}:\x00:{zone}" if region or zone else ""


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if key in labels), "")


class NodeTree:
    """Nodes grouped by zone; zones and the nodes inside one keep their order of arrival."""

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}

    def fork(self) -> NodeTree:
        """Return an independent copy."""
        fork = NodeTree()
        fork._zones = {zone: nodes.copy() for zone, nodes in self._zones.items()}
        fork._zone_of = self._zone_of.copy()
        return fork

    def add(self, name: str, labels: Mapping[str, str]) -> None:
        """Add a node, or move it to the end of its zone if the zone has changed."""
        zone = zone_key(labels)
        if self._zone_of.get(name) == zone:
            return
        self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone

    def remove(self, name: str) -> None:
        """Remove a node; a zone left without nodes loses its place."""
        zone = self._zone_of.pop(name, None)
        if zone is None:
            return
        nodes = self._zones[zone]
        del nodes[name]
        if not nodes:
            del self._zones[zone]

    def order(self) -> list[str]:
        """Return all node names, one of each zone in turn."""
        zones = [list(nodes) for nodes in self._zones.values()]
        longest = max(map(len, zones), default=0)
        return [zone[i] for i in range(longest) for zone in zones if i < len(zone)]
