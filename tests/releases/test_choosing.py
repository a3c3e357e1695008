"""Which release is followed where nobody names one, and what is said of it."""

from __future__ import annotations

import pytest

from scheduler_core.api import Node, NodeStatus, NodeSystemInfo, ObjectMeta
from scheduler_core.config import feature_gates
from scheduler_core.releases import LATEST, RELEASES
from scheduler_core.releases.choosing import AUTO, chosen_release, is_known, release_told


def node(name: str, kubelet: str) -> Node:
    info = NodeSystemInfo(kubelet_version=kubelet)
    return Node(metadata=ObjectMeta(name=name), status=NodeStatus(node_info=info))


@pytest.mark.parametrize(
    ("kubelets", "server", "text"),
    [
        (["v1.37.0", "v1.36.2", "v1.37.1"], "", "1.37.2 (nodes say v1.36.2 to v1.37.1)"),
        (["v1.37.1", ""], "v1.36.3", "1.36.3 (the API server says v1.36.3)"),
        (["v1.36.3-gke.100"], "", "1.36.3 (nodes say v1.36.3)"),
        (["v1.9.9", "v1.36.0+k3s1"], "", "1.36.2 (nodes say v1.9.9 to v1.36.0)"),
        (["v1.36.11"], "", "1.36.3 (nodes say v1.36.11)"),
        (
            ["v1.35.4"],
            "",
            "1.36.2 (nodes say v1.35.4, older than all releases that kviz knows)",
        ),
        (
            ["v1.37.2"],
            "v1.38.0-rc.1",
            f"{LATEST.name} (the API server says v1.38.0, newer than all releases that kviz knows)",
        ),
        (["", "hand-made"], "", f"{LATEST.name} (nothing says which; the newest that kviz knows)"),
        ([], "", f"{LATEST.name} (nothing says which; the newest that kviz knows)"),
        (["v1.36.2"], "no version", "1.36.2 (nodes say v1.36.2)"),
    ],
)
def test_what_the_cluster_says_decides(kubelets: list[str], server: str, text: str) -> None:
    nodes = [node(f"n{i}", kubelet) for i, kubelet in enumerate(kubelets)]
    assert chosen_release(AUTO, release_told(nodes, server)).text == text


def test_a_release_that_somebody_names_needs_no_reason() -> None:
    for name, release in RELEASES.items():
        chosen = chosen_release(name, "nodes v1.37.1")
        assert (chosen.release, chosen.text) == (release, name)


def test_what_was_never_asked_is_the_newest() -> None:
    assert chosen_release(AUTO, "").release is LATEST


def test_gates_are_named_with_the_release_and_its_reason() -> None:
    gates = feature_gates({"VolumeLimitScaling": False}, LATEST)
    assert gates.text == "Kubernetes v1.37.2, feature gates VolumeLimitScaling=false"


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("server v1.38.0", False),
        ("nodes v1.35.1", False),
        ("nodes v1.37.9", True),
        ("nothing", True),
        ("", True),
    ],
)
def test_a_minor_release_without_a_table_is_unknown(told: str, known: bool) -> None:
    assert is_known(told) is known
