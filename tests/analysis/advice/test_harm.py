"""Whom a change harms: the advice that is never first has its warning."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from scheduler_core.analysis.advice.harm import harm_of, warnings_of, warnings_of_place
from scheduler_core.api import Pod
from scheduler_core.changes import read_line
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.vocabulary import SetField, Target
from tests.builders import make_node, make_pod

TOLERATIONS = "spec.tolerations[+]"
GPU = '{"key":"example.com/gpu","operator":"Exists"}'
PINNED = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"


@pytest.fixture(scope="module")
def cluster() -> RestingCluster:
    daemon = make_pod("agent").namespace("shop").owner("DaemonSet", "agent").obj()
    node = make_node("n").zone("a").resource("example.com/gpu", 1).obj()
    web = make_pod("web").namespace("shop").obj()
    model = make_pod("model").namespace("shop").request("example.com/gpu", 1).obj()
    win = make_node("win").label("kubernetes.io/os", "windows").obj()
    return RestingCluster([node, win, web, model, daemon])


@pytest.mark.parametrize(
    ("toleration", "is_risk"),
    [
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, False),
        ({"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}, True),
        ({"key": "node.kubernetes.io/disk-pressure", "operator": "Exists"}, True),
        ({"key": "node.cloudprovider.kubernetes.io/uninitialized", "operator": "Exists"}, True),
        ({"key": "karpenter.sh/disrupted", "operator": "Exists"}, True),
        ({"key": "node.cilium.io/agent-not-ready", "value": "true"}, True),
        ({"key": "ebs.csi.aws.com/agent-not-ready", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
    ],
)
def test_tolerating_what_marks_a_node_for_a_while_is_a_risk(
    toleration: Mapping[str, str], is_risk: bool, cluster: RestingCluster
) -> None:
    change = SetField(Target(Pod, "shop", "web"), "spec.tolerations[+]", dict(toleration))
    warnings = warnings_of((change,), cluster)
    assert (harm_of(warnings, ()) == "risk") is is_risk


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("node/n uncordon", "node/n untaint node.kubernetes.io/unschedulable"), ""),
        (("node/n untaint node.kubernetes.io/unreachable",), "wait until it is taken off"),
        (("node/n untaint gpu",), "pods of others may be placed on n"),
        (("node/n untaint example.com/gpu",), "every pod may take room"),
        ((f"pod/shop/web set {TOLERATIONS}={GPU}",), "this one does not"),
        ((f"pod/shop/model set {TOLERATIONS}={GPU}",), ""),
        (("node/n label kubernetes.io/arch=arm64",), "an image that needs arm64"),
        (("node/n label disk=ssd",), ""),
        (("node/n untaint node-role.kubernetes.io/control-plane",), "for the control plane"),
        (("node/n label topology.kubernetes.io/zone=b",), "that stays a"),
        (("node/n label topology.kubernetes.io/region=b",), ""),
        (("node/win untaint os",), "pods for linux may be placed on win"),
        (("node/n untaint karpenter.sh/disrupted",), "soon loses its node again"),
        (("node/n untaint eks.amazonaws.com/compute-type",), "no machine"),
        (("node/n-copy-1 untaint node.kubernetes.io/unreachable",), ""),
        (("pod/shop/web set spec.resourceClaims[0]=null",), "without these devices"),
        (("pod/shop/web set spec.containers[0].resources.requests.cpu=0",), "may starve"),
        (("pod/shop/web set spec.containers[0].resources.requests.cpu=1",), ""),
        (
            ("pod/shop/web set spec.containers[0].resources.requests[example.com/gpu]=0",),
            "the container gets no example.com/gpu",
        ),
        (("pod/shop/web set spec.priorityClassName=high",), "may evict others"),
    ],
)
def test_what_is_risky_is_warned_of(
    lines: tuple[str, ...], says: str, cluster: RestingCluster
) -> None:
    warnings = warnings_of([read_line(each) for each in lines], cluster)
    assert len(warnings) == bool(says)
    assert all(says in each for each in warnings)


@pytest.mark.parametrize(
    ("selected", "node", "says"),
    [
        ({}, {"kubernetes.io/os": "windows"}, "an image for linux does not start there"),
        ({}, {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}, ""),
        ({"kubernetes.io/os": "windows"}, {"kubernetes.io/os": "linux"}, "image for windows"),
        ({"beta.kubernetes.io/arch": "amd64"}, {"kubernetes.io/arch": "arm64"}, "for amd64"),
        ({"disk": "ssd"}, {"disk": "hdd"}, ""),
    ],
)
def test_a_machine_that_the_pod_is_not_made_for_is_warned_of(
    selected: Mapping[str, str], node: Mapping[str, str], says: str
) -> None:
    pod, there = make_pod("p"), make_node("n")
    for key, value in selected.items():
        pod = pod.node_selector(key, value)
    for key, value in node.items():
        there = there.label(key, value)
    warnings = list(warnings_of_place(pod.obj(), [there.obj()], ()))
    assert len(warnings) == bool(says)
    assert all(says in each for each in warnings)


def test_who_loses_a_node_pays() -> None:
    assert harm_of((), ()) == "none"
    assert harm_of((), ("shop/web",)) == "others"
