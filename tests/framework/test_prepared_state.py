"""What plugins prepared, told in plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from scheduler_core.framework.prepared_state import PreparedState, plain
from scheduler_core.sim import RunOptions, reenact_cycle
from tests.builders import PodBuilder, make_node, make_pod
from tests.framework.profile import three_nodes

NODES = [
    make_node("a").zone("north").cpu("4").pods(10).obj(),
    make_node("b").zone("north").cpu("4").pods(10).obj(),
    make_node("c").zone("south").cpu("4").pods(10).obj(),
]


def web(name: str) -> PodBuilder:
    return make_pod(name).label("app", "web").cpu("100m")


def described(*pods: PodBuilder, cycle: Any = 1) -> tuple[dict[str, PreparedState], ...]:
    """Of the cycle: what each plugin prepared for Filter, and for Score."""
    found = reenact_cycle([*NODES, *(pod.obj() for pod in pods)], RunOptions(), cycle)
    assert found is not None
    assert msgspec.json.decode(msgspec.json.encode(found.state.pre_filter))
    return tuple(
        {each.plugin: each for each in point}
        for point in (found.state.pre_filter, found.state.pre_score)
    )


def test_requests_are_described_by_resource() -> None:
    pre_filter, pre_score = described(web("w"))
    assert pre_filter["NodeResourcesFit"].value == {"cpu": 100}
    assert pre_score["NodeResourcesFit"].value == {"cpu": 100, "memory": 209715200}


def test_plugins_that_take_no_part_say_so() -> None:
    pre_filter, _ = described(web("w"))
    assert pre_filter["NodePorts"].skipped
    assert pre_filter["NodePorts"].value is None
    assert not pre_filter["NodeResourcesFit"].skipped


def test_spread_counts_the_pods_of_each_domain() -> None:
    pre_filter, _ = described(
        web("there").on("a"),
        web("new").spread("topology.kubernetes.io/zone", 1, app="web"),
    )
    assert pre_filter["PodTopologySpread"].value == {
        "constraints": [
            {
                "topologyKey": "topology.kubernetes.io/zone",
                "maxSkew": 1,
                "minDomains": 1,
                "selfMatchNum": 1,
                "minMatchNum": 0,
                "tpValueToMatchNum": {"north": 1, "south": 0},
            }
        ]
    }


def test_affinity_counts_are_described_by_label_and_value() -> None:
    pre_filter, _ = described(web("there").on("b"), web("new").apart_from("web"))
    assert pre_filter["InterPodAffinity"].value == {
        "existingAntiAffinityCounts": {},
        "affinityCounts": {},
        "antiAffinityCounts": {"kubernetes.io/hostname=b": 1},
    }


def test_wanted_ports_are_described_by_their_fields() -> None:
    pre_filter, _ = described(web("new").host_port(80))
    assert pre_filter["NodePorts"].value == [{"ip": "0.0.0.0", "protocol": "TCP", "port": 80}]


@dataclass(frozen=True)
class Shelf:
    max_books: int
    labels: frozenset[str]
    _secret: str = "hidden"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2.5, 2.5),
        (Shelf(3, frozenset("ba")), {"maxBooks": 3, "labels": ["a", "b"]}),
        ({1: (Shelf(1, frozenset()),)}, {"1": [{"maxBooks": 1, "labels": []}]}),
        (NODES[0], "a"),
        (web("w").obj(), "default/w"),
        (object(), "object"),
    ],
)
def test_any_state_can_be_described(value: Any, expected: Any) -> None:
    assert plain(value, three_nodes().all_nodes()) == expected
