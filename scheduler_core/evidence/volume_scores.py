"""How full the volumes would make the storage they come from (gate StorageCapacityScoring).

Upstream: v1.36 plugins/volumebinding/scorer.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.api.quantity import amount_text
from scheduler_core.evidence.raw_score import RawScore, quotient
from scheduler_core.evidence.requirement import AtNode, state_of
from scheduler_core.evidence.resource_scores import curve_value
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_binding.binder import PodVolumes
from scheduler_core.plugins.volume_binding.scoring import storage_asked
from scheduler_core.wording import say, series


@dataclass(frozen=True, slots=True)
class StorageShare:
    """What the claims of one storage class ask and what there is, in bytes."""

    storage_class: str
    requested_bytes: int
    available_bytes: int

    @property
    def utilization(self) -> int:
        requested, available = self.requested_bytes, self.available_bytes
        if not available or requested > available:
            return 100
        return quotient(requested * 100, available)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeScore(RawScore):
    """The mean over storage classes of a curve over utilization."""

    kind = "storage"
    formula = say(
        "volume_score.formula",
        "mean over storage classes of shape(100 * requested / available), rounded",
    )
    shape: tuple[tuple[int, int], ...]
    classes: tuple[StorageShare, ...]

    @property
    def value(self) -> int:
        points = [self._points(share) for share in self.classes]
        return int(sum(points) / max(len(points), 1) + 0.5)

    @property
    def text(self) -> str:
        parts = (
            say(
                "volume_score.shape",
                "shape({utilization}%) = {points} ({storage_class}: {requested} of {available})",
                utilization=share.utilization,
                points=self._points(share),
                storage_class=share.storage_class,
                requested=amount_text("memory", share.requested_bytes),
                available=amount_text("memory", share.available_bytes),
            )
            for share in self.classes
        )
        return (
            say(
                "volume_score.mean",
                "mean of {parts}: {value}",
                parts=series(parts),
                value=self.value,
            )
            if self.classes
            else "0"
        )

    def _points(self, share: StorageShare) -> int:
        return curve_value(self.shape, share.utilization)


def volume_score(plugin: VolumeBinding, state: object, at: AtNode) -> VolumeScore:
    shape = plugin.shape.points if plugin.shape is not None else ()
    if state is None:
        return VolumeScore(shape=shape, classes=())
    found = storage_asked(state_of(PodVolumes, state), at.node)
    return VolumeScore(
        shape=shape,
        classes=tuple(
            StorageShare(name, int(requested[0]), int(available[0]))
            for name, (asked, requested, available) in found
            if asked[0]
        ),
    )
