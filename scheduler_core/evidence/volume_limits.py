"""How many volumes a node may have, and volumes that only one pod may use.

Upstream: v1.36 plugins/nodevolumelimits and plugins/volumerestrictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.api import Volume
from scheduler_core.api.claims import mounted_claims
from scheduler_core.evidence.pod_level import ClaimReady, claims_ready
from scheduler_core.evidence.requirement import MAX_NAMED, AtNode, Requirement, Stated, state_of
from scheduler_core.plugins import volume_restrictions
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.node_volume_limits.attached import NodeVolumes
from scheduler_core.plugins.node_volume_limits.limits import UNLIMITED
from scheduler_core.plugins.node_volume_limits.plugin import FilterState
from scheduler_core.wording import say, series


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumesAttachable(Requirement):
    """The volumes of one CSI driver: those attached and those the pod adds, against the limit.

    `limit` is None where the node does not limit the driver.
    """

    kind = "volumeLimit"
    driver: str
    limit: int | None
    attached: int
    new: int

    @property
    def asks(self) -> str:
        return (
            say("volume_limits.one_more", "1 more volume of {driver}", driver=self.driver)
            if self.new == 1
            else say(
                "volume_limits.more",
                "{n:,} more volumes of {driver}",
                n=self.new,
                driver=self.driver,
            )
        )

    @property
    def has(self) -> str:
        if self.limit is None:
            return say(
                "volume_limits.attached", "{attached} attached and no limit", attached=self.attached
            )
        return say(
            "volume_limits.attached_limit",
            "{attached} attached and a limit of {limit}",
            attached=self.attached,
            limit=self.limit,
        )

    @property
    def sentence(self) -> str:
        return say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverInstalled(Requirement):
    """A CSI driver that keeps pods off nodes where it is not installed."""

    kind = "driverInstalled"
    driver: str

    @property
    def asks(self) -> str:
        return say("volume_limits.driver", "the CSI driver {driver}", driver=self.driver)

    @property
    def has(self) -> str:
        return (
            say("volume_limits.installed", "it installed")
            if self.met
            else say("volume_limits.not_installed", "it not installed")
        )

    @property
    def sentence(self) -> str:
        return say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFree(Requirement):
    """A disk that pods of one node cannot share; `holder` is the pod that mounts it there."""

    kind = "disk"
    volume: str
    disk: str
    holder: str

    @property
    def asks(self) -> str:
        return say(
            "volume_limits.disk_alone",
            "disk {disk} (volume {volume}) for itself",
            disk=self.disk,
            volume=self.volume,
        )

    @property
    def has(self) -> str:
        return (
            say("volume_limits.mounted_by", "it mounted by {holder}", holder=self.holder)
            if self.holder
            else say("volume_limits.mounted_by_nobody", "nobody who mounts it")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsUnused(Requirement):
    """Claims that only one pod may use (ReadWriteOncePod), and which pods use them already."""

    kind = "readWriteOncePod"
    claims: tuple[str, ...]
    users: tuple[str, ...]

    @property
    def asks(self) -> str:
        return say(
            "volume_limits.claim_alone",
            "claim {claims} for itself (ReadWriteOncePod)",
            claims=series(self.claims),
        )

    @property
    def has(self) -> str:
        return (
            say("volume_limits.used_by", "used by {users}", users=series(self.users))
            if self.users
            else say("volume_limits.not_used", "not used")
        )

    @property
    def sentence(self) -> str:
        return say(
            "volume_limits.needs", "needs {asks}, which is {has}", asks=self.asks, has=self.has
        )


def volumes_attachable(
    plugin: NodeVolumeLimits, state: object, at: AtNode
) -> Iterator[VolumesAttachable | DriverInstalled | ClaimReady | Stated]:
    prepared, limits = state_of(FilterState, state), plugin.kept.limits
    has_csi_node = bool(limits.has_csi_node[at.row])
    needed = prepared.with_csi_node if has_csi_node else prepared.without
    if needed.problem is not None:
        missing = [each for each in claims_ready(at.pod, at.objects) if not each.met]
        yield from missing
        if not missing:
            yield Stated(met=False, reasons=needed.problem.reasons)
        return
    drivers = tuple(dict.fromkeys(needed.pods.values()))
    for driver in drivers:
        if plugin.wants_installed(driver):
            yield DriverInstalled(met=bool(limits.installed(driver)[at.row]), driver=driver)
    if has_csi_node and needed.pods and limits.limited[at.row]:
        yield from _within_limits(plugin, needed, drivers, at)


def _within_limits(
    plugin: NodeVolumeLimits, needed: NodeVolumes, drivers: tuple[str, ...], at: AtNode
) -> Iterator[VolumesAttachable | Stated]:
    volumes = plugin.kept.attached.of_pods(at.row, at.node.pods(0))
    if volumes.problem is not None:
        yield Stated(met=False, reasons=volumes.problem.reasons)
    for driver in drivers:
        column = plugin.kept.limits.limit(driver)
        limit = UNLIMITED if column is None else int(column[at.row])
        attached = volumes.n_attached(driver)
        new = sum(
            name == driver for volume, name in needed.pods.items() if volume not in volumes.pods
        )
        yield VolumesAttachable(
            met=not new or attached + new <= limit,
            driver=driver,
            limit=None if limit == UNLIMITED else limit,
            attached=attached,
            new=new,
        )


def volumes_for_one(state: object, at: AtNode) -> Iterator[DiskFree | ClaimsUnused]:
    prepared = state_of(volume_restrictions.FilterState, state)
    pods = at.node.pods(0)
    for disk in prepared.disks:
        holders = (pod.key for pod in pods if volume_restrictions.conflicts(disk, pod.pod))
        holder = next(holders, "")
        yield DiskFree(met=not holder, volume=disk.name, disk=_disk_text(disk), holder=holder)
    if prepared.claims:
        n_users = int(volume_restrictions.n_users(prepared, at.node)[0])
        yield ClaimsUnused(
            met=n_users <= 0,
            claims=tuple(sorted(prepared.claims)),
            users=tuple(_users(prepared.claims, at)[:MAX_NAMED]) if n_users > 0 else (),
        )


def _users(claims: frozenset[str], at: AtNode) -> list[str]:
    """Return the pods that use one of the claims, placed or nominated to the node."""
    cluster, namespace = at.nodes.cluster, at.pod.pod.namespace
    templates = cluster.templates.matching(
        ("evidence.users", namespace, claims),
        lambda template: (
            template.namespace == namespace and not claims.isdisjoint(mounted_claims(template.pod))
        ),
    )
    rows = at.nodes.rows[np.flatnonzero(at.nodes.count_pods(templates))].tolist()
    placed = [
        pod.key for row in rows for pod in cluster.pods.on_row(row) if templates[pod.template.index]
    ]
    added = [
        pod.key
        for change in at.node.changes
        for pod in change.added
        if not claims.isdisjoint(mounted_claims(pod.pod))
    ]
    return placed + added


def _disk_text(volume: Volume) -> str:
    """Return how a disk is named by its source."""
    if volume.gce_persistent_disk is not None:
        return volume.gce_persistent_disk.pd_name
    if volume.aws_elastic_block_store is not None:
        return volume.aws_elastic_block_store.volume_id
    if volume.iscsi is not None:
        return volume.iscsi.iqn
    return volume.rbd.image if volume.rbd is not None else volume.name
