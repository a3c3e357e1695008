from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    CSIStorageCapacity,
    CSIVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    TopologySelectorTerm,
    Volume,
)
from scheduler_core.config.features import feature_gates
from scheduler_core.config.types import UtilizationShapePoint, VolumeBindingArgs
from scheduler_core.framework.events import EventResource, QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.volume_binding import VolumeBinding
from tests.builders import make_pod
from tests.plugins.harness import World
from tests.plugins.placement import HOST, ZONE, Cycle, selector
from tests.plugins.storage import (
    MADE_ON_DEMAND,
    ONLY_STATIC,
    claim,
    csi_driver,
    csi_node,
    ephemeral,
    nodes,
    pool,
    storage_class,
    uses,
    volume,
)
from tests.plugins.storage import (
    binding_cycle as cycle,
)

# ---------------------------------------------------------------- scoring

GATES = feature_gates({"StorageCapacityScoring": True})
RISING = VolumeBindingArgs(
    shape=(
        UtilizationShapePoint(utilization=0, score=0),
        UtilizationShapePoint(utilization=100, score=10),
    )
)
FALLING = VolumeBindingArgs(
    shape=(
        UtilizationShapePoint(utilization=0, score=10),
        UtilizationShapePoint(utilization=100, score=0),
    )
)


def test_without_its_gate_it_does_not_score() -> None:
    assert cycle(volume("v"), claim("c"), ONLY_STATIC, volumes=uses("c")).scores() is None


@pytest.mark.parametrize(
    ("args", "scores"), [(RISING, {"a": 25, "b": 50}), (FALLING, {"a": 75, "b": 50})]
)
def test_volumes_of_close_capacity_score_higher(
    args: VolumeBindingArgs, scores: Mapping[str, int]
) -> None:
    volumes = [volume("va", size="200Gi", hosts=["a"]), volume("vb", size="100Gi", hosts=["b"])]
    found = cycle(
        *volumes,
        claim("c", size="50Gi"),
        ONLY_STATIC,
        volumes=uses("c"),
        args=args,
        features=GATES,
    )
    assert found.scored("a", "b")[0] == scores


def pools(**capacities: str) -> list[CSIStorageCapacity]:
    return [pool(name, selector((HOST, "In", name)), size) for name, size in capacities.items()]


@pytest.mark.parametrize(
    ("claims", "static", "scores"),
    [
        ([claim("c", size="10Gi")], [], {"a": 10, "b": 20, "c": 100}),
        ([claim("c", size="5Gi"), claim("d", size="5Gi")], [], {"a": 10, "b": 20, "c": 100}),
        (
            [claim("c", size="10Gi"), claim("d", "hdd", size="50Gi")],
            [volume("v", "hdd", size="100Gi")],
            {"a": 50, "b": 50, "c": 50},
        ),
    ],
)
def test_pools_that_get_full_score_higher(
    claims: Sequence[PersistentVolumeClaim],
    static: Sequence[PersistentVolume],
    scores: Mapping[str, int],
) -> None:
    found = cycle(
        *pools(a="100Gi", b="50Gi", c="10Gi"),
        *claims,
        *static,
        csi_driver(storage_capacity=True),
        MADE_ON_DEMAND,
        storage_class("hdd"),
        volumes=uses(*(each.name for each in claims)),
        args=RISING,
        features=GATES,
    )
    assert found.scored()[0] == scores


def test_with_its_gate_a_pod_without_claims_scores_zero() -> None:
    assert cycle(volumes=(), args=RISING, features=GATES).scored("a", "b")[0] == {"a": 0, "b": 0}


# ---------------------------------------------------------------- reserving and binding


def reserve(found: Cycle, name: str) -> Any:
    state = found.state if found.prepared else None
    assert found.plugin.reserve(state, found.info, name).is_success
    return state


def test_an_outside_change_ends_what_was_assumed() -> None:
    found = cycle(volume("v"), claim("c"), claim("d"), ONLY_STATIC, volumes=uses("c"))
    reserve(found, "a")
    found.world.add(volume("v", labels={"touched": ""}))
    assert Cycle(found.world, found.plugin, make_pod("q").claim("d").obj()).fits() != []


def test_pre_bind_makes_a_volume_where_it_is_needed() -> None:
    on_b = csi_node("b", {"csi.example.com": None})
    drivers = tuple(replace(each, topology_keys=(ZONE,)) for each in on_b.spec.drivers)
    on_b = replace(on_b, spec=replace(on_b.spec, drivers=drivers))
    found = cycle(claim("c"), MADE_ON_DEMAND, on_b, volumes=uses("c"))
    state = reserve(found, "b")
    assert found.plugin.pre_bind(state, found.info, "b").is_success
    bound = found.world.objects.get(PersistentVolumeClaim, "default/c")
    assert bound is not None
    made = found.world.objects.get(PersistentVolume, bound.spec.volume_name)
    assert made is not None
    assert made.spec.csi is not None
    assert made.spec.csi.driver == "csi.example.com"
    assert Cycle(found.world, found.plugin, make_pod("q").claim("c").obj()).fits() == ["b"]


def written_by_pre_bind(found: Cycle, name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is stored, in order, each with what it says of the binding."""
    state, store, seen = reserve(found, name), found.world.write, []

    def write(item: Any) -> None:
        if isinstance(item, PersistentVolume):
            named = item.spec.claim_ref
            seen.append(f"volume for {named and named.name}, {item.status.phase}")
        else:
            seen.append(f"claim of {item.spec.volume_name or 'none'}, {item.status.phase}")
        store(item)

    monkeypatch.setattr(found.world, "write", write)
    assert found.plugin.pre_bind(state, found.info, name).is_success
    return seen


@pytest.mark.parametrize(
    ("objects", "written"),
    [
        (
            (claim("c"), MADE_ON_DEMAND),
            ["claim of none, ", "volume for c, Bound", "claim of pvc-default-c, Bound"],
        ),
        (
            (volume("v"), claim("c"), ONLY_STATIC),
            ["volume for c, Available", "volume for c, Bound", "claim of v, Bound"],
        ),
    ],
)
def test_the_scheduler_writes_first_and_the_controllers_after_it(
    objects: Any, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parked pods hear of each write, so what wakes them depends on it."""
    found = cycle(*objects, volumes=uses("c"))
    assert written_by_pre_bind(found, "b", monkeypatch) == written


def test_pre_bind_refuses_to_write_over_a_change() -> None:
    found = cycle(volume("v"), claim("c"), ONLY_STATIC, volumes=uses("c"))
    state = reserve(found, "a")
    found.world.add(volume("v", labels={"touched": ""}))
    status = found.plugin.pre_bind(state, found.info, "a")
    assert status.code is Code.ERROR
    assert status.message.startswith('Operation cannot be fulfilled on persistentvolumes "v"')


def test_of_two_pods_that_share_a_claim_the_first_to_write_wins() -> None:
    found = cycle(claim("c"), MADE_ON_DEMAND, volumes=uses("c"))
    other = Cycle(found.world, found.plugin, make_pod("q").claim("c").obj())
    states = [reserve(each, "a") for each in (found, other)]
    assert found.plugin.pre_bind(states[0], found.info, "a").is_success
    late = other.plugin.pre_bind(states[1], other.info, "a")
    assert late.message.startswith(
        'Operation cannot be fulfilled on persistentvolumeclaims "c": the object has been modified'
    )


def test_pre_bind_of_a_volume_that_is_gone() -> None:
    found = cycle(volume("v"), claim("c"), ONLY_STATIC, volumes=uses("c"))
    state = reserve(found, "a")
    found.world.objects.remove(volume("v"))
    status = found.plugin.pre_bind(state, found.info, "a")
    assert status.message == 'persistentvolumes "v" not found'


# ---------------------------------------------------------------- hints

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
ALLOWED = (TopologySelectorTerm(),)


@pytest.mark.parametrize(
    ("resource", "old", "new", "hint"),
    [
        (EventResource.STORAGE_CLASS, None, MADE_ON_DEMAND, QUEUE),
        (
            EventResource.STORAGE_CLASS,
            MADE_ON_DEMAND,
            storage_class(allowed_topologies=ALLOWED),
            QUEUE,
        ),
        (EventResource.STORAGE_CLASS, MADE_ON_DEMAND, storage_class(provisioner="x"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("c"), QUEUE),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("p-scratch"), QUEUE),
        (EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("d"), SKIP),
        (EventResource.PERSISTENT_VOLUME_CLAIM, claim("c"), claim("c", namespace="other"), SKIP),
        (EventResource.CSI_NODE, None, csi_node("a"), QUEUE),
        (EventResource.CSI_NODE, csi_node("a"), csi_node("a", migrated="x"), QUEUE),
        (EventResource.CSI_NODE, csi_node("a", migrated="x"), csi_node("a", {"d": 1}, "x"), SKIP),
        (EventResource.CSI_DRIVER, csi_driver("d", storage_capacity=True), csi_driver("d"), QUEUE),
        (EventResource.CSI_DRIVER, csi_driver("d"), csi_driver("d", storage_capacity=True), SKIP),
        (EventResource.CSI_DRIVER, csi_driver("e", storage_capacity=True), csi_driver("e"), SKIP),
        (EventResource.CSI_STORAGE_CAPACITY, None, pool("p", None), QUEUE),
        (EventResource.CSI_STORAGE_CAPACITY, pool("p", None), pool("p", None, "1Gi"), QUEUE),
        (EventResource.CSI_STORAGE_CAPACITY, pool("p", None, "1Gi"), pool("p", None, "2Gi"), QUEUE),
        (
            EventResource.CSI_STORAGE_CAPACITY,
            pool("p", None, "9Gi"),
            pool("p", None, "9Gi", "2Gi"),
            SKIP,
        ),
        (EventResource.CSI_STORAGE_CAPACITY, pool("p", None, "2Gi"), pool("p", None), SKIP),
    ],
)
def test_hints(resource: EventResource, old: Any, new: Any, hint: QueueingHint) -> None:
    inline = Volume(name="i", csi=CSIVolumeSource(driver="d"))
    world = World(*nodes())
    plugin = VolumeBinding(VolumeBindingArgs(), world)
    pod = world.info(make_pod("p").volumes(*uses("c"), ephemeral(), inline).obj())
    events = {each.event.resource: each.hint for each in plugin.events_to_register()}
    assert events[EventResource.PERSISTENT_VOLUME] is None
    assert events[EventResource.NODE] is None
    registered = events[resource]
    assert registered is not None
    assert registered(pod, old, new) is hint
