"""What evidence says, plugin by plugin, in the words a person reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.utils.translation import override

from kviz.common.wording import translated
from scheduler_core.api import (
    Container,
    ContainerPort,
    KubeObject,
    Pod,
    ResourceRequirements,
    Taint,
    Toleration,
)
from scheduler_core.cluster.topology_keys import BETA_ZONE, ZONE
from scheduler_core.evidence.cycle import CycleEvidence, PluginEvidence, pre_enqueue_evidence
from scheduler_core.evidence.device_claims import DevicesAvailable, RequestedDevices
from scheduler_core.evidence.lead import lead_of_why
from scheduler_core.evidence.taints import toleration_text
from scheduler_core.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim import RunOptions, reenact_cycle
from scheduler_core.sim.run import Run
from scheduler_core.trace.why import NearMiss, Why
from tests.builders import NodeBuilder, PodBuilder
from tests.plugins.storage import claim, volume

TAINT = Taint(key="dedicated", value="database", effect="NoSchedule")


def evidence(*objects: KubeObject) -> CycleEvidence:
    """The evidence of the first cycle."""
    found = reenact_cycle(objects, RunOptions(), 1)
    assert found is not None
    return found.evidence


def sentence(pod: PodBuilder, node: NodeBuilder, *others: KubeObject) -> str:
    found = evidence(node.obj(), *others, pod.obj())
    return found.node(node.obj().name).sentence


@pytest.mark.parametrize(
    ("toleration", "said"),
    [
        (None, "does not tolerate taint dedicated=database:NoSchedule"),
        (
            Toleration(key="dedicated", value="databases", effect="NoSchedule"),
            "tolerates dedicated=databases:NoSchedule, the node has dedicated=database:NoSchedule",
        ),
        (
            Toleration(key="dedicate", operator="Exists"),
            "tolerates dedicate, the node has dedicated=database:NoSchedule",
        ),
        (
            Toleration(key="dedicated", value="database", effect="NoExecute"),
            "tolerates dedicated=database:NoExecute, the node has dedicated=database:NoSchedule",
        ),
        (
            Toleration(key="node.kubernetes.io/not-ready", operator="Exists"),
            "does not tolerate taint dedicated=database:NoSchedule",
        ),
    ],
)
def test_the_closest_toleration(toleration: Toleration | None, said: str) -> None:
    pod = PodBuilder("p")
    if toleration is not None:
        pod = pod.tolerations(toleration)
    assert sentence(pod, NodeBuilder("n").taints(TAINT)) == said


@pytest.mark.parametrize(
    ("effect", "said"), [("", "所有污点"), ("NoExecute", "所有污点:NoExecute")]
)
def test_what_tolerates_every_taint_is_said_in_the_readers_language(effect: str, said: str) -> None:
    text = toleration_text(Toleration(operator="Exists", effect=effect))
    with override("zh-hans"):
        assert translated(text) == said


def test_who_takes_most_of_a_resource() -> None:
    others = [
        PodBuilder(name).cpu(amount).on("n").obj()
        for name, amount in (("small", "100m"), ("big", "2"), ("middle", "1"), ("other", "500m"))
    ]
    assert sentence(PodBuilder("p").cpu("2"), NodeBuilder("n").cpu("4"), *others) == (
        "needs 2 cpu, 0.4 free of 4: short by 1.6; "
        "largest: default/big 2, default/middle 1, default/other 0.5"
    )


def test_too_much_for_the_whole_node() -> None:
    assert sentence(PodBuilder("p").cpu("9"), NodeBuilder("n").cpu("4")) == (
        "needs 9 cpu, the whole node has 4"
    )
    assert sentence(PodBuilder("p").request("a.com/gpu", "1"), NodeBuilder("n").cpu("4")) == (
        "needs 1 a.com/gpu, the node has none"
    )


def test_nominated_pods_count() -> None:
    pod = PodBuilder("p").cpu("2").obj()
    rival = PodBuilder("rival").cpu("3").nominated("n").obj()
    found = evidence(NodeBuilder("n").cpu("4").obj(), pod, rival).node("n")
    (fit,) = found.rejections
    assert fit.sentence == (
        "needs 2 cpu, 4 free of 4: short by 1, 3 kept for nominated pod default/rival; "
        "largest: default/rival 3 (nominated)"
    )
    assert fit.with_nominated == ("default/rival",)


def test_labels_that_are_missing_or_different() -> None:
    pod = PodBuilder("p").node_selector("disk", "ssd")
    assert sentence(pod, NodeBuilder("n").label("disk", "hdd")) == (
        "selects nodes with disk=ssd, the node has disk=hdd"
    )
    assert sentence(pod, NodeBuilder("n")) == (
        "selects nodes with disk=ssd, the node has no label disk"
    )


def test_the_holder_of_a_port() -> None:
    holder = PodBuilder("holder").host_port(80).on("n").obj()
    assert sentence(PodBuilder("p").host_port(80), NodeBuilder("n"), holder) == (
        "wants host port 80/TCP, which default/holder holds"
    )


def test_a_port_at_another_address() -> None:
    port = ContainerPort(container_port=80, host_port=80, host_ip="10.0.0.1")
    holder = PodBuilder("holder").ports(port).on("n").obj()
    assert sentence(PodBuilder("p").host_port(80), NodeBuilder("n"), holder) == (
        "wants host port 80/TCP, which default/holder holds at 10.0.0.1"
    )


def test_the_skew_and_who_makes_it() -> None:
    nodes = [NodeBuilder(f"n{i}").zone(f"z{i}").cpu("9").obj() for i in range(2)]
    there = PodBuilder("there").label("app", "a").on("n0").obj()
    pod = PodBuilder("p").label("app", "a").spread("topology.kubernetes.io/zone", 1, app="a")
    found = evidence(*nodes, there, pod.obj())
    assert found.node("n1").sentence == ""
    assert found.node("n0").sentence == (
        "spreads over topology.kubernetes.io/zone with a skew of at most 1: z0 has 1 matching "
        "and would get 1 more, the emptiest (z1) has 0: skew 2; there: default/there on n0"
    )


def test_who_keeps_a_pod_out() -> None:
    node = NodeBuilder("n").label("kubernetes.io/hostname", "n")
    there = PodBuilder("there").apart_from("a").on("n").obj()
    assert sentence(PodBuilder("p").label("app", "a"), node, there) == (
        "has labels that default/there keeps out of kubernetes.io/hostname=n by "
        "anti-affinity against app=a of default"
    )


def test_gates() -> None:
    pod = PodBuilder("p").gates("quota", "license").obj()
    run = Run([NodeBuilder("n").obj(), pod], RunOptions())
    list(run.events())
    simulation = run.simulation
    (framework,) = simulation.scheduler.profiles.values()
    info = simulation.scheduler.cache.columns.templates.info(pod)
    (found,) = pre_enqueue_evidence(framework, info, simulation.objects)
    assert found.point == "PreEnqueue"
    assert found.sentence == "is held back by the scheduling gates quota, license"


def test_how_a_request_comes_about() -> None:
    def container(name: str, cpu: str, policy: str = "") -> Container:
        resources = ResourceRequirements(requests={"cpu": cpu})
        return Container(name=name, image="i", resources=resources, restart_policy=policy)

    pod = (
        PodBuilder("p")
        .containers(container("a", "500m"), container("b", "250m"))
        .init_containers(container("side", "100m", "Always"), container("init", "2"))
        .spec(overhead={"cpu": "50m"})
        .obj()
    )
    (cpu,) = evidence(NodeBuilder("n").cpu("9").obj(), pod).requests
    assert cpu.decided_by == "init"
    assert cpu.text == "2.15 cpu = max(containers 0.85, init 2.1) + overhead 0.05"
    assert [(each.name, each.role, each.beside) for each in cpu.shares] == [
        ("a", "container", 0),
        ("b", "container", 0),
        ("side", "sidecar", 0),
        ("init", "init", 100),
    ]


@pytest.mark.parametrize(
    ("init", "spec", "parts"),
    [
        ({"side": ("8", "Always")}, {}, "containers 8 + sidecar 8"),
        ({"load": ("30", ""), "less": ("9", "")}, {}, "from init container load; 8 afterwards"),
        ({}, {"overhead": {"cpu": "500m"}}, "containers 8 + overhead 0.5"),
        ({}, {"resources": ResourceRequirements(requests={"cpu": "9"})}, "pod level 9"),
        ({"load": ("1", "")}, {}, ""),
    ],
)
def test_a_request_is_broken_down_where_it_decides(
    init: dict[str, tuple[str, str]], spec: dict[str, object], parts: str
) -> None:
    def container(name: str, cpu: str, policy: str = "") -> Container:
        resources = ResourceRequirements(requests={"cpu": cpu})
        return Container(name=name, image="i", resources=resources, restart_policy=policy)

    pod = PodBuilder("p").containers(container("a", "8")).spec(**spec)
    pod = pod.init_containers(*(container(name, *of) for name, of in init.items()))
    told = sentence(pod, NodeBuilder("n").cpu("4"))
    assert re.search(r"cpu(?: \((.*)\))?, the whole node has 4", told)[1] == (parts or None)  # type: ignore[index]


def test_an_overcommitted_node_is_named_with_the_pod_that_did_it() -> None:
    early = PodBuilder("early").cpu("3").created_ns(1).on("n").obj()
    late = PodBuilder("late").cpu("2").created_ns(2).on("n").obj()
    told = sentence(PodBuilder("p").cpu("1"), NodeBuilder("n").cpu("4"), late, early)
    assert told == (
        "needs 1 cpu, 0 free of 4: short by 2; over-committed by 1 since default/late; "
        "largest: default/early 3, default/late 2"
    )


# ---------------------------------------------------------------- preemption


def preemption(pod: Pod, there: Sequence[Pod]) -> str:
    found = evidence(NodeBuilder("n").cpu("4").obj(), *there, pod).node("n").preemption
    assert found is not None
    return found.sentence


def test_why_preemption_helps_or_does_not() -> None:
    low = PodBuilder("low").cpu("2").priority(0).on("n").obj()
    high = PodBuilder("high").cpu("2").priority(9).on("n").obj()
    pod = PodBuilder("p").cpu("2").priority(5)
    assert preemption(pod.obj(), [low, high]) == "evicting default/low (priority 0) makes room"
    assert preemption(pod.cpu("3").obj(), [low, high]) == (
        "even without its 1 pod of lower priority: needs 3 cpu, 2 free of 4: short by 1; "
        "largest: default/high 2"
    )
    other = PodBuilder("other").cpu("2").priority(9).on("n").obj()
    assert preemption(PodBuilder("p").cpu("2").priority(5).obj(), [high, other]) == (
        "has priority 5, every pod there has at least 9"
    )
    assert preemption(PodBuilder("p").cpu("9").priority(5).obj(), [low]) == (
        "no eviction helps: NodeResourcesFit rejects the node with any pods on it"
    )
    never = PodBuilder("p").cpu("3").priority(5).preemption_policy("Never").obj()
    assert preemption(never, [low]) == (
        "may not preempt: not eligible due to preemptionPolicy=Never"
    )


def test_the_victims_that_are_waited_for() -> None:
    """Between nomination and eviction PreEnqueue would hold the pod back."""
    low = PodBuilder("low").cpu("4").priority(0).on("n").obj()
    pod = PodBuilder("p").cpu("4").priority(5).obj()
    said: list[PluginEvidence] = []

    def look(cycle: Cycle) -> None:
        if cycle.number == 1:
            framework = cycle.framework
            framework.run_post_filter(cycle.state, cycle.pod, cycle.diagnosis)
            said.extend(pre_enqueue_evidence(framework, cycle.pod, run.simulation.objects))

    run = Run([NodeBuilder("n").cpu("4").obj(), low, pod], RunOptions(), on_decision=look)
    list(run.events())
    (found,) = said
    assert found.plugin == "DefaultPreemption"
    assert found.sentence == "waits until the pods it preempts are being deleted"


# ---------------------------------------------------------------- what leads


def near(*nodes: str) -> Why:
    misses = (NearMiss(node, "NodeResourcesFit", "Unschedulable", (), ()) for node in nodes)
    return Why(n_nodes=2, nearest=tuple(misses))


def test_what_leads() -> None:
    pod = PodBuilder("p").cpu("5").obj()
    same = evidence(*(NodeBuilder(name).cpu("4").obj() for name in ("a", "b")), pod)
    lead = lead_of_why(same, near("a", "b"))
    assert lead is not None
    assert lead.text == "needs 5 cpu, the whole node has 4 (all 2 nodes)"
    other = evidence(NodeBuilder("a").cpu("4").obj(), NodeBuilder("b").cpu("3").obj(), pod)
    lead = lead_of_why(other, near("a", "b"))
    assert lead is not None
    assert lead.text == "needs 5 cpu, the whole node has 4 (a, nearest of 2 nodes)"
    assert lead.elsewhere == ("b: needs 5 cpu, the whole node has 3",)
    assert lead_of_why(other, Why()) is None


def test_all_nodes_are_accounted_for_where_one_leads() -> None:
    pod = PodBuilder("p").cpu("5").obj()
    nodes = [NodeBuilder(name).cpu("4").obj() for name in ("a", "b")]
    found = evidence(*nodes, NodeBuilder("c").cpu("3").obj(), pod)
    lead = lead_of_why(found, replace(near("a", "b", "c"), n_nodes=7))
    assert lead is not None
    assert lead.elsewhere == (
        "b: as on a",
        "c: needs 5 cpu, the whole node has 3",
        "4 more nodes are farther off",
    )


def test_nodes_with_what_is_requested_lead() -> None:
    """The plain node lacks but one thing, and is not what the pod is meant for."""
    gpus = NodeBuilder("gpus").cpu("4").resource("a.com/gpu", "1").taints(TAINT).obj()
    there = PodBuilder("there").request("a.com/gpu", "1").on("gpus").obj()
    pod = PodBuilder("p").request("a.com/gpu", "1").obj()
    found = evidence(NodeBuilder("plain").cpu("4").obj(), gpus, there, pod)
    lead = lead_of_why(found, near("plain"))
    assert lead is not None
    assert lead.plugin == "TaintToleration"
    assert lead.which == "gpus, the only node with a.com/gpu"
    assert lead.also == ("needs 1 a.com/gpu, 0 free of 1: short by 1; largest: default/there 1",)
    assert lead.in_full == ""
    assert lead.elsewhere == ("plain: needs 1 a.com/gpu, the node has none",)


def test_the_only_node_that_is_large_enough_leads_as_such() -> None:
    large = NodeBuilder("large").cpu("8").taints(TAINT).obj()
    pod = PodBuilder("p").cpu("6").obj()
    found = evidence(NodeBuilder("small").cpu("4").obj(), large, pod)
    assert found.large_enough == ("large",)
    lead = lead_of_why(found, near("large", "small"))
    assert lead is not None
    assert lead.which == "large, of 2 nodes the only one large enough"
    assert lead.elsewhere == ("small: needs 6 cpu, the whole node has 4",)


def test_a_volume_elsewhere_leads_before_a_node_that_is_too_small() -> None:
    """A larger node removes the second; the first no node of another zone does."""
    elsewhere = volume("pv-a", hosts=["other"], claimed_by="data")
    pod = PodBuilder("p").cpu("5").claim("data").obj()
    node = NodeBuilder("n").cpu("4").obj()
    lead = lead_of_why(evidence(node, elsewhere, claim("data", volume="pv-a"), pod), near("n"))
    assert lead is not None
    assert lead.plugin == "VolumeBinding"
    assert lead.also[-1] == "needs 5 cpu, the whole node has 4"


def test_what_no_node_can_ever_meet_leads_before_all_nodes() -> None:
    """A volume of another zone than the pod requires; the old label names the same zone."""
    nodes = [
        NodeBuilder(zone).cpu("4").labels({ZONE: zone, BETA_ZONE: zone}).obj() for zone in "bc"
    ]
    mine = claim("data", volume="pv-c")
    pod = PodBuilder("p").claim("data").node_selector(ZONE, "b").obj()
    there = volume("pv-c", claimed_by="data", labels={BETA_ZONE: "c"})
    lead = lead_of_why(evidence(*nodes, there, mine, pod), near("b", "c"))
    assert lead is not None
    assert lead.plugin == "VolumeZone"
    assert lead.text == (
        "requires zone=b, and its volume pv-c is usable only where zone=c: no node can ever take it"
    )
    assert [each.partition(":")[0] for each in lead.elsewhere] == ["b", "c"]


def test_two_volumes_that_no_node_can_reach_both() -> None:
    node = NodeBuilder("a").cpu("4").obj()
    volumes = [volume(f"pv-{each}", hosts=[each], claimed_by=each) for each in "ab"]
    claims = [claim(each, volume=f"pv-{each}") for each in "ab"]
    pod = PodBuilder("p").claim("a").claim("b").obj()
    lead = lead_of_why(evidence(node, *volumes, *claims, pod), near("a"))
    assert lead is not None
    assert lead.text == (
        "needs volume pv-a, usable only where hostname=a, and volume pv-b, usable only where "
        "hostname=b: no node can ever take it"
    )


def test_the_pod_leads_before_its_nodes() -> None:
    pod = PodBuilder("p").claim("missing").obj()
    lead = lead_of_why(evidence(NodeBuilder("a").cpu("4").obj(), pod), near("a"))
    assert lead is not None
    assert lead.text == "uses claim default/missing, which does not exist"
    assert lead.plugin == "VolumeRestrictions"


def test_alternatives_of_a_request_are_one_or_the_other() -> None:
    wanted = DevicesAvailable(
        met=False,
        claim="lab/best",
        allocated=False,
        requests=(
            RequestedDevices("gpu/large", "big-gpu", 1, 0),
            RequestedDevices("gpu/small", "gpu", 2, 1),
            RequestedDevices("cam", "camera", 1, 2),
        ),
        reason="",
    )
    assert wanted.asks == (
        "1 of class big-gpu or 2 of class gpu (1 selector), "
        "1 of class camera (2 selectors) for claim lab/best"
    )


def test_a_claim_that_the_scheduler_makes_itself_goes_without_its_name_in_memory() -> None:
    wanted = DevicesAvailable(
        met=False,
        claim=f"lab/{IN_MEMORY_NAME}",
        allocated=False,
        requests=(),
        reason="cannot allocate all claims",
    )
    assert wanted.sentence == (
        "needs devices for the extended resources it requests, "
        "the node has too few that can be allocated: cannot allocate all claims"
    )
