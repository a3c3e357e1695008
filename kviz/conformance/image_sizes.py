"""Which of the sizes that nodes report for an image counted in a recorded run.

The scheduler keeps the size that the first node reported, and the order in which a starting
scheduler hears of nodes is a matter of chance. So any reported size will do, but the same one
through the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from scheduler_core.api import Node
from scheduler_core.cluster.nodes import ImageColumn, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import ScorePlugin, Scores
from scheduler_core.plugins.image_locality import normalized_image_name

MAX_TRIALS = 10_000


class _SizedNodes(Nodes):
    """The same nodes with other sizes of images."""

    def __init__(self, nodes: Nodes, sizes_bytes: Mapping[str, int]) -> None:
        super().__init__(nodes.cluster, nodes.rows, nodes.changes)
        self._sizes_bytes = sizes_bytes

    def image(self, name: str) -> ImageColumn:
        column = super().image(name)
        return replace(column, size_bytes=self._sizes_bytes.get(name, column.size_bytes))


class ImageSizes:
    """The sizes in bytes that agree with all that was recorded so far, by image."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._possible: dict[str, list[int]] = {}
        for node in nodes:
            for image in node.status.images:
                for name in image.names:
                    sizes = self._possible.setdefault(name, [])
                    if image.size_bytes not in sizes:
                        sizes.append(image.size_bytes)

    def scores(
        self,
        plugin: ScorePlugin[None],
        pod: PodInfo,
        nodes: Nodes,
        expected: Mapping[int, int],
    ) -> Scores | None:
        """Return the plugin's scores, int64 (n,), under sizes that give the expected ones.

        `expected` is by position in `nodes`. None if no reported sizes give them.
        """
        images = self._images_of(pod)
        trials = islice(product(*(self._possible[name] for name in images)), MAX_TRIALS)
        fitting: list[tuple[tuple[int, ...], Scores]] = []
        for sizes_bytes in trials:
            sized = _SizedNodes(nodes, dict(zip(images, sizes_bytes, strict=True)))
            scores = plugin.score(None, pod, sized)
            if all(int(scores[i]) == score for i, score in expected.items()):
                fitting.append((sizes_bytes, scores))
        for i, name in enumerate(images):
            left = {sizes_bytes[i] for sizes_bytes, _ in fitting}
            self._possible[name] = [size for size in self._possible[name] if size in left]
        return fitting[0][1] if fitting else None

    def _images_of(self, pod: PodInfo) -> list[str]:
        spec = pod.pod.spec
        names = [normalized_image_name(c.image) for c in (*spec.init_containers, *spec.containers)]
        return [name for name in dict.fromkeys(names) if name in self._possible]
