"""Every recorded case again: the same answers lead to the same messages, scores and requests."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scheduler_core.trace.events import (
    ExtenderCalled,
    ScoreColumns,
)
from tests.extender.recordings import CASES, cluster_of, exchanges_of
from tests.simulated import not_scheduled

Json = Any

LEFT_OUT = {
    # what kviz does not keep of pods ...
    "metadata.labels",  # only of the pods that fill the nodes, whose zone the kubelet noted
    "spec.volumes",
    "spec.containers[].imagePullPolicy",
    "spec.containers[].terminationMessagePath",
    "spec.containers[].terminationMessagePolicy",
    "spec.containers[].volumeMounts",
    "spec.dnsPolicy",
    "spec.enableServiceLinks",
    "spec.securityContext",
    "spec.serviceAccount",
    "spec.serviceAccountName",
    "status.qosClass",
    "status.conditions[].lastProbeTime",
    "status.conditions[].lastTransitionTime",
    "status.conditions[].observedGeneration",
    "status.containerStatuses",
    "status.hostIP",
    "status.hostIPs",
    "status.observedGeneration",
    "status.podIP",
    "status.podIPs",
    # ... and of nodes
    "metadata.annotations",
    "metadata.managedFields",
    "spec.podCIDR",
    "spec.podCIDRs",
    "spec.providerID",
    "status.addresses",
    "status.conditions[].lastHeartbeatTime",
    "status.daemonEndpoints",
    "status.nodeInfo.bootID",
    "status.nodeInfo.containerRuntimeVersion",
    "status.nodeInfo.kernelVersion",
    "status.nodeInfo.kubeProxyVersion",
    "status.nodeInfo.machineID",
    "status.nodeInfo.osImage",
    "status.nodeInfo.systemUUID",
}
"""docs/extenders.md tells users."""


def assert_same_object(sent: Json, recorded: Json, path: str = "") -> None:
    """Equal in all that is sent; only what is known to be left out is missing."""
    if isinstance(recorded, dict):
        assert sent.keys() <= recorded.keys(), path
        for key, value in recorded.items():
            inner = f"{path}.{key}".lstrip(".")
            if key == "resourceVersion":  # the simulated API server counts its own writes
                assert sent[key].isdigit()
            elif key in sent:
                assert_same_object(sent[key], value, inner)
            else:
                assert inner in LEFT_OUT, inner
    elif isinstance(recorded, list):
        assert len(sent) == len(recorded), path
        for ours, theirs in zip(sent, recorded, strict=True):
            assert_same_object(ours, theirs, f"{path}[]")
    else:
        assert sent == recorded, path


def assert_same_request(verb: str, sent: Json, recorded: Json) -> None:
    assert sent.keys() == recorded.keys()
    if verb == "bind":
        assert sent == recorded
        return
    assert_same_object(sent["Pod"], recorded["Pod"])
    if verb == "preempt":
        assert sent["NodeNameToMetaVictims"] == recorded["NodeNameToMetaVictims"]
        _assert_same_victims(sent["NodeNameToVictims"], recorded["NodeNameToVictims"])
        return
    names = [sent["NodeNames"], recorded["NodeNames"]]
    assert names == [None, None] or sorted(names[0]) == sorted(names[1])
    if recorded["Nodes"] is None:
        assert sent["Nodes"] is None
        return
    assert sent["Nodes"]["metadata"] == recorded["Nodes"]["metadata"] == {}
    theirs = {node["metadata"]["name"]: node for node in recorded["Nodes"]["items"]}
    theirs.pop("no-such-node", None)  # docs/adr/0013: unknown nodes are left out
    assert {node["metadata"]["name"] for node in sent["Nodes"]["items"]} == theirs.keys()
    for node in sent["Nodes"]["items"]:
        _without_fpga(theirs[node["metadata"]["name"]])
        _without_fpga(node)
        assert_same_object(node, theirs[node["metadata"]["name"]])


def _without_fpga(node: Json) -> None:
    """The node with devices got them while the recording went on."""
    node["metadata"]["resourceVersion"] = "1"
    for key in ("allocatable", "capacity"):
        node["status"][key].pop("example.com/fpga", None)


def _assert_same_victims(sent: Json, recorded: Json) -> None:
    if recorded is None:
        assert sent is None
        return
    assert sent.keys() == recorded.keys()
    for node, victims in recorded.items():
        assert sent[node]["NumPDBViolations"] == victims["NumPDBViolations"]
        for ours, theirs in zip(sent[node]["Pods"], victims["Pods"], strict=True):
            assert_same_object(ours, theirs)


def logged_totals(case: Json) -> dict[str, int]:
    """The final scores in the scheduler's log, those of the first attempt."""
    pattern = r"Calculated node's final score.* node=\"(.+?)\" score=(-?\d+)"
    totals: dict[str, int] = {}
    for line in case["schedulerLog"]:
        if found := re.search(pattern, line):
            totals.setdefault(found[1], int(found[2]))
    return totals


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_recorded_case_goes_as_recorded(case: Json) -> None:
    """The outcome, the requests and the totals are the recorded ones."""
    cluster, answers = cluster_of(case)
    recorded = exchanges_of(case)
    attempt = cluster.attempt()
    cluster.advance_ms(10)

    pod = cluster.pod(case["case"])
    if case["scheduledNode"] is None:
        (condition,) = [c for c in pod.status.conditions if c.type == "PodScheduled"]
        assert condition.reason == case["condition"]["reason"]
        assert condition.message == case["condition"]["message"]
    elif "preempt" in recorded:
        assert attempt.post_filter is not None
        assert attempt.post_filter.node_name == case["scheduledNode"]
        assert not_scheduled(attempt).message == case["events"][0]["message"].rstrip()
    else:
        assert pod.spec.node_name in best_nodes(cluster.trace) | {case["scheduledNode"]}
        assert case["scheduledNode"] in best_nodes(cluster.trace) | {pod.spec.node_name}

    expected = ["preempt"] if "preempt" in recorded else list(recorded)
    assert [verb for verb, _ in answers.requests] == expected
    for verb, body in answers.requests:
        assert_same_request(verb, body, recorded[verb]["request"]["body"])
    calls = cluster.of_type(ExtenderCalled)
    assert [call.verb for call in calls if call.status] == [
        verb for verb, _ in answers.requests if verb != answers.timed_out
    ]
    assert_same_totals(case, cluster.trace)


def best_nodes(trace: list[Any]) -> set[str]:
    """The nodes that shared the top total of the last scoring; empty without one."""
    names = {event.node: event.name for event in trace if type(event).__name__ == "NodeAdded"}
    scores = [event for event in trace if isinstance(event, ScoreColumns)]
    if not scores:
        return set()
    totals, nodes = scores[-1].totals.array(), scores[-1].nodes.array()
    return {names[int(node)] for node in nodes[totals == totals.max()]}


def assert_same_totals(case: Json, trace: list[Any]) -> None:
    names = {event.node: event.name for event in trace if type(event).__name__ == "NodeAdded"}
    scores = [event for event in trace if isinstance(event, ScoreColumns)]
    recorded = logged_totals(case)
    recorded.pop("no-such-node", None)
    if not recorded or not scores:
        assert bool(scores) == bool(recorded)
        return
    totals = zip(scores[-1].nodes.array(), scores[-1].totals.array(), strict=True)
    assert {names[int(node)]: int(total) for node, total in totals} == recorded
