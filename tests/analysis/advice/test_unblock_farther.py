"""Answers that lie farther off: another zone, another revision, pods on their way out, an owner."""

from __future__ import annotations

from collections import deque

import pytest
from msgspec.structs import replace

from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.trial import Trials, trial
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.api import (
    Affinity,
    KubeObject,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
)
from scheduler_core.changes import apply, line_of, read_line
from scheduler_core.sim import RunOptions
from scheduler_core.sim.run import DEFAULT_START_NS
from tests.builders import HOSTNAME, ZONE, PodBuilder, container, make_node, make_pod
from tests.plugins.storage import claim, storage_class, volume


def answered(*objects: KubeObject) -> dict[str, Answer]:
    """Return the answers for pod `p` by their titles; as text, each puts it where it says."""
    found = deque(unblock(Trials(objects, RunOptions()), "default/p"), maxlen=1).pop()
    for each in found.answers:
        changes = [read_line(line_of(change)) for change in each.changes]
        assert trial(apply(objects, changes), RunOptions()).of("default/p").node == each.node
    return {each.title: each for each in found.answers}


def web(name: str, revision: str = "") -> PodBuilder:
    pod = make_pod(name).label("app", "web").cpu(1).spread(ZONE, 1, app="web")
    return pod.label("pod-template-hash", revision) if revision else pod


def beside(app: str) -> PodBuilder:
    """Return pod `p`, which has to be on a node with a pod of `app`."""
    term = PodAffinityTerm(
        topology_key=HOSTNAME, label_selector=LabelSelector(match_labels={"app": app})
    )
    near = PodAffinity(required_during_scheduling_ignored_during_execution=(term,))
    return make_pod("p").affinity(Affinity(pod_affinity=near))


TWO_ZONES = [make_node("a").zone("a").cpu(4).obj(), make_node("b").zone("b").cpu(1).obj()]


def test_fewer_domains_or_a_zone_that_is_not_there_yet() -> None:
    pod = web("p").obj()
    spread = replace(pod.spec.topology_spread_constraints[0], min_domains=3)
    pod = replace(pod, spec=replace(pod.spec, topology_spread_constraints=(spread,)))
    found = answered(*TWO_ZONES, web("x").on("a").obj(), web("y").on("b").obj(), pod)
    assert found["Lower minDomains to 2"].harm == "none"
    assert found["Add a node in a new zone"].sentence == (f"add 1 node like b in a new {ZONE}")


def test_a_rollout_counts_only_its_own_revision() -> None:
    old = [web(f"old-{i}", "1").on("a").obj() for i in range(2)]
    found = answered(*TWO_ZONES, *old, web("old-b", "1").on("b").obj(), web("p", "2").obj())
    assert found["Count only pods of its own revision"].node == "a"
    unnamed = answered(*TWO_ZONES, *old, web("old-b", "1").on("b").obj(), web("p").obj())
    assert "Count only pods of its own revision" not in unnamed


def test_who_is_stuck_on_a_node_out_of_reach_is_deleted_by_force() -> None:
    lost = make_node("lost").zone("a").cpu(4).ready("Unknown")
    lost.taint("node.kubernetes.io/unreachable", effect="NoExecute")
    stuck = make_pod("old").label("app", "db").on("lost").deleted_at_ns(0).obj()
    pod = make_pod("p").label("app", "db").apart_from("db", ZONE).cpu(1).obj()
    found = answered(lost.obj(), make_node("a").zone("a").cpu(4).obj(), stuck, pod)
    assert next(iter(found)) == "Wait until lost is back"
    assert {found[each].harm for each in (next(iter(found)), "Add a node in a new zone")} == {
        "none"
    }
    answer = found["Force-delete default/old"]
    assert (answer.harm, answer.node) == ("risk", "a")
    assert answer.warnings == (
        "force-deleting default/old says that it has stopped: make sure that lost is off, or wait "
        "until it is back",
    )


def test_a_node_out_of_reach_is_waited_for_alone_where_a_pod_is_stuck_on_it() -> None:
    lost = make_node("lost").zone("a").cpu(4).ready("Unknown")
    lost.taint("node.kubernetes.io/unreachable")
    later_ns = DEFAULT_START_NS + 3_600_000_000_000  # than anything was created
    stuck = make_pod("old").host_port(80).on("lost").deleted_at_ns(later_ns)
    twin = make_pod("twin").owner("ReplicaSet", "web").host_port(80).on("a")
    pod = make_pod("p").owner("ReplicaSet", "web").host_port(80)
    nodes = [lost.obj(), make_node("a").cpu(4).obj()]
    found = answered(*nodes, stuck.obj(), twin.obj(), pod.obj())
    waits = [title for title in found if "Wait" in title]
    assert waits == ["Wait until lost is back"] == list(found)[:1]
    assert "terminating there" in found[waits[0]].sentence
    assert not any("default/twin" in title for title in found)  # it would only wait instead
    empty = answered(*nodes, twin.obj(), pod.obj())["Wait until lost is back"]
    assert empty.sentence.endswith("if it stays away, look for the fault there")


@pytest.mark.parametrize(
    ("taint", "title", "who"),
    [
        ("node.kubernetes.io/not-ready", "Wait until w is ready", "when the node is ready"),
        ("node.cilium.io/agent-not-ready", "Wait until w is ready", "by the agent that it is of"),
        (
            "node.cloudprovider.kubernetes.io/uninitialized",
            "Wait until w is initialized",
            "the cloud controller manager takes",
        ),
    ],
)
def test_who_takes_a_taint_off_is_said_and_a_new_node_would_wait_for_it_too(
    taint: str, title: str, who: str
) -> None:
    control = make_node("cp").cpu(4).taint("node-role.kubernetes.io/control-plane").taint(taint)
    worker = make_node("w").cpu(4).taint(taint)
    pod = make_pod("p").toleration("node-role.kubernetes.io/control-plane").cpu(2).obj()
    found = answered(control.obj(), worker.obj(), pod)
    assert list(found)[:2] == [title, title.replace(" w ", " cp ")]
    assert who in found[title].sentence
    assert not any(each.startswith("Add") for each in found)
    assert "Add a node like w" in answered(worker.obj(), make_node("small").cpu(1).obj(), pod)


def test_the_one_pod_that_affinity_asks_for_is_started_again_where_the_other_fits() -> None:
    front = make_pod("front").owner("ReplicaSet", "front").label("app", "front").on("a").obj()
    pod = beside("front").request("example.com/gpu", 1).obj()
    nodes = [make_node("a").obj(), make_node("b").resource("example.com/gpu", 1).obj()]
    answer = answered(*nodes, front, pod)["Start default/front again on b"]
    assert (answer.harm, answer.node, answer.leaving) == ("others", "b", ("default/front",))
    agent = make_pod("front").owner("DaemonSet", "front").label("app", "front").on("a").obj()
    assert not any("again on" in title for title in answered(*nodes, agent, pod))


def test_an_owner_is_scaled_down_where_it_gives_up_the_pod_in_the_way() -> None:
    pods = [make_pod(n).owner("ReplicaSet", "w").cpu(3).on(n[-1]).obj() for n in ("w-a", "w-b")]
    nodes = [make_node("a").cpu(4).obj(), make_node("b").cpu(4).obj()]
    answer = answered(*nodes, *pods, make_pod("p").cpu(3).obj())["Scale w to 1"]
    assert (answer.harm, answer.leaving) == ("others", ("default/w-b",))


@pytest.mark.parametrize("in_the_way", ["port", "room", "anti-affinity"])
def test_an_older_pod_of_its_own_deployment_may_end_before_it_comes(in_the_way: str) -> None:
    def revision(name: str, of: str) -> PodBuilder:
        pod = make_pod(name).owner("ReplicaSet", f"w-{of}").label("pod-template-hash", of)
        if in_the_way == "anti-affinity":
            return pod.label("app", "w").apart_from("w", HOSTNAME)
        return pod.host_port(80) if in_the_way == "port" else pod.cpu(3)

    nodes = [make_node(n).cpu(4).obj() for n in "ab"]
    old = [revision(f"old-{n}", "1").on(n).obj() for n in "ab"]
    other = make_pod("other").owner("ReplicaSet", "x-1").on("a").obj()
    found = answered(*nodes, *old, other, revision("p", "2").obj())
    answer = found["Roll out with maxSurge: 0"]
    assert [line_of(each) for each in answer.changes] == ["ReplicaSet/default/w-1 scale 1"]
    assert next(iter(found)) == answer.title  # its own older pod is nobody else
    assert (answer.harm, answer.leaving) == ("none", ())
    assert not any("default/old" in title for title in found)
    same = revision("p", "1").obj()
    assert "Roll out with maxSurge: 0" not in answered(*nodes, *old, other, same)


def test_a_sidecar_that_takes_what_is_short_may_end_before_the_others() -> None:
    side = replace(container({"cpu": "3"}, sidecar=True), name="side")
    pod = make_pod("p").cpu(3).init_containers(side)
    found = answered(make_node("a").cpu(4).obj(), pod.obj())
    assert found["Let its init container end before the others start"].harm == "none"


def test_a_claim_that_was_bound_too_early_waits_for_its_pod_and_begins_empty() -> None:
    pod = make_pod("p").node_selector("disk", "ssd").claim("data").obj()
    found = answered(
        make_node("a").zone("a").cpu(4).obj(),
        make_node("b").zone("b").cpu(4).label("disk", "ssd").obj(),
        storage_class("now", mode="Immediate"),
        volume("v", "now", hosts=["a"], claimed_by="data", phase="Bound"),
        claim("data", "now", volume="v"),
        pod,
    )
    answer = found["Make claim default/data again, empty"]
    assert (answer.harm, answer.node) == ("risk", "b")
    assert answer.warnings == ("claim default/data begins empty: first save what is in volume v",)


def test_one_more_node_is_in_good_health() -> None:
    leaving = make_node("a").cpu(4).taint("karpenter.sh/disrupted")
    found = answered(leaving.obj(), make_pod("p").obj())
    titles = list(found)
    assert titles[0] == "Add a node like a"
    assert found[titles[0]].sentence == ("add 1 node like a; without taint karpenter.sh/disrupted")
    assert {found[each].harm for each in titles[1:]} == {"risk"}


def test_one_more_node_is_offered_once_for_nodes_that_a_new_one_would_be_the_same_as() -> None:
    ill = [
        make_node(n).cpu(4).taint(t)
        for n, t in (("a", "karpenter.sh/disrupted"), ("b", "x/not-ready"))
    ]
    titles = list(answered(*(each.obj() for each in ill), make_pod("p").obj()))
    assert [each for each in titles if each.startswith("Add")] == ["Add a node like a"]
    assert titles[0] == "Wait until b is ready"


def test_one_more_node_for_the_pod_is_a_worker() -> None:
    control = make_node("cp").cpu(4).taint("node-role.kubernetes.io/control-plane")
    found = answered(control.obj(), make_pod("p").obj())
    assert found["Add a node like cp"].harm == "none"
    assert next(iter(found)) == "Add a node like cp"


def test_another_pod_makes_room_where_the_first_is_needed_beside_it() -> None:
    front = make_pod("front").owner("ReplicaSet", "front").label("app", "front").on("a").obj()
    other = make_pod("other").owner("ReplicaSet", "other").on("a").obj()
    pod = beside("front").obj()
    found = answered(make_node("a").pods(2).obj(), make_node("b").obj(), front, other, pod)
    assert found["Move default/other elsewhere"].node == "a"


def test_no_answer_takes_the_node_of_another_pod_of_its_owner() -> None:
    other, pod = (make_pod(n).owner("StatefulSet", "db").cpu(3) for n in ("db-0", "p"))
    found = answered(make_node("a").cpu(4).obj(), other.on("a").obj(), pod.obj())
    assert {"Request 1 cpu", "Add a node like a"} <= set(found)
    assert not any("default/db-0" in title or "Priority" in title for title in found)


def test_a_port_of_the_host_is_not_dropped_where_its_network_is_used() -> None:
    holder = make_pod("w").host_port(80).on("a").obj()
    pod = make_pod("p").host_port(80)
    found = answered(make_node("a").obj(), holder, pod.obj())
    assert found["Drop the host port"].harm == "risk"
    found = answered(make_node("a").obj(), holder, pod.spec(host_network=True).obj())
    assert "Drop the host port" not in found


def test_what_no_node_offers_is_said() -> None:
    pod = make_pod("p").request("example.com/gpu", 1).obj()
    found = deque(unblock(Trials((make_node("a").obj(), pod), RunOptions()), "default/p"), 1).pop()
    assert found.nowhere == ("example.com/gpu",)


def test_the_pin_of_a_daemon_sets_pod_is_never_dropped() -> None:
    there = NodeSelectorRequirement(key="metadata.name", operator="In", values=("a",))
    terms = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(there,)),))
    pin = NodeAffinity(required_during_scheduling_ignored_during_execution=terms)
    pod = make_pod("p").owner("DaemonSet", "p").cpu(3)
    pinned = pod.affinity(Affinity(node_affinity=pin)).obj()
    full = make_pod("w").cpu(3).on("a").obj()
    found = answered(make_node("a").cpu(4).obj(), make_node("b").cpu(4).obj(), full, pinned)
    assert found
    assert not any("nodeAffinity" in title for title in found)


def test_a_pod_that_gets_the_place_of_another_is_not_said_to_move_it() -> None:
    full = make_pod("w-a").owner("ReplicaSet", "w").cpu(3).on("a").obj()
    found = answered(make_node("a").cpu(4).obj(), full, make_pod("p").cpu(3).obj())
    assert found["Give it the place of default/w-a"].newly_pending == ("default/w-a",)
