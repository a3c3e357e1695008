from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.api import (
    AWSElasticBlockStoreVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaim,
    Pod,
    RBDVolumeSource,
    Volume,
)
from scheduler_core.framework.events import EventResource, QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from tests.builders import make_node, make_pod
from tests.plugins.harness import World
from tests.plugins.placement import Cycle
from tests.plugins.storage import claim, uses

DISK = (Code.UNSCHEDULABLE, ("node(s) had no available disk",))
IN_USE = (
    Code.UNSCHEDULABLE,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod",
    ),
)
ALONE = claim("c", modes=["ReadWriteOncePod"])


def gce(name: str = "d", *, read_only: Any = False) -> Volume:
    source = GCEPersistentDiskVolumeSource(pd_name=name, read_only=read_only)
    return Volume(name="v", gce_persistent_disk=source)


def aws(name: str = "d") -> Any:
    source = AWSElasticBlockStoreVolumeSource(volume_id=name, read_only=True)
    return Volume(name="v", aws_elastic_block_store=source)


def iscsi(iqn: Any = "i", portal: Any = "p", *, read_only: Any = False) -> Any:
    source = ISCSIVolumeSource(iqn=iqn, target_portal=portal, read_only=read_only)
    return Volume(name="v", iscsi=source)


def rbd(monitors: Any = "ab", pool: Any = "", image: Any = "i", *, read_only: Any = False) -> Any:
    source = RBDVolumeSource(monitors=tuple(monitors), pool=pool, image=image, read_only=read_only)
    return Volume(name="v", rbd=source)


def cycle(
    *objects: PersistentVolumeClaim | Pod, volumes: Sequence[Volume], namespace: Any = "default"
) -> Cycle:
    world = World(make_node("a").obj(), make_node("b").obj(), *objects)
    incoming = make_pod("p").volumes(*volumes).namespace(namespace).obj()
    return Cycle(world, VolumeRestrictions(world), incoming)


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        (gce(), gce(), True),
        (gce(), gce("other"), False),
        (gce(read_only=True), gce(read_only=True), False),
        (gce(read_only=True), gce(), True),
        (aws(), aws(), True),
        (aws(), aws("other"), False),
        (aws(), gce(), False),
        (iscsi(), iscsi(portal="q"), True),
        (iscsi(), iscsi("other"), False),
        (iscsi(read_only=True), iscsi(read_only=True), False),
        (iscsi(read_only=True), iscsi(), True),
        (rbd("ab"), rbd("bc"), True),
        (rbd("ab"), rbd("cd"), False),
        (rbd(pool="x"), rbd(pool="y"), False),
        (rbd(pool=""), rbd(pool="rbd"), True),
        (rbd(image="x"), rbd(image="y"), False),
        (rbd(read_only=True), rbd(read_only=True), False),
        (rbd(read_only=True), rbd(), True),
    ],
)
def test_disks(mine: Volume, theirs: Volume, conflict: bool) -> None:
    found = cycle(make_pod("x").on("a").volumes(theirs).obj(), volumes=[mine])
    assert found.rejects() == ({"a": DISK} if conflict else {})


def test_a_claim_used_in_another_namespace_is_another_claim() -> None:
    user = make_pod("x").on("a").claim("c").namespace("other").obj()
    assert cycle(ALONE, user, volumes=uses("c")).status.is_skip


def test_hypothetical_users_count_by_the_claims_name_alone() -> None:
    """Upstream does not look at their namespace there, and counts every volume."""
    user = make_pod("x").on("a").claim("c").obj()
    found = cycle(ALONE, user, volumes=uses("c"))
    stranger = make_pod("y").claim("c").namespace("other").obj()
    assert found.rejects_if("a", removed=[stranger]) == {"b": IN_USE}
    twice = make_pod("z").claim("c").claim("c").obj()
    assert found.rejects_if("a", removed=[user], added=[twice]).keys() == {"a", "b"}


def test_a_disk_conflict_is_told_first() -> None:
    user = make_pod("x").on("a").volumes(*uses("c"), gce()).obj()
    assert cycle(ALONE, user, volumes=(*uses("c"), gce())).rejects() == {"a": DISK, "b": IN_USE}


def test_a_missing_claim() -> None:
    status = cycle(volumes=uses("c")).status
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.message == 'persistentvolumeclaim "c" not found'


QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


@pytest.mark.parametrize(
    ("gone", "hint"),
    [
        (make_pod("x").on("a").volumes(gce()).obj(), QUEUE),
        (make_pod("x").on("a").volumes(gce("other")).obj(), SKIP),
        (make_pod("x").on("a").volumes(gce()).namespace("other").obj(), SKIP),
        (make_pod("x").on("a").claim("c").obj(), QUEUE),
        (make_pod("x").on("a").claim("d").obj(), SKIP),
    ],
)
def test_pod_hints(gone: Pod, hint: QueueingHint) -> None:
    found = cycle(ALONE, volumes=(*uses("c"), gce()))
    events = {each.event.resource: each.hint for each in found.plugin.events_to_register()}
    assert events[EventResource.NODE] is None
    assert events[EventResource.POD](found.info, found.world.info(gone), None) is hint


@pytest.mark.parametrize(
    ("new", "hint"),
    [(claim("c"), QUEUE), (claim("d"), SKIP), (claim("c", namespace="other"), SKIP)],
)
def test_claim_hints(new: PersistentVolumeClaim, hint: QueueingHint) -> None:
    found = cycle(ALONE, volumes=uses("c"))
    assert found.plugin.is_schedulable_after_claim_added(found.info, None, new) is hint
