from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.cluster.node_tree import NodeTree, zone_key

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""),
        ({ZONE: "", REGION: ""}, ""),
        ({ZONE: "z"}, ":\x00:z"),
        ({REGION: "r"}, "r:\x00:"),
        ({REGION: "r", ZONE: "z"}, "r:\x00:z"),
        ({BETA_REGION: "r", BETA_ZONE: "z"}, "r:\x00:z"),
        ({REGION: "new", BETA_REGION: "r", ZONE: "new", BETA_ZONE: "z"}, "r:\x00:z"),
        ({ZONE: "new", BETA_ZONE: ""}, ""),
    ],
)
def test_zone_key(labels: dict[str, str], key: str) -> None:
    assert zone_key(labels) == key


class NaiveTree:
    """Upstream's node_tree.go told with lists: zones, names by zone, one index per zone."""

    def __init__(self) -> None:
        self.zones: list[str] = []
        self.names: dict[str, list[str]] = {}

    def add(self, name: str, zone: str) -> None:
        if zone not in self.names:
            self.zones.append(zone)
            self.names[zone] = []
        if name not in self.names[zone]:
            self.names[zone].append(name)

    def remove(self, name: str, zone: str) -> None:
        self.names[zone].remove(name)
        if not self.names[zone]:
            del self.names[zone]
            self.zones.remove(zone)

    def order(self) -> list[str]:
        order: list[str] = []
        at = dict.fromkeys(self.zones, 0)
        exhausted: set[str] = set()
        turn = 0
        while len(exhausted) < len(self.zones):
            zone = self.zones[turn % len(self.zones)]
            if at[zone] < len(self.names[zone]):
                order.append(self.names[zone][at[zone]])
                at[zone] += 1
            else:
                exhausted.add(zone)
            turn += 1
        return order


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from("abcdefgh"), st.sampled_from(["", "1", "2", "3"])),
        max_size=60,
    )
)
def test_agrees_with_a_naive_tree(steps: list[tuple[bool, str, str]]) -> None:
    tree, naive = NodeTree(), NaiveTree()
    zone_of: dict[str, str] = {}
    for adds, name, zone in steps:
        if adds:
            tree.add(name, {ZONE: zone} if zone else {})
            if zone_of.get(name) != zone:
                if name in zone_of:
                    naive.remove(name, zone_of[name])
                naive.add(name, zone)
                zone_of[name] = zone
        else:
            tree.remove(name)
            if name in zone_of:
                naive.remove(name, zone_of.pop(name))
        assert tree.order() == naive.order()
