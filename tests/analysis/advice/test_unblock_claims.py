"""What would let a pod bind that claims, volumes, devices or classes keep from every node.

Every answer that is found is run again, from its text, and binds the pod where it says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.trial import Trials, trial
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.api import (
    Container,
    DeviceTaint,
    KubeObject,
    NodeSelectorTerm,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourceRequirements,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
)
from scheduler_core.api.pod import ResourceClaimName
from scheduler_core.changes import apply, line_of, read_line
from scheduler_core.config import load_configuration
from scheduler_core.config.features import feature_gates
from scheduler_core.sim import RunOptions
from scheduler_core.sim.simulation import Timing
from tests.analysis.advice.test_unblock import found_for, last, node_after
from tests.builders import make_node, make_pod
from tests.devices import factories as devices
from tests.plugins.harness import expression
from tests.plugins.storage import (
    DRIVER,
    ONLY_STATIC,
    claim,
    csi_driver,
    csi_node,
    storage_class,
    uses,
    volume,
)

DROPPED = "let pod default/p go without its claim devices"
ZONE = "topology.kubernetes.io/zone"


def told(*objects: KubeObject) -> list[str]:
    """Return the sentences of the answers for pod p, each of which was run again.

    Objects in their changes have no status that says nothing.
    """
    given = list(objects)
    answers: Sequence[Answer] = found_for(given, "default/p").answers
    for each in answers:
        assert node_after(given, each, "default/p") == each.node
        assert not any('"status":{}' in line_of(change) for change in each.changes)
    return [each.sentence for each in answers]


def mounting(name: str = "c") -> KubeObject:
    return make_pod("p").volumes(*uses(name)).obj()


def test_a_volume_of_another_zone_is_copied() -> None:
    full, free = make_node("full").zone("a").cpu(1).obj(), make_node("free").zone("b").cpu(8).obj()
    for kept in (
        volume("pv", claimed_by="c", labels={ZONE: "a"}),
        volume("pv", claimed_by="c", hosts=["full"]),
    ):
        pod = make_pod("p").cpu(4).volumes(*uses("c")).obj()
        stored = [claim("c", volume="pv"), kept, storage_class()]
        assert "copy volume pv to where the node can use it" in told(full, free, *stored, pod)


def test_a_volume_that_another_pod_uses_is_shared_not_copied() -> None:
    user = make_pod("user").cpu(3).volumes(*uses("c")).on("a").obj()
    stored = [claim("c", volume="pv"), volume("pv", claimed_by="c", hosts=["a"]), storage_class()]
    pod = make_pod("p").cpu(3).volumes(*uses("c")).obj()
    told_of = told(make_node("a").obj(), make_node("b").obj(), *stored, user, pod)
    assert any(each.startswith("put volume pv, which another pod uses") for each in told_of)
    assert not any("copy volume" in each or "claim default/c again" in each for each in told_of)


@pytest.mark.parametrize(
    ("zone", "has_driver", "first"),
    [
        ("a", False, f"install CSI driver {DRIVER} on node n; it then labels the node x/zone=a"),
        ("a", True, "label node n x/zone=a"),
        ("b", False, "copy volume pv to where the node can use it"),
    ],
)
def test_a_label_that_a_driver_puts_on_is_missing(zone: str, has_driver: bool, first: str) -> None:
    there = NodeSelectorTerm(match_expressions=(expression("x/zone", "In", "a"),))
    kept = volume("pv", claimed_by="c", driver=DRIVER, terms=[there])
    known = [csi_node("n", {DRIVER: 1})] if has_driver else []
    node = make_node("n").zone(zone).obj()
    told_of = told(node, *known, claim("c", volume="pv"), kept, storage_class(), mounting())
    assert told_of[0] == first
    assert any("copy volume" in each for each in told_of) is (zone == "b")


def test_where_no_class_is_the_default_a_claim_that_names_none_waits_for_one() -> None:
    unnamed = claim("c", None)
    made = "create storage class standard with a provisioner of this cluster"
    assert told(make_node("n").obj(), unnamed, mounting())[0].startswith(made)
    known = told(make_node("n").obj(), unnamed, storage_class("gp"), mounting())[0]
    assert known.startswith("mark storage class gp as the default")
    static = told(make_node("n").obj(), claim("c", ""), storage_class("gp"), mounting())
    assert not any("default (" in each for each in static)


def test_a_volume_that_its_claim_names_and_that_is_not_there_is_made() -> None:
    told_of = told(make_node("n").obj(), claim("c", volume="gone"), storage_class(), mounting())
    assert told_of[0] == "bind claim default/c to a new volume"


def test_a_storage_class_that_is_missing_is_made_or_another_one_taken() -> None:
    wanted = claim("c", "fast")
    alone = told(make_node("n").obj(), wanted, mounting())
    assert "create storageclass fast" in alone
    beside = told(make_node("n").obj(), wanted, storage_class("slow"), mounting())
    assert "make claim default/c again with storage class slow instead of fast" in beside


def test_a_claim_that_no_volume_is_made_for_is_provided_or_has_another_class() -> None:
    only_there = TopologySelectorTerm(
        match_label_expressions=(TopologySelectorLabelRequirement(key=ZONE, values=("b",)),)
    )
    elsewhere = storage_class(allowed_topologies=(only_there,))
    for unfit in (ONLY_STATIC, elsewhere):
        node = make_node("n").zone("a").obj()
        told_of = told(node, claim("c"), unfit, storage_class("slow"), mounting())
        assert "bind claim default/c to a new volume" in told_of
        assert "make claim default/c again with storage class slow instead of wait" in told_of


def test_where_a_node_may_have_no_more_volumes_one_that_has_some_leaves_or_the_limit_rises() -> (
    None
):
    stored: list[KubeObject] = [storage_class(), csi_driver(), csi_node("n", {DRIVER: 1})]
    for name in ("c", "d"):
        stored += [
            claim(name, volume=f"pv-{name}"),
            volume(f"pv-{name}", claimed_by=name, driver=DRIVER),
        ]
    holder = make_pod("holder").volumes(*uses("d")).on("n").phase("Running").obj()
    told_of = told(make_node("n").obj(), *stored, holder, mounting())
    assert "delete pod default/holder on n (bare pod, no controller)" in told_of
    assert f"limit of volumes of {DRIVER} on node n 1 → 2" in told_of
    assert "add 1 node like n" in told_of


def test_a_csi_driver_that_a_node_lacks_is_installed() -> None:
    given = [
        *(make_node("n").obj(), csi_driver(prevent_pod_scheduling_if_missing=True)),
        *(csi_node("n", {}), storage_class(), mounting()),
        *(claim("c", volume="pv"), volume("pv", claimed_by="c", driver=DRIVER)),
    ]
    gates = feature_gates({"VolumeLimitScaling": True})
    trials = Trials(given, RunOptions(features=gates))
    best = last(unblock(trials, "default/p")).answers[0]
    assert best.sentence == f"install CSI driver {DRIVER} on node n"
    assert best.node == "n"


def asking(request: KubeObject, *there: KubeObject) -> list[str]:
    pod = using("p", "c")
    return told(make_node("n").obj(), *there, request, pod)


def using(name: str, claimed: str, on: str = "") -> Pod:
    use = PodResourceClaim(name="devices", resource_claim_name=claimed)
    pod = make_pod(name).spec(resource_claims=(use,))
    return pod.on(on).phase("Running").obj() if on else pod.obj()


def from_template(name: str, template: str) -> Pod:
    use = PodResourceClaim(name="devices", resource_claim_template_name=template)
    return make_pod(name).spec(resource_claims=(use,)).obj()


def has(*names: str) -> KubeObject:
    return devices.resource_slice("of-n", *map(devices.device, names), node="n")


def test_fewer_devices_or_no_selectors_are_asked_for() -> None:
    four = devices.claim("c", devices.exactly("r", count=4))
    fewer = "claim default/c: devices of r 4 → 2 (make it again)"
    assert fewer in asking(four, devices.device_class(), has("d0", "d1"))
    picky = devices.claim("c", devices.exactly("r", where="device.driver == 'none'"))
    assert (
        "claim default/c: selectors of r device.driver == 'none' → none (make it again)"
        in asking(picky, devices.device_class(), has("d0"))
    )


def test_a_selector_asks_for_a_value_that_a_device_has() -> None:
    there = devices.resource_slice("of-n", devices.device("d0", model="A100"), node="n")
    wanted = f"device.attributes['{devices.DRIVER}'].model == '{{}}'"
    picky = devices.claim("c", devices.exactly("r", where=wanted.format("H100")))
    found = asking(picky, devices.device_class(), there)
    other = f"selectors of r {wanted.format('H100')} → {wanted.format('A100')} (make it again)"
    assert f"claim default/c: {other}" in found
    assert "tolerat" not in " ".join(found)


@pytest.mark.parametrize(
    ("value", "tolerated"), [("", "broken:NoSchedule"), ("yes", "broken=yes:NoSchedule")]
)
def test_a_taint_of_a_device_is_tolerated_by_its_key(value: str, tolerated: str) -> None:
    """A toleration without a key would let in what nobody has named."""
    taint = DeviceTaint(key="broken", value=value, effect="NoSchedule")
    broken = devices.resource_slice("of-n", devices.device("d0", taints=(taint,)), node="n")
    found = asking(devices.claim("c", devices.exactly("r")), devices.device_class(), broken)
    assert f"claim default/c: tolerations of r none → {tolerated} (make it again)" in found
    assert not [each for each in found if "every key" in each]


def test_another_class_of_devices_or_one_that_is_missing() -> None:
    wanted = devices.claim("c", devices.exactly("r", of="gone"))
    assert "create deviceclass gone" in asking(wanted, has("d0"))
    other = "claim default/c: device class of r gone → gpu (make it again)"
    assert other in asking(wanted, devices.device_class(), has("d0"))


def test_one_more_node_has_devices_like_its_own() -> None:
    mine = devices.claim("mine", holds=["n/d0"], on="n", users=["holder"])
    holder = using("holder", "mine", on="n")
    told_of = asking(devices.claim("c"), devices.device_class(), has("d0"), mine, holder)
    assert "add 1 node like n; with devices like its own" in told_of
    assert "delete pod default/holder on n (bare pod, no controller)" in told_of


def test_a_claim_of_devices_that_is_missing_is_made_of_the_class_that_has_them() -> None:
    there = [devices.device_class("none", "false"), devices.device_class(), has("d0")]
    best = told(make_node("n").obj(), *there, using("p", "c"))
    assert best == ["create claim default/c with one device of class gpu"]
    taken = devices.claim("mine", holds=["n/d0"], on="n", users=["holder"])
    held = told(
        make_node("n").obj(), *there, taken, using("holder", "mine", on="n"), using("p", "c")
    )
    made = "create claim default/c with one device of class gpu, and "
    assert f"{made}delete pod default/holder on n (bare pod, no controller)" in held
    assert f"{made}add 1 node like n; with devices like its own" in held


def test_a_claim_that_no_class_gives_devices_is_dropped() -> None:
    use = ResourceClaimName(name="devices")
    container = Container(name="main", resources=ResourceRequirements(claims=(use,)))
    pod = using("p", "c")
    pod = replace(pod, spec=replace(pod.spec, containers=(container,)))
    for given in ([], [devices.device_class()]):
        found = found_for([make_node("n").obj(), *given, pod], "default/p").answers
        assert [each.sentence for each in found] == [DROPPED]
        assert node_after([make_node("n").obj(), *given, pod], found[0], "default/p") == "n"
    tainted = make_node("n").taint("a", "b", "NoSchedule").obj()
    assert f"{DROPPED}, and let pod default/p tolerate a=b:NoSchedule" in told(tainted, pod)


def test_a_template_that_is_missing_is_made_and_the_claim_comes_from_it() -> None:
    there = [make_node("n").obj(), devices.device_class(), has("d0"), from_template("p", "t")]
    assert told(*there) == ["create claim template default/t with one device of class gpu"]


def test_where_nobody_makes_claims_from_templates_the_claim_is_made_from_its_own() -> None:
    template = ResourceClaimTemplate(
        metadata=ObjectMeta(name="t", namespace="default"),
        spec=ResourceClaimTemplateSpec(spec=devices.claim().spec),
    )
    there = [devices.device_class(), has("d0"), template, from_template("p", "t")]
    given = [make_node("n").obj(), *there]
    options = RunOptions(timing=Timing(kubelet_start_ns=None))
    found = last(unblock(Trials(given, options), "default/p")).answers
    assert [each.sentence.partition("devices-")[2][5:] for each in found] == [" from its template"]
    changes = [read_line(line_of(change)) for change in found[0].changes]
    assert trial(apply(given, changes), options).of("default/p").node == "n"


def test_a_missing_claim_that_is_found_out_in_a_cycle_is_made_too() -> None:
    plugins = {"preEnqueue": {"disabled": [{"name": "DynamicResources"}]}}
    text = json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
        }
    )
    options = RunOptions(configuration=load_configuration(text))
    given = [make_node("n").obj(), devices.device_class(), has("d0"), using("p", "c")]
    trials = Trials(given, options)
    assert "could not find ResourceClaim" in trials.as_it_is.of("default/p").message
    best = last(unblock(trials, "default/p")).answers[0]
    assert best.sentence == "create claim default/c with one device of class gpu"


@pytest.mark.parametrize("level", [0, 7])
def test_a_priority_class_that_is_missing_is_made_above_who_runs(level: int) -> None:
    low = make_pod("low").cpu(4).priority(level).on("n").phase("Running").obj()
    pod = make_pod("p").cpu(4).priority_class("urgent").obj()
    told_of = told(make_node("n").cpu(4).obj(), low, pod)
    assert any(each.startswith("create priorityclass urgent") for each in told_of)
