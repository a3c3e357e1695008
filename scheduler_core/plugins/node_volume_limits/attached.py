"""How many volumes of each CSI driver every node has; only what has changed is counted again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.api import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.status import Status
from scheduler_core.plugins.node_volume_limits.attachable import Attachable


@dataclass
class NodeVolumes:
    """The volumes of one node: `pods` those its pods use, `others` attached besides.

    Both map a unique name to the driver. `problem` is why they could not all be found.
    """

    pods: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    problem: Status | None = None

    def n_attached(self, driver: str) -> int:
        return sum(each == driver for each in self._drivers())

    def _drivers(self) -> Iterator[str]:
        yield from self.pods.values()
        yield from self.others.values()

    def per_driver(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for driver in self._drivers():
            counts[driver] = counts.get(driver, 0) + 1
        return counts


EMPTY = NodeVolumes()


class AttachedVolumes:
    """Volumes by row, recomputed for rows whose pods, claims, volumes or attachments changed."""

    def __init__(self, cluster: ClusterColumns, objects: ObjectStore) -> None:
        self._cluster = cluster
        self._objects = objects
        self._on_row: dict[int, NodeVolumes] = {}
        self._problems: dict[int, Status] = {}
        self._n_attached: dict[str, IntArray] = {}
        self._rows_of_claim: dict[str, dict[int, None]] = {}
        self._rows_of_volume: dict[str, dict[int, None]] = {}
        self._rows_of_name: dict[str, dict[int, None]] = {}
        self._attachments: dict[str, list[VolumeAttachment]] = {}
        self._generation = -1
        self._revisions = (-1, 0, 0, 0)

    def on_row(self, row: int) -> NodeVolumes:
        return self._on_row.get(row, EMPTY)

    def rows_with(self, volume: str) -> list[int]:
        """Return the rows whose pods use a volume, by its unique name."""
        return list(self._rows_of_name.get(volume, ()))

    def n_attached(self, driver: str) -> IntArray:
        """Return how many volumes of a driver each row has, int64 (n_rows,)."""
        return self._column(driver)[: self._cluster.n_rows]

    @property
    def problems(self) -> Mapping[int, Status]:
        """What is wrong with the volumes of those rows where something is."""
        return self._problems

    def of_pods(self, row: int, pods: Iterable[PodInfo]) -> NodeVolumes:
        """Work out the volumes of a row as if those pods were on it."""
        return self._volumes(row, pods)[0]

    # ------------------------------------------------------------ keeping up to date

    def refresh(self) -> None:
        """Bring everything up to the present state of cluster and objects."""
        for row in self._stale_rows():
            self._recompute(row)

    def _stale_rows(self) -> list[int]:
        objects, n_rows = self._objects, self._cluster.n_rows
        claims, volumes, attachments, classes = before = self._revisions
        after = self._revisions = (
            objects.revision(PersistentVolumeClaim),
            objects.revision(PersistentVolume),
            objects.revision(VolumeAttachment),
            objects.revision(StorageClass),
        )
        generation = self._cluster.generation[:n_rows]
        moved = np.flatnonzero(generation > self._generation)
        self._generation = int(generation.max(initial=self._generation))
        if after == before:
            return list(map(int, moved))
        if after[2:] != (attachments, classes) or claims < 0:
            self._index_attachments()
            return list(range(n_rows))
        rows = dict.fromkeys(map(int, moved))
        for claim in objects.changed_since(PersistentVolumeClaim, claims):
            rows |= self._rows_of_claim.get(claim, {})
        for volume in objects.changed_since(PersistentVolume, volumes):
            rows |= self._rows_of_volume.get(volume, {})
        return list(rows)

    def _index_attachments(self) -> None:
        self._attachments = {}
        for attachment in self._objects.all(VolumeAttachment):
            self._attachments.setdefault(attachment.spec.node_name, []).append(attachment)

    def _recompute(self, row: int) -> None:
        old = self.on_row(row)
        new, attachable = self._volumes(row, self._cluster.pods.on_row(row))
        for claim in attachable.used_claims:
            self._rows_of_claim.setdefault(claim, {})[row] = None
        for volume in attachable.used_volumes:
            self._rows_of_volume.setdefault(volume, {})[row] = None
        for name in old.pods:
            self._rows_of_name[name].pop(row, None)
        for name in new.pods:
            self._rows_of_name.setdefault(name, {})[row] = None
        for driver, count in old.per_driver().items():
            self._column(driver)[row] -= count
        for driver, count in new.per_driver().items():
            self._column(driver)[row] += count
        self._on_row[row] = new
        if new.problem is not None:
            self._problems[row] = new.problem
        else:
            self._problems.pop(row, None)

    def _column(self, driver: str) -> IntArray:
        column = self._n_attached.get(driver)
        n_rows = self._cluster.n_rows
        if column is None or column.size < n_rows:
            grown = np.zeros(max(2 * n_rows, 16), np.int64)
            if column is not None:
                grown[: column.size] = column
            column = self._n_attached[driver] = grown
        return column

    def _volumes(self, row: int, pods: Iterable[PodInfo]) -> tuple[NodeVolumes, Attachable]:
        attachable = Attachable(self._objects, migrated=True)
        problem: Status | None = None
        for pod in pods:
            if pod.pod.spec.volumes:
                problem = problem or attachable.add_pod(pod.pod, new=False)
        others = {
            name: driver
            for name, driver in self._attached_to(row, attachable).items()
            if name not in attachable.drivers
        }
        return NodeVolumes(attachable.drivers, others, problem), attachable

    def _attached_to(self, row: int, attachable: Attachable) -> dict[str, str]:
        """Return what attachment objects say is attached to the node."""
        attached = {}
        for attachment in self._attachments.get(self._cluster.names[row], ()):
            name = attachment.spec.source.persistent_volume_name
            attachable.used_volumes[name] = None
            volume = self._objects.get(PersistentVolume, name)
            if attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
                unique = f"{attachment.spec.attacher}/{volume.spec.csi.volume_handle}"
                attached[unique] = attachment.spec.attacher
        return attached
