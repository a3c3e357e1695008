"""Images that a node has already, scaled by how many nodes have them.

Upstream: v1.36 plugins/imagelocality.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.api.quantity import amount_text
from scheduler_core.evidence.raw_score import RawScore, quotient
from scheduler_core.evidence.requirement import AtNode
from scheduler_core.framework.interface import MAX_NODE_SCORE
from scheduler_core.plugins.image_locality import (
    MIN_THRESHOLD_BYTES,
    ImageLocality,
    image_references,
    normalized_image_name,
)
from scheduler_core.wording import PLUS, say, series


@dataclass(frozen=True, slots=True)
class ImageShare:
    """An image of the pod: its size, on how many nodes it is, and whether on this one.

    The number of nodes is what this node knows of it.

    `size_bytes` is 0 for an image that no node has.
    """

    name: str
    size_bytes: int
    n_nodes: int
    n_all: int
    present: bool

    @property
    def scaled_bytes(self) -> int:
        """Return the size scaled down by the share of nodes that have it; 0 if absent here."""
        if not self.present:
            return 0
        return int(float(self.size_bytes) * (self.n_nodes / self.n_all))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageScore(RawScore):
    """Sizes of images the node has, on a scale from `lowest_bytes` to `highest_bytes`."""

    kind = "images"
    formula = say(
        "images.formula",
        "100 * (sum - lowest) / (highest - lowest), sum of size * nodes with the image / all nodes",
    )
    images: tuple[ImageShare, ...]
    lowest_bytes: int
    highest_bytes: int

    @property
    def sum_bytes(self) -> int:
        return sum(image.scaled_bytes for image in self.images)

    @property
    def value(self) -> int:
        low, high = self.lowest_bytes, self.highest_bytes
        held = low if self.sum_bytes < low else min(self.sum_bytes, high)
        return quotient(MAX_NODE_SCORE * (held - low), high - low)

    @property
    def text(self) -> str:
        parts = (
            f"{_size(image.size_bytes)}*{image.n_nodes}/{image.n_all} ({image.name})"
            if image.present
            else say("images.absent", "0 ({name} is not there)", name=image.name)
            for image in self.images
        )
        low, high = _size(self.lowest_bytes), _size(self.highest_bytes)
        return say(
            "images.sum",
            "sum {sum}, between {low} and {high}: {value}",
            sum=series(parts, PLUS) or 0,
            low=low,
            high=high,
            value=self.value,
        )


def image_score(plugin: ImageLocality, at: AtNode) -> ImageScore:
    spec = at.pod.pod.spec
    return ImageScore(
        images=tuple(_share(normalized_image_name(name), at) for name in image_references(spec)),
        lowest_bytes=MIN_THRESHOLD_BYTES,
        highest_bytes=plugin.highest_bytes(spec),
    )


def _share(name: str, at: AtNode) -> ImageShare:
    n_all = at.nodes.n
    if not at.node.cluster.has_image(name):
        return ImageShare(name, 0, 0, n_all, present=False)
    image = at.node.image(name)
    n_nodes, present = int(image.n_nodes[0]), bool(image.present[0])
    return ImageShare(name, image.size_bytes, n_nodes, n_all, present)


def _size(amount_bytes: int) -> str:
    """Return bytes in MiB, as image sizes are seldom whole."""
    if amount_bytes % (1 << 20) == 0:
        return amount_text("memory", amount_bytes)
    return f"{amount_bytes / (1 << 20):.1f}Mi"
