from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    GCEPersistentDiskVolumeSource,
    InTreeDiskSource,
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Volume,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VsphereVirtualDiskVolumeSource,
)
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.framework.events import ActionType, EventResource, HintFn, QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, rejected
from tests.plugins.placement import Cycle
from tests.plugins.storage import (
    DRIVER,
    claim,
    csi_driver,
    csi_node,
    ephemeral,
    storage_class,
    uses,
    volume,
)

NEW = uses("new")
FULL = (Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))
EBS = "ebs.csi.aws.com"


def bound(*names: str, driver: str = DRIVER) -> list[PersistentVolume | PersistentVolumeClaim]:
    """Return claims bound to CSI volumes of their own."""
    claims = [claim(name, volume=f"v-{name}") for name in names]
    return [*claims, *(volume(f"v-{name}", driver=driver) for name in names)]


def attached(name: str, to: str = "a", attacher: str = DRIVER) -> VolumeAttachment:
    source = VolumeAttachmentSource(persistent_volume_name=name)
    return VolumeAttachment(
        metadata=ObjectMeta(name=f"{name}-{to}"),
        spec=VolumeAttachmentSpec(attacher=attacher, node_name=to, source=source),
    )


def ebs(name: str = "vol-1") -> Volume:
    return Volume(
        name=name, aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=name)
    )


def cycle(
    *objects: Any,
    volumes: Sequence[Volume] = NEW,
    limits: dict[str, int | None] | None = None,
    features: FeatureGates | None = None,
) -> Cycle:
    """Return the cycle of a pod on node a, which has those limits, and on b, which has none."""
    world = World(
        make_node("a").obj(),
        make_node("b").obj(),
        csi_node("a", {DRIVER: 2} if limits is None else limits),
        *objects,
        features=features,
    )
    return Cycle(world, NodeVolumeLimits(world), make_pod("p").volumes(*volumes).obj())


def test_distinct_volumes_of_the_node_and_the_pod_add_up() -> None:
    objects = [*bound("x", "y", "new"), make_pod("one").on("a").claim("x").obj()]
    assert cycle(*objects).rejects() == {}
    objects.append(make_pod("two").on("a").claim("y").obj())
    assert cycle(*objects).rejects() == {"a": FULL}
    assert cycle(*objects, limits={DRIVER: 3}).rejects() == {}
    assert cycle(*objects, limits={DRIVER: None}).rejects() == {}
    assert cycle(*objects, limits={"other": 0}).rejects() == {}
    of_no_node = csi_node("gone", {DRIVER: 0})
    assert cycle(*objects, of_no_node, limits={DRIVER: 3}).rejects() == {}


def test_without_pre_filter_the_volumes_are_looked_up_by_filter() -> None:
    mounting = make_pod("old").on("a").volumes(*uses("old")).obj()
    world = World(make_node("a").obj(), csi_node("a", {DRIVER: 1}), mounting, *bound("old", "new"))
    nodes = world.all_nodes()
    for volumes, expected in ((NEW, {"a": FULL}), ((), {})):
        incoming = world.info(make_pod("p").volumes(*volumes).obj())
        assert rejected(NodeVolumeLimits(world).filter(None, incoming, nodes), nodes) == expected


def test_attachments_count_beside_pods() -> None:
    objects = [*bound("x", "y", "new"), make_pod("one").on("a").claim("x").obj()]
    assert cycle(*objects, attached("v-x")).rejects() == {}
    assert cycle(*objects, attached("v-y")).rejects() == {"a": FULL}
    assert cycle(*objects, attached("v-y", to="b")).rejects() == {}
    assert cycle(*objects, attached("v-gone")).rejects() == {}
    assert cycle(*objects, attached("v-y", attacher="")).rejects() == {}


def test_an_attached_volume_of_the_pod_counts_twice_as_upstream_has_it() -> None:
    objects = [*bound("x", "new"), make_pod("one").on("a").claim("x").obj(), attached("v-new")]
    assert cycle(*objects).rejects() == {"a": FULL}


@pytest.mark.parametrize(
    ("mine", "limits", "full"),
    [
        ([ebs()], {EBS: 0}, True),
        ([ebs("aws://zone/vol-1")], {EBS: 0}, True),
        ([ebs()], {EBS: 1}, False),
        ([ebs()], {DRIVER: 0}, False),
        (
            [Volume(name="g", gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name="d"))],
            {"pd.csi.storage.gke.io": 0},
            True,
        ),
        (
            [Volume(name="z", azure_disk=AzureDiskVolumeSource(disk_uri="/d"))],
            {"disk.csi.azure.com": 0},
            True,
        ),
        (
            [Volume(name="s", vsphere_volume=VsphereVirtualDiskVolumeSource(volume_path="p"))],
            {"csi.vsphere.vmware.com": 0},
            False,
        ),
    ],
)
def test_disks_of_migrated_plugins_count_as_their_drivers(
    mine: Sequence[Volume], limits: dict[str, int | None], full: bool
) -> None:
    assert cycle(volumes=mine, limits=limits).rejects() == ({"a": FULL} if full else {})


def test_migrated_volumes_and_inline_disks_may_be_the_same_one() -> None:
    disk = volume("v", aws_elastic_block_store=InTreeDiskSource(volume_id="aws://z/vol-1"))
    objects = [disk, claim("x", volume="v"), make_pod("one").on("a").claim("x").obj()]
    assert cycle(*objects, volumes=[ebs("vol-1")], limits={EBS: 1}).rejects() == {}
    assert cycle(*objects, volumes=[ebs("vol-2")], limits={EBS: 1}).rejects() == {"a": FULL}
    pending = [claim("new"), storage_class(provisioner="kubernetes.io/aws-ebs")]
    assert cycle(*objects, *pending, limits={EBS: 1}).rejects() == {"a": FULL}


def test_a_zoned_disk_is_named_after_its_zone() -> None:
    zone = "topology.kubernetes.io/zone"
    disk = InTreeDiskSource(pd_name="d")
    one_zone = volume("v1", gce_persistent_disk=disk, labels={zone: "us-east1-b"})
    regional = volume("v2", gce_persistent_disk=disk, labels={zone: "us-east1-b__us-east1-c"})
    muddled = volume("v3", gce_persistent_disk=disk, labels={zone: "us-east1-b__eu-west1-c"})
    claims = [claim(f"c{i}", volume=f"v{i}") for i in (1, 2, 3)]
    user = make_pod("one").on("a").claim("c1").claim("c2").claim("c3").obj()
    inline = Volume(name="g", gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name="d"))
    objects = [one_zone, regional, muddled, *claims, user]
    driver = "pd.csi.storage.gke.io"
    assert cycle(*objects, volumes=[inline], limits={driver: 2}).rejects() == {"a": FULL}
    assert cycle(*objects, volumes=[inline], limits={driver: 3}).rejects() == {}


def test_problems_with_claims() -> None:
    missing = cycle()
    text = 'looking up PVC default/new: persistentvolumeclaim "new" not found'
    grave = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert missing.rejects() == {"a": (grave, (text,)), "b": (grave, (text,))}
    foreign = cycle(claim("p-scratch"), volumes=[ephemeral()])
    text = "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
    assert foreign.rejects()["a"] == (Code.ERROR, (text,))
    theirs = [claim("one-scratch"), make_pod("one").on("a").volumes(ephemeral()).obj()]
    code, texts = cycle(*theirs, *bound("new")).rejects()["a"]
    assert code is Code.ERROR
    assert "not created for pod default/one" in texts[0]
    assert cycle(*bound("new"), make_pod("one").on("a").claim("gone").obj()).rejects() == {}
    broken = cycle(volumes=[ebs("aws://zone/disk")], limits={EBS: 5}).rejects()
    assert broken.keys() == {"a"}
    assert broken["a"][1][0].startswith("converting volume(aws://zone/disk) from inline to csi: ")


def test_a_missing_driver_matters_with_its_gate() -> None:
    gate = feature_gates({"VolumeLimitScaling": True})
    wants = csi_driver(prevent_pod_scheduling_if_missing=True)
    text = f"{DRIVER} CSI driver is not installed on the node"
    found = cycle(*bound("new"), wants, features=gate)
    assert found.rejects() == {"b": (Code.UNSCHEDULABLE, (text,))}
    assert cycle(*bound("new"), wants).rejects() == {}
    assert cycle(*bound("new"), csi_driver(), features=gate).rejects() == {}


def test_hypothetical_pods_bring_and_take_their_volumes() -> None:
    victim = make_pod("one").on("a").claim("x").claim("y").obj()
    world = [*bound("x", "y", "new"), victim]
    found = cycle(*world)
    assert found.rejects() == {"a": FULL}
    assert found.rejects_if("a", removed=[victim]) == {}
    guest = make_pod("guest").claim("x").claim("y").obj()
    assert cycle(*bound("x", "y", "new")).rejects_if("a", added=[guest]) == {"a": FULL}


# ---------------------------------------------------------------- kept from cycle to cycle

steps = st.lists(
    st.one_of(
        st.tuples(st.just("place"), st.integers(0, 5), st.sampled_from("ab")),
        st.tuples(st.just("remove"), st.integers(0, 5), st.just("")),
        st.tuples(st.just("bind"), st.integers(0, 5), st.sampled_from(["s", "t", ""])),
        st.tuples(st.just("attach"), st.integers(0, 5), st.sampled_from("ab")),
        st.tuples(st.just("limit"), st.integers(0, 3), st.sampled_from("ab")),
    ),
    max_size=10,
)


@given(steps)
def test_what_is_kept_equals_what_is_counted_afresh(steps: Sequence[tuple[str, int, str]]) -> None:
    """Claims c0..c5 come bound to volume s or t, or unbound; pods come and go."""
    objects: dict[str, KubeObject] = {"class": storage_class()}
    objects |= {f"claim{i}": claim(f"c{i}") for i in range(6)}
    objects |= {name: volume(name, driver=DRIVER) for name in "st"}
    pods = {}
    world = World(make_node("a").obj(), make_node("b").obj(), *objects.values())
    veteran = NodeVolumeLimits(world)
    incoming = make_pod("p").claim("c0").claim("c1").obj()
    for action, number, where in steps:
        key = f"{action}{number}{where}"
        if action == "place" and number not in pods:
            pods[number] = make_pod(f"p{number}").on(where).volumes(*uses(f"c{number}")).obj()
            world.add(pods[number])
        elif action == "remove" and number in pods:
            gone = pods.pop(number)
            world.cluster.remove_pod(world.info(gone), gone.spec.node_name)
        elif action == "bind":
            objects[f"claim{number}"] = claim(f"c{number}", volume=where)
            world.add(objects[f"claim{number}"])
        elif action == "attach":
            objects[key] = attached("st"[number % 2], where)
            world.add(objects[key])
        elif action == "limit":
            objects[f"limit{where}"] = csi_node(where, {DRIVER: number})
            world.add(objects[f"limit{where}"])
        fresh = World(make_node("a").obj(), make_node("b").obj(), *objects.values(), *pods.values())
        kept, new = (
            Cycle(each, plugin, incoming).rejects()
            for each, plugin in ((world, veteran), (fresh, NodeVolumeLimits(fresh)))
        )
        assert kept == new


# ---------------------------------------------------------------- hints

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


def hint_of(found: Cycle, resource: EventResource, action: ActionType) -> HintFn | None:
    for each in found.plugin.events_to_register():
        if each.event.resource is resource and each.event.action == action:
            hint: HintFn | None = each.hint
            return hint
    raise LookupError(resource)


@pytest.mark.parametrize(
    ("gone", "hint"),
    [
        (make_pod("x").on("a").claim("c").obj(), QUEUE),
        (make_pod("x").on("a").volumes(ephemeral()).obj(), QUEUE),
        (make_pod("x").on("a").volumes(ebs()).obj(), QUEUE),
        (make_pod("x").on("a").obj(), SKIP),
        (make_pod("x").claim("c").obj(), SKIP),
        (make_pod("x").claim("c").nominated("a").obj(), QUEUE),
    ],
)
def test_pod_hints(gone: Pod, hint: QueueingHint) -> None:
    found = cycle(*bound("new"))
    ask = hint_of(found, EventResource.POD, ActionType.DELETE)
    assert ask is not None
    assert ask(found.info, found.world.info(gone), None) is hint


@pytest.mark.parametrize(
    ("volumes", "new", "hint"),
    [
        (uses("c"), claim("c"), QUEUE),
        (uses("c"), claim("d"), SKIP),
        (uses("c"), claim("c", namespace="other"), SKIP),
        ((ephemeral(),), claim("p-scratch"), QUEUE),
    ],
)
def test_claim_hints(
    volumes: Sequence[Volume], new: PersistentVolumeClaim, hint: QueueingHint
) -> None:
    found = cycle(claim("c"), volumes=volumes)
    ask = hint_of(found, EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
    assert ask is not None
    assert ask(found.info, None, new) is hint


@pytest.mark.parametrize(
    ("volumes", "attacher", "hint"),
    [
        (uses("c"), DRIVER, QUEUE),
        ((ebs(),), EBS, QUEUE),
        ((ebs(),), DRIVER, SKIP),
        ((ephemeral(),), DRIVER, SKIP),
    ],
)
def test_attachment_hints(volumes: Sequence[Volume], attacher: str, hint: QueueingHint) -> None:
    found = cycle(claim("c"), volumes=volumes)
    ask = hint_of(found, EventResource.VOLUME_ATTACHMENT, ActionType.DELETE)
    assert ask is not None
    assert ask(found.info, attached("v", attacher=attacher), None) is hint


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ({DRIVER: 1}, {DRIVER: 2}, QUEUE),
        ({DRIVER: 2}, {DRIVER: 1}, SKIP),
        ({DRIVER: 1}, {DRIVER: 1}, SKIP),
        ({}, {DRIVER: 1}, QUEUE),
        ({}, {DRIVER: None}, SKIP),
    ],
)
def test_csi_node_hints(
    old: dict[str, int | None], new: dict[str, int | None], hint: QueueingHint
) -> None:
    found = cycle(*bound("new"))
    ask = hint_of(found, EventResource.CSI_NODE, ActionType.UPDATE)
    assert ask is not None
    assert ask(found.info, csi_node("a", old), csi_node("a", new)) is hint
    assert hint_of(found, EventResource.CSI_NODE, ActionType.ADD) is None
