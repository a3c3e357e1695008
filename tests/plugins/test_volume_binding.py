from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.api import (
    CSIDriver,
    CSIStorageCapacity,
    CSIVolumeSource,
    InTreeDiskSource,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
    Volume,
)
from scheduler_core.config.types import VolumeBindingArgs
from scheduler_core.framework.status import Code
from scheduler_core.plugins.volume_binding import VolumeBinding
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, expression, named, rejected, term
from tests.plugins.placement import HOST, ZONE, Cycle, selector
from tests.plugins.storage import (
    MADE_ON_DEMAND,
    ONLY_STATIC,
    claim,
    csi_driver,
    csi_node,
    ephemeral,
    pool,
    storage_class,
    uses,
    volume,
)
from tests.plugins.storage import (
    binding_cycle as cycle,
)

GRAVE = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NO_SPACE = "node(s) did not have enough free storage"
NO_SUCH_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def reasons(found: Cycle) -> dict[str, list[str]]:
    """Return the reasons of every rejected node, all of them beyond repair by preemption."""
    refused = found.rejects()
    assert all(code is GRAVE for code, _ in refused.values())
    return {name: sorted(texts) for name, (_, texts) in refused.items()}


def chosen(found: Cycle, name: str) -> tuple[Any, ...]:
    """Return which volume each claim gets on a node, and the claims to make volumes for."""
    row = found.world.cluster.row_of[name]
    state = found.state
    bound = {claim.name: volume.name for volume, claim in state.static_bindings(row)}
    return bound, [claim.name for claim in state.dynamic_provisions(row)]


# ---------------------------------------------------------------- PreFilter


@pytest.mark.parametrize(
    ("objects", "volumes", "message"),
    [
        ([], uses("c"), 'persistentvolumeclaim "c" not found'),
        ([claim("a", volume="v")], uses("a", "c"), 'persistentvolumeclaim "c" not found'),
        ([claim("c", namespace="other")], uses("c"), 'persistentvolumeclaim "c" not found'),
        (
            [claim("c", volume="v", phase="Lost")],
            uses("c"),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (
            [claim("c", volume="v", deleting=True)],
            uses("c"),
            'persistentvolumeclaim "c" is being deleted',
        ),
        (
            [],
            (ephemeral(),),
            "waiting for ephemeral volume controller to create the "
            'persistentvolumeclaim "p-scratch"',
        ),
        (
            [claim("p-scratch", volume="v")],
            (ephemeral(),),
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
        ),
        (
            [claim("c", "now"), storage_class("now", "Immediate")],
            uses("c"),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        ([claim("c", "gone")], uses("c"), "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", None)], uses("c"), "pod has unbound immediate PersistentVolumeClaims"),
        (
            [claim("c", volume="v", bound=False), ONLY_STATIC],
            uses("c"),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_claims_that_cannot_be_used(
    objects: Sequence[PersistentVolumeClaim | StorageClass], volumes: Sequence[Volume], message: str
) -> None:
    status = cycle(*objects, volumes=volumes).status
    assert (status.code, status.message) == (GRAVE, message)


def test_a_pod_without_claims_skips() -> None:
    assert cycle(volumes=()).status.is_skip
    assert cycle(volumes=(Volume(name="x", csi=CSIVolumeSource(driver="d")),)).status.is_skip


# ---------------------------------------------------------------- bound claims


@pytest.mark.parametrize(
    ("bound", "rejected"),
    [
        (volume("v"), {}),
        (volume("v", hosts=["a", "b"]), {"c": [ELSEWHERE]}),
        (volume("v", hosts=["x"]), {name: [ELSEWHERE] for name in "abc"}),
        (volume("v", terms=[named("a")]), {}),
        (volume("v", terms=[term()]), {name: [ELSEWHERE] for name in "abc"}),
        (
            volume(
                "v", terms=[term(expression(HOST, "In", "a")), term(expression(ZONE, "Exists"))]
            ),
            {},
        ),
        (volume("other"), {name: [NO_SUCH_VOLUME] for name in "abc"}),
    ],
)
def test_a_bound_volume_keeps_its_pod_where_it_can_be_used(
    bound: PersistentVolume, rejected: Mapping[str, Sequence[str]]
) -> None:
    """Only labels count: of the node's name the volume's selector is not told."""
    assert reasons(cycle(bound, claim("c", volume="v"), volumes=uses("c"))) == rejected


def test_the_first_bound_claim_that_fails_gives_the_reason() -> None:
    local = volume("v1", hosts=["a"])
    found = cycle(
        local, claim("c1", volume="v1"), claim("c2", volume="v2"), volumes=uses("c1", "c2")
    )
    assert reasons(found) == {"a": [NO_SUCH_VOLUME], "b": [ELSEWHERE], "c": [ELSEWHERE]}


def test_an_ephemeral_volumes_claim_counts_like_any_other() -> None:
    local = volume("v", hosts=["b"])
    own = claim("p-scratch", volume="v", owner="p")
    assert reasons(cycle(local, own, volumes=(ephemeral(),))).keys() == {"a", "c"}


def test_a_migrated_disk_is_where_its_driver_says() -> None:
    """On b the plugin is migrated, so that the driver's zone label counts there."""
    disk = InTreeDiskSource(volume_id="vol-1")
    zonal = volume(
        "v", terms=[term(expression(ZONE, "In", "z-a", "z-b"))], aws_elastic_block_store=disk
    )
    migrated = [csi_node(name, migrated="kubernetes.io/aws-ebs,more") for name in "bc"]
    world = World(
        make_node("a").zone("z-a").without_label(HOST).obj(),
        make_node("b").zone("z-b").without_label(HOST).obj(),
        make_node("c")
        .without_label(HOST)
        .zone("z-x")
        .label("topology.ebs.csi.aws.com/zone", "z-b")
        .obj(),
        *migrated,
        zonal,
        claim("c", volume="v"),
    )
    found = Cycle(
        world, VolumeBinding(VolumeBindingArgs(), world), make_pod("incoming").claim("c").obj()
    )
    assert reasons(found) == {"b": [ELSEWHERE]}


def test_a_migrated_disk_its_driver_could_not_name_is_an_error() -> None:
    disk = InTreeDiskSource(volume_id="aws://zone/disk")
    found = cycle(
        volume("v", hosts=["a", "b"], aws_elastic_block_store=disk),
        claim("c", volume="v"),
        csi_node("a", migrated="kubernetes.io/aws-ebs"),
        volumes=uses("c"),
    )
    code, texts = found.rejects()["a"]
    assert code is Code.ERROR
    assert texts[0].startswith("could not translate pv: failed to translate Kubernetes ID")
    assert found.rejects()["c"] == (GRAVE, (ELSEWHERE,))
    assert "b" not in found.rejects()


# ---------------------------------------------------------------- claims to match


@pytest.mark.parametrize(
    ("candidate", "fits"),
    [
        (volume("v"), "abc"),
        (volume("v", hosts=["b"]), "b"),
        (volume("v", "other"), ""),
        (
            volume("v", "other", annotations={"volume.beta.kubernetes.io/storage-class": "wait"}),
            "abc",
        ),
        (volume("v", size="512Mi"), ""),
        (volume("v", size="1Gi"), "abc"),
        (volume("v", phase="Released"), ""),
        (volume("v", modes=["ReadOnlyMany"]), ""),
        (volume("v", volume_mode="Block"), ""),
        (volume("v", volume_mode="Filesystem"), "abc"),
        (volume("v", volume_attributes_class_name="gold"), ""),
        (volume("v", claimed_by="someone"), ""),
        (volume("v", claimed_by="c"), "abc"),
        (volume("v", claimed_by="c", uid="default/c"), "abc"),
        (volume("v", claimed_by="c", uid="older"), ""),
        (volume("v", claimed_by="c", phase="Pending", modes=["ReadOnlyMany"]), "abc"),
    ],
)
def test_which_volume_a_claim_may_have(candidate: PersistentVolume, fits: str) -> None:
    found = cycle(candidate, claim("c"), ONLY_STATIC, volumes=uses("c"))
    assert found.fits() == list(fits)
    assert set(found.rejects().values()) <= {(GRAVE, (NO_VOLUME,))}


def test_a_selector_of_the_claim() -> None:
    labelled, plain = volume("v1", hosts=["a"], labels={"tier": "x"}), volume("v2", hosts=["b"])
    wants = claim("c", selector=selector(tier="x"))
    assert cycle(labelled, plain, wants, ONLY_STATIC, volumes=uses("c")).fits() == ["a"]
    broken = claim("c", selector=selector(("tier", "Near")))
    assert cycle(plain, broken, ONLY_STATIC, volumes=uses("c")).rejects()["a"] == (
        Code.ERROR,
        (
            "error creating internal label selector for claim: default/c: "
            '"Near" is not a valid label selector operator',
        ),
    )


def test_the_smallest_volume_is_taken() -> None:
    sizes = {"large": "100Gi", "small": "2Gi", "smaller": "1100M", "tiny": "1G"}
    volumes = [volume(name, size=size) for name, size in sizes.items()]
    found = cycle(*volumes, claim("c"), ONLY_STATIC, volumes=uses("c"))
    assert chosen(found, "a") == ({"c": "smaller"}, [])


def test_a_volume_made_for_the_claim_is_the_only_choice() -> None:
    prebound = volume("v1", hosts=["a"], claimed_by="c", size="100Gi")
    found = cycle(prebound, volume("v2"), claim("c"), ONLY_STATIC, volumes=uses("c"))
    assert found.fits() == ["a"]
    assert chosen(found, "a") == ({"c": "v1"}, [])


def test_every_claim_gets_a_volume_of_its_own_smallest_claims_first() -> None:
    volumes = [volume("v5", size="5Gi"), volume("v2", size="2Gi", hosts=["a", "b"])]
    claims = [claim("large", size="4Gi"), claim("small", size="1Gi")]
    found = cycle(*volumes, *claims, ONLY_STATIC, volumes=uses("large", "small"))
    assert found.fits() == ["a", "b"]
    assert chosen(found, "a") == ({"small": "v2", "large": "v5"}, [])
    assert found.rejects() == {"c": (GRAVE, (NO_VOLUME,))}


def test_bound_and_unbound_claims_may_both_be_in_the_way() -> None:
    found = cycle(
        volume("v1", hosts=["a"], claimed_by="c1"),
        claim("c1", volume="v1"),
        claim("c2"),
        ONLY_STATIC,
        volumes=uses("c1", "c2"),
    )
    assert reasons(found) == {
        "a": [NO_VOLUME],
        "b": [NO_VOLUME, ELSEWHERE],
        "c": [NO_VOLUME, ELSEWHERE],
    }


# ---------------------------------------------------------------- volumes to make


def test_without_a_volume_one_is_made() -> None:
    found = cycle(volume("v", hosts=["a"]), claim("c"), MADE_ON_DEMAND, volumes=uses("c"))
    assert found.fits() == ["a", "b", "c"]
    assert chosen(found, "a") == ({"c": "v"}, [])
    assert chosen(found, "b") == ({}, ["c"])


@pytest.mark.parametrize(
    ("terms", "fits"),
    [
        ([], "abc"),
        ([[(ZONE, "z-a", "z-b")]], "ab"),
        ([[(ZONE, "z-a")], [(HOST, "c")]], "ac"),
        ([[(ZONE, "z-a"), (HOST, "b")]], ""),
        ([[]], ""),
        ([[(ZONE,)], [(HOST, "b")]], "b"),
    ],
)
def test_allowed_topologies(terms: Sequence[Sequence[Sequence[str]]], fits: str) -> None:
    allowed = tuple(
        TopologySelectorTerm(
            match_label_expressions=tuple(
                TopologySelectorLabelRequirement(key=key, values=tuple(values))
                for key, *values in each
            )
        )
        for each in terms
    )
    found = cycle(claim("c"), storage_class(allowed_topologies=allowed), volumes=uses("c"))
    assert found.fits() == list(fits)


def test_a_selected_node_is_the_only_one() -> None:
    found = cycle(claim("c", selected="b"), MADE_ON_DEMAND, volumes=uses("c"))
    assert found.fits() == ["b"]
    assert reasons(found) == {"a": [NO_VOLUME], "c": [NO_VOLUME]}
    assert chosen(found, "b") == ({}, ["c"])


@pytest.mark.parametrize(
    ("pools", "size", "fits"),
    [
        ([], "1Gi", ""),
        ([], "", "abc"),
        ([pool("p", selector(), "10Gi")], "1Gi", "abc"),
        ([pool("p", selector(), "10Gi")], "11Gi", ""),
        ([pool("p", selector(), "10Gi", "1Gi")], "2Gi", ""),
        ([pool("p", selector(), "1Gi", "10Gi")], "2Gi", "abc"),
        ([pool("p", selector((HOST, "In", "a", "b")), "10Gi")], "1Gi", "ab"),
        (
            [pool("p", selector(), ""), pool("q", selector((HOST, "NotIn", "a")), "9Gi")],
            "1Gi",
            "bc",
        ),
        ([pool("p", None, "10Gi")], "1Gi", ""),
        ([pool("p", selector(("x", "Near")), "10Gi")], "1Gi", ""),
    ],
)
def test_storage_capacity(pools: Sequence[CSIStorageCapacity], size: str, fits: str) -> None:
    tracked = [csi_driver(storage_capacity=True), MADE_ON_DEMAND]
    found = cycle(*pools, *tracked, claim("c", size=size), volumes=uses("c"))
    assert found.fits() == list(fits)
    assert set(found.rejects().values()) <= {(GRAVE, (NO_SPACE,))}


@pytest.mark.parametrize("driver", [[], [csi_driver()], [csi_driver(storage_capacity=False)]])
def test_capacity_matters_only_to_drivers_that_publish_it(driver: Sequence[CSIDriver]) -> None:
    assert cycle(*driver, claim("c"), MADE_ON_DEMAND, volumes=uses("c")).fits() == ["a", "b", "c"]


def test_without_pre_filter_there_is_an_error() -> None:
    world = World(make_node("a").obj())
    incoming, all_nodes = world.info(make_pod("p").volumes(*uses("c")).obj()), world.all_nodes()
    verdict = VolumeBinding(VolumeBindingArgs(), world).filter(None, incoming, all_nodes)
    assert rejected(verdict, all_nodes) == {"a": (Code.ERROR, ("not found",))}
