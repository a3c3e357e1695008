"""Images that nodes already have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_core.api import PodSpec
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import ImageColumn, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn, NodeFacts
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import MAX_NODE_SCORE, Scores
from scheduler_core.framework.scoring import go_div
from scheduler_core.framework.signatures import Signed, image_names

_MEBIBYTE = 1024 * 1024
MIN_THRESHOLD_BYTES = 23 * _MEBIBYTE
MAX_CONTAINER_THRESHOLD_BYTES = 1000 * _MEBIBYTE


class ImageLocality:
    """Prefer nodes that have pulled the pod's images, large and widespread ones above all.

    `sum = total of size * (nodes with the image / all nodes)` over the images of containers,
    init containers and image volumes that the node has;
    `score = 100 * (sum - min) / (max - min)` with `sum` held between `min = 23 MiB` and
    `max = 1000 MiB * number of containers and init containers`, and from v1.37 on image volumes.

    Upstream: v1.36 plugins/imagelocality.
    """

    name = "ImageLocality"
    depends_on = DependsOn(per_node=NodeFacts.OBJECT_AND_IMAGES)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._counts_volumes = handle.features.switches.image_volumes_raise_limit

    def sign_pod(self, pod: PodInfo) -> Signed:
        """Sign with the images of containers; those of volumes are signed as volumes."""
        spec = pod.pod.spec
        containers = (*spec.containers, *spec.init_containers)
        return (image_names([normalized_image_name(c.image) for c in containers]),)

    def score(self, state: None, pod: PodInfo, nodes: Nodes) -> Scores:
        spec = pod.pod.spec
        n_all = self._handle.all_nodes().n
        sums = np.zeros(nodes.n, np.int64)
        for reference in image_references(spec):
            name = normalized_image_name(reference)
            if nodes.cluster.has_image(name):
                image = nodes.image(name)
                sums += scaled_size_bytes(image, n_all) * image.present
        highest = self.highest_bytes(spec)
        # Not np.clip: without any container `highest` is below the lower bound, which wins.
        held = np.where(sums < MIN_THRESHOLD_BYTES, MIN_THRESHOLD_BYTES, np.minimum(sums, highest))
        return go_div(MAX_NODE_SCORE * (held - MIN_THRESHOLD_BYTES), highest - MIN_THRESHOLD_BYTES)

    def highest_bytes(self, spec: PodSpec) -> int:
        """Return the sum that scores 100."""
        n_images = len(spec.containers) + len(spec.init_containers)
        if self._counts_volumes:
            n_images += sum(volume.image is not None for volume in spec.volumes)
        return MAX_CONTAINER_THRESHOLD_BYTES * n_images


def image_references(spec: PodSpec) -> Iterator[str]:
    """Yield the images of init containers, containers and image volumes, as they are named."""
    for container in (*spec.init_containers, *spec.containers):
        yield container.image
    for volume in spec.volumes:
        if volume.image is not None:
            yield volume.image.reference


def scaled_size_bytes(image: ImageColumn, n_nodes: int) -> IntArray:
    """Return the size scaled down by the share of nodes that have the image, int64 (n,)."""
    scaled: IntArray = (float(image.size_bytes) * (image.n_nodes / n_nodes)).astype(np.int64)
    return scaled


def normalized_image_name(reference: str) -> str:
    """Add `:latest` to a reference without tag or digest."""
    tagged = reference.rfind(":") > reference.rfind("/")
    return reference if tagged else f"{reference}:latest"
