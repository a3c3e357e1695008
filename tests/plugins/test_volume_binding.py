from collections.abc import Sequence

import pytest

from scheduler_core.api import (
    CSIStorageCapacity,
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
from tests.plugins.harness import World, expression, rejected, term
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


def reasons(found: Cycle) -> dict[str, list[str]]:
    """Return the reasons of every rejected node, all of them beyond repair by preemption."""
    refused = found.rejects()
    assert all(code is GRAVE for code, _ in refused.values())
    return {name: sorted(texts) for name, (_, texts) in refused.items()}


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


# ---------------------------------------------------------------- bound claims


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


# ---------------------------------------------------------------- volumes to make


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


def test_without_pre_filter_there_is_an_error() -> None:
    world = World(make_node("a").obj())
    incoming, all_nodes = world.info(make_pod("p").volumes(*uses("c")).obj()), world.all_nodes()
    verdict = VolumeBinding(VolumeBindingArgs(), world).filter(None, incoming, all_nodes)
    assert rejected(verdict, all_nodes) == {"a": (Code.ERROR, ("not found",))}
