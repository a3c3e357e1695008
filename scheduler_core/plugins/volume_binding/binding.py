"""Claims and volumes bound to each other: what the scheduler writes, and what follows from it.

The scheduler claims a volume, or names the node to provision a volume for. The PV controller and
the provisioner do the rest; in the simulated cluster they answer at once and never fail.

Upstream: v1.36 component-helpers/storage/volume/pv_helpers.go (GetBindVolumeToClaim) and
plugins/volumebinding/binder.go (AssumePodVolumes, BindPodVolumes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from scheduler_core.api import (
    CSINode,
    CSIPersistentVolumeSource,
    KubeObject,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologySelectorTerm,
    VolumeNodeAffinity,
)
from scheduler_core.api.claims import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    STORAGE,
    claim_class,
)
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.objects import ObjectStore

BOUND: Final = "Bound"
Write = Callable[[KubeObject], None]
"""Stores an object through the API server."""

PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"


def claimed(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return the volume as the scheduler binds it to the claim."""
    known = volume.spec.claim_ref
    named = known is not None and (known.namespace, known.name) == (claim.namespace, claim.name)
    if named and known is not None and known.uid in ("", claim.uid):
        metadata = volume.metadata
    else:
        metadata = _annotated(volume.metadata, BOUND_BY_CONTROLLER, "yes")
    return replace(
        volume, metadata=metadata, spec=replace(volume.spec, claim_ref=_reference(claim))
    )


def selected(claim: PersistentVolumeClaim, node_name: str) -> PersistentVolumeClaim:
    """Return the claim as the scheduler asks for a volume for it on a node."""
    return replace(claim, metadata=_annotated(claim.metadata, SELECTED_NODE, node_name))


def complete_binding(volume: PersistentVolume, objects: ObjectStore, write: Write) -> None:
    """Store a claimed volume and its claim as bound to each other (upstream: PV controller)."""
    write(replace(volume, status=PersistentVolumeStatus(phase=BOUND)))
    named = volume.spec.claim_ref
    claim = named and objects.get(PersistentVolumeClaim, f"{named.namespace}/{named.name}")
    if claim:
        write(_bound(claim, volume))


def provision(
    claim: PersistentVolumeClaim, cluster: ClusterColumns, objects: ObjectStore, write: Write
) -> None:
    """Make a volume for a claim on its selected node and bind both (external-provisioner)."""
    storage_class = objects.get(StorageClass, claim_class(claim)) or StorageClass()
    row = cluster.row_of.get(claim.metadata.annotations[SELECTED_NODE])
    node = None if row is None else cluster.nodes[row]
    driver = storage_class.provisioner
    name = f"pvc-{claim.uid.replace('/', '-')}"
    volume = PersistentVolume(
        metadata=ObjectMeta(name=name, uid=name, annotations={PROVISIONED_BY: driver}),
        spec=PersistentVolumeSpec(
            capacity=dict(claim.spec.resources.requests),
            access_modes=claim.spec.access_modes,
            claim_ref=_reference(claim),
            storage_class_name=claim_class(claim),
            volume_mode=claim.spec.volume_mode,
            persistent_volume_reclaim_policy=storage_class.reclaim_policy,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            node_affinity=_accessible_from(node, storage_class, objects) if node else None,
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase=BOUND),
    )
    write(volume)
    write(_bound(claim, volume))


def _accessible_from(
    node: Node, storage_class: StorageClass, objects: ObjectStore
) -> VolumeNodeAffinity | None:
    """Return where a volume made for a node can be used: the node's part of the topology.

    Its driver's topology keys say which labels make up that part, else the class's topologies.
    """
    csi_node = objects.get(CSINode, node.name)
    drivers = csi_node.spec.drivers if csi_node else ()
    keys = [
        key
        for driver in drivers
        if driver.name == storage_class.provisioner
        for key in driver.topology_keys
    ]
    keys = keys or _keys_of(storage_class.allowed_topologies, node)
    labels = node.metadata.labels
    wanted = tuple(
        NodeSelectorRequirement(key=key, operator="In", values=(labels[key],))
        for key in keys
        if key in labels
    )
    if not wanted:
        return None
    term = NodeSelectorTerm(match_expressions=wanted)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))


def _keys_of(terms: Iterable[TopologySelectorTerm], node: Node) -> list[str]:
    """Return the labels of the first topology that the node is in."""
    for term in terms:
        wanted = term.match_label_expressions
        if wanted and all(node.metadata.labels.get(each.key) in each.values for each in wanted):
            return [each.key for each in wanted]
    return []


def _bound(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    metadata = _annotated(claim.metadata, BIND_COMPLETED, "yes")
    metadata = _annotated(metadata, BOUND_BY_CONTROLLER, "yes")
    capacity = {name: amount for name, amount in volume.spec.capacity.items() if name == STORAGE}
    status = PersistentVolumeClaimStatus(
        phase=BOUND, access_modes=volume.spec.access_modes, capacity=capacity
    )
    return replace(
        claim,
        metadata=metadata,
        spec=replace(claim.spec, volume_name=volume.name),
        status=status,
    )


def _annotated(metadata: ObjectMeta, name: str, text: str) -> ObjectMeta:
    return replace(metadata, annotations={**metadata.annotations, name: text})


def _reference(claim: KubeObject) -> ObjectReference:
    return ObjectReference(
        api_version=claim.api_version,
        kind=claim.kind,
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
    )
