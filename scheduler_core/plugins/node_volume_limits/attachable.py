"""Which volumes of which CSI drivers a pod needs attached to its node.

Upstream: v1.36 plugins/nodevolumelimits/csi.go (filterAttachableVolumes, getCSIDriverInfo).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Volume
from scheduler_core.api.claims import (
    ClaimUse,
    claim_class,
    claim_not_found,
    claims_of,
    foreign_claim_error,
)
from scheduler_core.cluster.csi_translation import (
    TranslationError,
    plugin_named,
    plugin_of,
    plugin_of_inline,
    volume_handle,
)
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.framework.status import Code, Status

UNBOUND = "unbound\x00"
"""Begins the handle of a volume yet to be made, so that it is never that of one that is."""


@dataclass
class Attachable:
    """Volumes to attach: driver by unique name. `used` are claims and volumes it rests on.

    `migrated`: disks of migrated in-tree plugins count too; they do on nodes with a CSINode.
    """

    objects: ObjectStore
    migrated: bool
    drivers: dict[str, str] = field(default_factory=dict)
    used_claims: dict[str, None] = field(default_factory=dict)
    used_volumes: dict[str, None] = field(default_factory=dict)

    def add_pod(self, pod: Pod, *, new: bool) -> Status | None:
        """Add the volumes of a pod; return what is wrong with them.

        A claim that is missing matters only to a `new` pod.
        """
        uses = claims_of(pod)
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None and volume.ephemeral is None:
                problem = self._add_inline(volume)
            else:
                problem = self._add_claim(pod, next(uses), new)
            if problem is not None:
                return problem
        return None

    def _add_claim(self, pod: Pod, use: ClaimUse, new: bool) -> Status | None:
        if not use.name:
            return Status(Code.ERROR, ("PersistentVolumeClaim had no name",))
        key = f"{pod.namespace}/{use.name}"
        self.used_claims[key] = None
        claim = self.objects.get(PersistentVolumeClaim, key)
        if claim is None:
            if not new:
                return None
            text = f"looking up PVC {key}: {claim_not_found(use.name)}"
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
        foreign = foreign_claim_error(pod, claim) if use.ephemeral else ""
        if foreign:
            return Status(Code.ERROR, (foreign,))
        self._add(*self._driver_and_handle(claim))
        return None

    def _add(self, driver: str, handle: str) -> None:
        if driver and handle:
            self.drivers[f"{driver}/{handle}"] = driver

    def _driver_and_handle(self, claim: PersistentVolumeClaim) -> tuple[str, str]:
        name = claim.spec.volume_name
        self.used_volumes[name] = None
        volume = self.objects.get(PersistentVolume, name) if name else None
        if volume is None:
            return self._driver_of_class(claim)
        if volume.spec.csi is not None:
            return volume.spec.csi.driver, volume.spec.csi.volume_handle
        plugin = plugin_of(volume)
        if plugin is None or not plugin.migrated or not self.migrated:
            return "", ""
        try:
            return plugin.driver, volume_handle(plugin, volume)
        except TranslationError:
            return "", ""

    def _driver_of_class(self, claim: PersistentVolumeClaim) -> tuple[str, str]:
        """Return the driver that will make the volume of an unbound claim."""
        name = claim_class(claim)
        storage_class = self.objects.get(StorageClass, name) if name else None
        if storage_class is None:
            return "", ""
        handle = UNBOUND + claim.key
        plugin = plugin_named(storage_class.provisioner)
        if plugin is None:
            return storage_class.provisioner, handle
        return (plugin.driver, handle) if plugin.migrated and self.migrated else ("", "")

    def _add_inline(self, volume: Volume) -> Status | None:
        plugin = plugin_of_inline(volume)
        if plugin is None or not plugin.migrated or not self.migrated:
            return None
        try:
            self._add(plugin.driver, plugin.inline(volume) or "")
        except TranslationError as error:
            text = f"converting volume({volume.name}) from inline to csi: {error}"
            return Status(Code.ERROR, (text,))
        return None
