"""Disks of in-tree volume plugins as the CSI drivers see them that took those plugins over.

Upstream: v1.36 csi-translation-lib (translate.go, plugins/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from scheduler_core.api import (
    InTreeDiskSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeSpec,
    Volume,
    VolumeNodeAffinity,
)
from scheduler_core.cluster.topology_keys import BETA_REGION, BETA_ZONE, REGION, ZONE

UNSPECIFIED: Final = "UNSPECIFIED"
ZONES_DELIMITER: Final = "__"
_ZONE_AND_REGION: Final = ((ZONE, REGION), (BETA_ZONE, BETA_REGION))
_EBS_VOLUME: Final = re.compile(r"vol-[^/]*")


class TranslationError(ValueError):
    """A volume that could not be translated for its driver; the message is upstream's."""


@dataclass(frozen=True, slots=True)
class InTreePlugin:
    """An in-tree volume plugin: how it and its driver are called, and where its disks are named.

    `topology_key` is the driver's label for zones, empty if the translation keeps a volume's node
    affinity. `migrated`: the scheduler treats its volumes as the driver's.
    """

    name: str
    driver: str
    source_of: Callable[[PersistentVolumeSpec], InTreeDiskSource | None]
    inline: Callable[[Volume], str | None]
    topology_key: str = ""
    migrated: bool = True


def _gce_inline(volume: Volume) -> str | None:
    disk = volume.gce_persistent_disk
    if disk is None:
        return None
    return f"projects/{UNSPECIFIED}/zones/{UNSPECIFIED}/disks/{disk.pd_name}"


def _ebs_inline(volume: Volume) -> str | None:
    disk = volume.aws_elastic_block_store
    return None if disk is None else _ebs_handle(disk.volume_id)


PLUGINS: Final = (
    InTreePlugin(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        lambda spec: spec.aws_elastic_block_store,
        _ebs_inline,
        "topology.ebs.csi.aws.com/zone",
    ),
    InTreePlugin(
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        lambda spec: spec.gce_persistent_disk,
        _gce_inline,
        "topology.gke.io/zone",
    ),
    InTreePlugin(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        lambda spec: spec.cinder,
        lambda volume: volume.cinder.volume_id if volume.cinder else None,
        "topology.cinder.csi.openstack.org/zone",
    ),
    InTreePlugin(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        lambda spec: spec.azure_disk,
        lambda volume: volume.azure_disk.disk_uri if volume.azure_disk else None,
    ),
    InTreePlugin(
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
        lambda spec: spec.portworx_volume,
        lambda volume: volume.portworx_volume.volume_id if volume.portworx_volume else None,
    ),
    InTreePlugin(
        "kubernetes.io/azure-file",
        "file.csi.azure.com",
        lambda spec: spec.azure_file,
        lambda volume: volume.azure_file.share_name if volume.azure_file else None,
        migrated=False,
    ),
    InTreePlugin(
        "kubernetes.io/vsphere-volume",
        "csi.vsphere.vmware.com",
        lambda spec: spec.vsphere_volume,
        lambda volume: volume.vsphere_volume.volume_path if volume.vsphere_volume else None,
        migrated=False,
    ),
)


def plugin_named(name: str) -> InTreePlugin | None:
    return next((plugin for plugin in PLUGINS if plugin.name == name), None)


def plugin_of(volume: PersistentVolume) -> InTreePlugin | None:
    """Return the in-tree plugin that a persistent volume belongs to, None for any other."""
    return next((plugin for plugin in PLUGINS if plugin.source_of(volume.spec)), None)


def plugin_of_inline(volume: Volume) -> InTreePlugin | None:
    """Return the in-tree plugin whose disk a pod names itself, None for any other volume."""
    return next((plugin for plugin in PLUGINS if _has_inline(plugin, volume)), None)


def _has_inline(plugin: InTreePlugin, volume: Volume) -> bool:
    try:
        return plugin.inline(volume) is not None
    except TranslationError:
        return True


def volume_handle(plugin: InTreePlugin, volume: PersistentVolume) -> str:
    """Return what the driver calls the disk of a persistent volume. Raises TranslationError."""
    source = plugin.source_of(volume.spec)
    if source is None:
        raise TranslationError(f"{plugin.name} not defined on pv")
    match plugin.name:
        case "kubernetes.io/aws-ebs":
            return _ebs_handle(source.volume_id)
        case "kubernetes.io/gce-pd":
            return _gce_handle(volume, source.pd_name)
        case "kubernetes.io/azure-disk":
            return source.disk_uri
        case _:
            return source.volume_id


def _ebs_handle(volume_id: str) -> str:
    """Return the bare id of an EBS volume; `aws://zone/vol-id` is the older spelling."""
    if not volume_id.startswith("aws://"):
        return volume_id
    _, _, path = volume_id.removeprefix("aws://").partition("/")
    bare = path.strip("/")
    if not _EBS_VOLUME.fullmatch(bare):
        problem = f"Invalid format for AWS volume ({volume_id})"
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return bare


def _gce_handle(volume: PersistentVolume, disk: str) -> str:
    labels = volume.metadata.labels
    label = labels.get(BETA_ZONE) or labels.get(ZONE, "")
    zones = label.split(ZONES_DELIMITER)
    if len(zones) > 1:
        return f"projects/{UNSPECIFIED}/regions/{_gce_region(zones)}/disks/{disk}"
    return f"projects/{UNSPECIFIED}/zones/{zones[0] or UNSPECIFIED}/disks/{disk}"


def _gce_region(zones: Sequence[str]) -> str:
    regions: dict[str, None] = {}
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                "failed to get region from zones: zone in unexpected format, expected: "
                f"{{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions["-".join(parts[:2])] = None
    if len(regions) != 1:
        raise TranslationError(
            "failed to get region from zones: multiple or no regions gotten from zones, got: "
            f"map[{' '.join(f'{region}:{{}}' for region in sorted(regions))}]"
        )
    return next(iter(regions))


# ---------------------------------------------------------------- node affinity


def translated_node_affinity(
    plugin: InTreePlugin, volume: PersistentVolume
) -> VolumeNodeAffinity | None:
    """Return a volume's node affinity in the labels of the driver. Raises TranslationError."""
    volume_handle(plugin, volume)
    if not plugin.topology_key:
        return volume.spec.node_affinity
    zone_key, region_key = _topology_labels(volume)
    terms = _terms(volume)
    if _values_of(terms, zone_key):
        terms = _renamed(terms, zone_key, plugin.topology_key)
    else:
        label = volume.metadata.labels.get(zone_key, "")
        zones = sorted({zone.strip() for zone in label.split(ZONES_DELIMITER)} - {""})
        if zones:
            terms = _restricted(terms, plugin.topology_key, zones)
    if region_key == BETA_REGION and _values_of(terms, region_key):
        terms = _renamed(terms, region_key, REGION)
    if terms == _terms(volume):
        return volume.spec.node_affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _terms(volume: PersistentVolume) -> tuple[NodeSelectorTerm, ...]:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return ()
    return affinity.required.node_selector_terms


def _topology_labels(volume: PersistentVolume) -> tuple[str, str]:
    """Return the zone and region labels in use: of the affinity, then of the volume's labels."""
    keys = {each.key for term in _terms(volume) for each in term.match_expressions}
    for known in (keys, volume.metadata.labels):
        for zone_key, region_key in _ZONE_AND_REGION:
            if zone_key in known:
                return zone_key, region_key
    return _ZONE_AND_REGION[0]


def _values_of(terms: Iterable[NodeSelectorTerm], key: str) -> bool:
    return any(each.values for term in terms for each in term.match_expressions if each.key == key)


def _renamed(terms: Iterable[NodeSelectorTerm], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(each, key=new) if each.key == old else each
                for each in term.match_expressions
            ),
        )
        for term in terms
    )


def _restricted(
    terms: Sequence[NodeSelectorTerm], key: str, values: Sequence[str]
) -> tuple[NodeSelectorTerm, ...]:
    """Ask for one of the values in every term, in a new term if there is none."""
    wanted = NodeSelectorRequirement(key=key, operator="In", values=tuple(values))
    return tuple(
        replace(term, match_expressions=(*term.match_expressions, wanted))
        for term in terms or (NodeSelectorTerm(),)
    )
