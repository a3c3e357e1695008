"""Claims, volumes, classes and CSI objects for tests of the volume plugins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.api import (
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    CSIStorageCapacity,
    KubeObject,
    LabelSelector,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectReference,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    Volume,
    VolumeNodeAffinity,
    VolumeNodeResources,
    VolumeResourceRequirements,
)
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.api.pod import EphemeralVolumeSource, PersistentVolumeClaimVolumeSource
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import VolumeBindingArgs
from scheduler_core.plugins.volume_binding import VolumeBinding
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, expression
from tests.plugins.placement import HOST, Cycle

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
DRIVER = "csi.example.com"


def uses(*claims: str) -> tuple[Volume, ...]:
    """Return a pod's volumes, one per claim."""
    return tuple(
        Volume(
            name=f"v{i}",
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim),
        )
        for i, claim in enumerate(claims)
    )


def ephemeral(name: str = "scratch") -> Volume:
    return Volume(name=name, ephemeral=EphemeralVolumeSource())


def claim(
    name: str,
    storage_class: str | None = "wait",
    *,
    volume: str = "",
    size: str = "1Gi",
    namespace: str = "default",
    selected: str = "",
    bound: bool | None = None,
    owner: str = "",
    modes: Sequence[str] = ("ReadWriteOnce",),
    phase: str = "",
    deleting: bool = False,
    **spec: Any,
) -> PersistentVolumeClaim:
    """Return a claim; one that names a `volume` is bound both ways unless `bound` is false."""
    annotations = {SELECTED_NODE: selected} if selected else {}
    if volume and bound is not False:
        annotations[BIND_COMPLETED] = "yes"
    reference = OwnerReference(kind="Pod", name=owner, uid=f"{namespace}/{owner}", controller=True)
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"{namespace}/{name}",
            annotations=annotations,
            owner_references=(reference,) if owner else (),
            deletion_timestamp=1 if deleting else None,
        ),
        spec=PersistentVolumeClaimSpec(
            storage_class_name=storage_class,
            volume_name=volume,
            access_modes=tuple(modes),
            resources=VolumeResourceRequirements(requests={"storage": size} if size else {}),
            **spec,
        ),
        status=PersistentVolumeClaimStatus(phase=phase),
    )


def volume(
    name: str,
    storage_class: str = "wait",
    *,
    size: str = "10Gi",
    hosts: Sequence[str] | None = None,
    terms: Sequence[NodeSelectorTerm] = (),
    claimed_by: str = "",
    uid: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    phase: str = "Available",
    driver: str = "",
    modes: Sequence[str] = ("ReadWriteOnce",),
    **spec: Any,
) -> PersistentVolume:
    """Return a persistent volume, usable on `hosts` only if they are given."""
    if hosts is not None:
        terms = [NodeSelectorTerm(match_expressions=(expression(HOST, "In", *hosts),))]
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=tuple(terms)))
    reference = ObjectReference(namespace="default", name=claimed_by, uid=uid)
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name, uid=name, labels=labels or {}, annotations=annotations or {}
        ),
        spec=PersistentVolumeSpec(
            capacity={"storage": size},
            storage_class_name=storage_class,
            access_modes=tuple(modes),
            claim_ref=reference if claimed_by else None,
            node_affinity=affinity if terms else None,
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name) if driver else None,
            **spec,
        ),
        status=PersistentVolumeStatus(phase=phase),
    )


def storage_class(
    name: str = "wait", mode: str = "WaitForFirstConsumer", provisioner: str = DRIVER, **fields: Any
) -> StorageClass:
    return StorageClass(
        metadata=ObjectMeta(name=name),
        volume_binding_mode=mode,
        provisioner=provisioner,
        **fields,
    )


def csi_node(name: str, limits: dict[str, int | None] | None = None, migrated: str = "") -> CSINode:
    """Return a CSINode with those drivers, None for no limit."""
    drivers = tuple(
        CSINodeDriver(
            name=driver,
            node_id=name,
            allocatable=None if limit is None else VolumeNodeResources(count=limit),
        )
        for driver, limit in (limits or {}).items()
    )
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return CSINode(
        metadata=ObjectMeta(name=name, annotations=annotations), spec=CSINodeSpec(drivers=drivers)
    )


def csi_driver(name: str = DRIVER, **spec: Any) -> CSIDriver:
    return CSIDriver(metadata=ObjectMeta(name=name), spec=CSIDriverSpec(**spec))


def pool(
    name: str, topology: LabelSelector | None, capacity: str = "", maximum: str = ""
) -> CSIStorageCapacity:
    """Return how much storage of class `wait` the nodes of a topology have access to."""
    return CSIStorageCapacity(
        metadata=ObjectMeta(name=name, namespace="storage"),
        storage_class_name="wait",
        node_topology=topology,
        capacity=capacity,
        maximum_volume_size=maximum,
    )


ONLY_STATIC = storage_class(provisioner="kubernetes.io/no-provisioner")
MADE_ON_DEMAND = storage_class()


def nodes(names: str = "abc") -> list[Node]:
    return [make_node(name).zone(f"z-{name}").obj() for name in names]


def binding_cycle(
    *objects: KubeObject,
    volumes: Sequence[Volume],
    args: VolumeBindingArgs | None = None,
    features: FeatureGates | None = None,
) -> Cycle:
    """Return VolumeBinding's cycle of a pod with those volumes, on nodes a, b and c."""
    world = World(*nodes(), *objects, features=features)
    incoming = make_pod("p").volumes(*volumes).obj()
    return Cycle(world, VolumeBinding(args or VolumeBindingArgs(), world), incoming)
