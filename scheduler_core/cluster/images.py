"""Images that nodes have, and on how many nodes each was when a node was last looked at.

A cycle works on a snapshot in which only those nodes are copied anew that have changed since the
one before. A copy says of every image on the node how many nodes had it at that moment: that
another node has pulled it since is not seen until the node itself changes.

Upstream: v1.36 pkg/scheduler/backend/cache/cache.go (addNodeImageStates, removeNodeImageStates,
UpdateSnapshot).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler_core.api import Node
from scheduler_core.cluster.arrays import BoolArray, IntArray, grown


@dataclass
class _Image:
    """One image: its size, the rows that have it, and those as a column once asked for.

    `before[i]` is on how many nodes it was until after the snapshot at time `until[i]`.
    """

    size_bytes: int
    rows: set[int] = field(default_factory=set)
    present: BoolArray | None = None
    until: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    def column(self, size: int) -> BoolArray:
        """Return where the image is, bool (size,)."""
        if self.present is None:
            self.present = np.zeros(size, np.bool_)
            self.present[list(self.rows)] = True
        self.present = grown(self.present, size)
        return self.present

    def fork(self) -> _Image:
        present = None if self.present is None else self.present.copy()
        return _Image(self.size_bytes, set(self.rows), present, self.until[:], self.before[:])

    def set_at(self, row: int, *, present: bool) -> None:
        (self.rows.add if present else self.rows.discard)(row)
        if self.present is not None:
            self.present = grown(self.present, row + 1)
            self.present[row] = present


class Images:
    """All images by name. Times are those of the rows' last changes."""

    def __init__(self) -> None:
        self._images: dict[str, _Image] = {}
        self._shared: set[str] = set()
        """Images that a fork has, too; copied before they are changed."""
        self._snapshot_at = 0
        self._outdated: set[int] = set()
        """Rows that may say of an image on how many nodes it was, not on how many it is."""

    def __contains__(self, name: str) -> bool:
        return name in self._images

    def fork(self) -> Images:
        """Return a copy that may be changed while this one is not."""
        fork = Images()
        self._shared = set(self._images)
        fork._images, fork._shared = self._images.copy(), set(self._images)
        fork._snapshot_at, fork._outdated = self._snapshot_at, set(self._outdated)
        return fork

    def column(self, name: str, changed_at: IntArray) -> tuple[BoolArray, int, IntArray]:
        """Return where an image is (bool), its size in bytes, and on how many nodes it was.

        Columns are over all rows. The size is the one that the first node reported, as long as
        any node has the image. The last column says on how many nodes the image was at the first
        snapshot after each row's last change.
        """
        image = self._images.get(name)
        if image is None:
            return np.zeros(changed_at.size, np.bool_), 0, np.zeros(changed_at.size, np.int64)
        counts = np.array([*image.before, len(image.rows)], np.int64)
        seen = counts[np.searchsorted(np.array(image.until, np.int64), changed_at)]
        return image.column(changed_at.size), image.size_bytes, seen

    def set_node(self, row: int, old: Node | None, new: Node | None) -> None:
        """Note which images a row has now: an image that only it had is as good as new."""
        for name in _image_sizes(old):
            image = self._own(name)
            self._remember(image, row)
            image.set_at(row, present=False)
            if not image.rows:
                del self._images[name]
        for name, reported in _image_sizes(new).items():
            image = self._own(name) if name in self._images else _Image(reported)
            self._images[name] = image
            self._remember(image, row)
            image.set_at(row, present=True)

    def _own(self, name: str) -> _Image:
        """Return a known image that may be changed."""
        if name in self._shared:
            self._shared.discard(name)
            self._images[name] = self._images[name].fork()
        return self._images[name]

    def _remember(self, image: _Image, row: int) -> None:
        """Note on how many nodes an image was until now."""
        if image.rows and (not image.until or image.until[-1] < self._snapshot_at):
            image.until.append(self._snapshot_at)
            image.before.append(len(image.rows))
        if self._snapshot_at:  # before the first snapshot no row says anything yet
            self._outdated |= image.rows - {row}

    def snapshot(self, now: int) -> None:
        """Note that rows changed up to now have been copied as they are."""
        self._snapshot_at = now

    def is_brought_up_to_date(self, row: int) -> bool:
        """Return whether a change of the row may change what it says of its images."""
        if row not in self._outdated:
            return False
        self._outdated.discard(row)
        return True


def _image_sizes(node: Node | None) -> dict[str, int]:
    sizes: dict[str, int] = {}
    if node is not None:
        for image in node.status.images:
            for name in image.names:
                sizes.setdefault(name, image.size_bytes)
    return sizes
