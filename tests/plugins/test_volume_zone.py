from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim, StorageClass, Volume
from scheduler_core.framework.events import EventResource, QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.volume_zone import VolumeZone
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, rejected
from tests.plugins.placement import ZONE, Cycle
from tests.plugins.storage import claim, ephemeral, storage_class, uses, volume

REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
CLAIM = uses("c")
GRAVE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
CONFLICT = (GRAVE, ("node(s) had no available volume zone",))


def cycle(
    *objects: PersistentVolume | PersistentVolumeClaim | StorageClass,
    labels: Mapping[str, str] | None = None,
    volumes: Sequence[Volume] = CLAIM,
) -> Cycle:
    world = World(make_node("n").labels(labels or {}).obj(), *objects)
    return Cycle(world, VolumeZone(world), make_pod("p").volumes(*volumes).obj())


def labelled(**labels: str) -> list[PersistentVolume | PersistentVolumeClaim]:
    return [volume("v", labels=labels), claim("c", volume="v")]


@pytest.mark.parametrize(
    ("labels", "node_labels", "fits"),
    [
        ({ZONE: "z1"}, {ZONE: "z1"}, True),
        ({ZONE: "z1"}, {ZONE: "z2"}, False),
        ({ZONE: "z1__z2"}, {ZONE: "z2"}, True),
        ({ZONE: "z1__ z2 "}, {ZONE: "z2"}, True),
        ({ZONE: "z1__z2"}, {ZONE: "z3"}, False),
        ({ZONE: "z1"}, {}, True),
        ({ZONE: "z1"}, {"other": "z2"}, True),
        ({ZONE: "z1"}, {REGION: "r1"}, False),
        ({REGION: "r1", ZONE: "z1"}, {REGION: "r1", ZONE: "z1"}, True),
        ({REGION: "r1", ZONE: "z1"}, {REGION: "r2", ZONE: "z1"}, False),
        ({BETA_ZONE: "z1"}, {BETA_ZONE: "z1"}, True),
        ({BETA_ZONE: "z1"}, {ZONE: "z1"}, True),
        ({BETA_ZONE: "z1"}, {ZONE: "z2"}, False),
        ({BETA_ZONE: "z1"}, {BETA_ZONE: "z2", ZONE: "z1"}, False),
        ({BETA_REGION: "r1"}, {REGION: "r1"}, True),
        ({ZONE: "z1"}, {BETA_ZONE: "z1"}, False),
    ],
)
def test_zones_and_regions(
    labels: Mapping[str, str], node_labels: Mapping[str, str], fits: bool
) -> None:
    found = cycle(*labelled(**labels), labels=node_labels)
    assert found.rejects() == ({} if fits else {"n": CONFLICT})


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        (labelled(**{ZONE: "z1"}), {"n": CONFLICT}),
        (labelled(**{ZONE: "z2"}), {}),
        ([], {"n": (GRAVE, ('persistentvolumeclaim "c" not found',))}),
    ],
)
def test_without_pre_filter_the_volumes_are_looked_up_by_filter(
    objects: list[PersistentVolume | PersistentVolumeClaim], expected: object
) -> None:
    world = World(make_node("n").labels({ZONE: "z2"}).obj(), *objects)
    incoming, nodes = world.info(make_pod("p").volumes(*CLAIM).obj()), world.all_nodes()
    assert rejected(VolumeZone(world).filter(None, incoming, nodes), nodes) == expected


def test_without_pre_filter_a_pod_without_volumes_fits() -> None:
    world = World(make_node("n").labels({ZONE: "z2"}).obj())
    incoming, nodes = world.info(make_pod("p").obj()), world.all_nodes()
    assert rejected(VolumeZone(world).filter(None, incoming, nodes), nodes) == {}


@pytest.mark.parametrize(
    ("objects", "volumes"),
    [
        ([], ()),
        ([], (ephemeral(),)),
        (labelled(), uses("c")),
        (labelled(**{ZONE: "z1____z2"}), uses("c")),
        ([claim("c"), storage_class()], uses("c")),
    ],
)
def test_without_zoned_volumes_it_skips(
    objects: Sequence[PersistentVolume | PersistentVolumeClaim | StorageClass],
    volumes: Sequence[Volume],
) -> None:
    assert cycle(*objects, volumes=volumes).status.is_skip


@pytest.mark.parametrize(
    ("objects", "volumes", "message"),
    [
        ([], uses("c"), 'persistentvolumeclaim "c" not found'),
        ([], uses(""), "PersistentVolumeClaim had no name"),
        ([claim("c", volume="v")], uses("c"), 'persistentvolume "v" not found'),
        (
            [claim("c", None)],
            uses("c"),
            "PersistentVolumeClaim had no pv name and storageClass name",
        ),
        ([claim("c")], uses("c"), 'storageclass.storage.k8s.io "wait" not found'),
        (
            [claim("c"), storage_class(mode="Immediate")],
            uses("c"),
            "PersistentVolume had no name",
        ),
    ],
)
def test_claims_that_lead_to_no_volume(
    objects: Sequence[PersistentVolumeClaim | StorageClass], volumes: Sequence[Volume], message: str
) -> None:
    status = cycle(*objects, volumes=volumes).status
    assert (status.code, status.message) == (GRAVE, message)


QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP


@pytest.mark.parametrize(
    ("resource", "old", "new", "hint"),
    [
        (EventResource.STORAGE_CLASS, None, storage_class(), QUEUE),
        (EventResource.STORAGE_CLASS, None, storage_class(mode="Immediate"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("c"), QUEUE),
        (EventResource.PERSISTENT_VOLUME_CLAIM, claim("c"), claim("c", volume="v"), QUEUE),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("d"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("c", namespace="x"), SKIP),
        (EventResource.PERSISTENT_VOLUME, None, volume("v"), QUEUE),
        (EventResource.PERSISTENT_VOLUME, volume("v"), volume("v", labels={ZONE: "z"}), QUEUE),
        (EventResource.PERSISTENT_VOLUME, volume("v"), volume("v", labels={"x": "z"}), SKIP),
    ],
)
def test_hints(
    resource: EventResource,
    old: PersistentVolume | PersistentVolumeClaim | None,
    new: PersistentVolume | PersistentVolumeClaim | StorageClass,
    hint: QueueingHint,
) -> None:
    found = cycle()
    events = {each.event.resource: each.hint for each in found.plugin.events_to_register()}
    assert events[EventResource.NODE] is None
    assert events[resource](found.info, old, new) is hint
