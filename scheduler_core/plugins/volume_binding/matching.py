"""Which existing volume a claim would be given on each node.

Upstream: v1.36 component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim
from scheduler_core.api.claims import STORAGE, claim_class, volume_class
from scheduler_core.api.quantity import parse_quantity
from scheduler_core.api.selectors import label_selector_error, label_selector_matches
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.plugins.volume_binding.topology import VolumeTopology

AVAILABLE: Final = "Available"
FILESYSTEM: Final = "Filesystem"
NOWHERE: Final = -2
"""Equal to no position and not to -1, which stands for no choice."""


class MatchingError(ValueError):
    """A claim that cannot be matched with anything; the message is upstream's."""


@dataclass(frozen=True, eq=False)
class Match:
    """A claim and the position in `volumes` it is given per row, int64 (n_rows,); -1: none."""

    claim: PersistentVolumeClaim
    volumes: Sequence[PersistentVolume]
    chosen: IntArray

    def volume(self, row: int) -> PersistentVolume | None:
        position = int(self.chosen[row])
        return None if position == ABSENT else self.volumes[position]

    @property
    def missing(self) -> BoolArray:
        missing: BoolArray = self.chosen == ABSENT
        return missing

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {volume.name: i for i, volume in enumerate(self.volumes)}

    def gives(self, volume: PersistentVolume, rows: IntArray | slice) -> BoolArray:
        """Return on which of some rows the claim is given that volume, bool."""
        gives: BoolArray = self.chosen[rows] == self._positions.get(volume.name, NOWHERE)
        return gives


def size_of(amounts: Mapping[str, str]) -> Fraction:
    """Return the exact amount of storage, 0 if none is named."""
    return _exact(amounts.get(STORAGE, "0"))


@lru_cache(maxsize=4096)
def _exact(text: str) -> Fraction:
    quantity = parse_quantity(text)
    return Fraction(quantity.unscaled) * Fraction(10) ** quantity.exponent


def match_volumes(
    wanted: Sequence[tuple[PersistentVolumeClaim, Sequence[PersistentVolume]]],
    topology: VolumeTopology,
) -> list[Match]:
    """Give claims, smallest first, the smallest volumes that suit them and the node.

    A volume goes to one claim only. Raises MatchingError.
    """
    matches: list[Match] = []
    ascending = sorted(wanted, key=lambda each: size_of(each[0].spec.resources.requests))
    for claim, volumes in ascending:
        matches.append(_match(claim, volumes, matches, topology))
    return matches


def _match(
    claim: PersistentVolumeClaim,
    volumes: Sequence[PersistentVolume],
    earlier: Sequence[Match],
    topology: VolumeTopology,
) -> Match:
    """Choose per row. Of several smallest volumes upstream takes any, here the first created."""
    error = label_selector_error(claim.spec.selector)
    if error:
        what = "error creating internal label selector for claim"
        raise MatchingError(f"{what}: {claim.key}: {error}")
    match = Match(claim, volumes, np.full(topology.n_rows, ABSENT))
    acceptable = [i for i, volume in enumerate(volumes) if _is_acceptable(claim, volume)]
    reserved = [i for i in acceptable if _is_bound_to(volumes[i], claim)][:1]
    open_rows = topology.everywhere()
    for i in reserved:
        # Nothing else will do, also where this one cannot be used, unless it is given away.
        given_away = np.logical_or.reduce(
            [topology.nowhere(), *(each.gives(volumes[i], slice(None)) for each in earlier)]
        )
        _give(match, i, ~given_away, earlier, topology)
        open_rows = given_away
    free = [i for i in acceptable if _is_available(claim, volumes[i])]
    n_open = int(open_rows.sum())
    for i in sorted(free, key=lambda i: size_of(volumes[i].spec.capacity)):
        if n_open == 0:
            break
        n_open -= _give(match, i, open_rows, earlier, topology)
    return match


def _give(
    match: Match,
    i: int,
    where: BoolArray,
    earlier: Sequence[Match],
    topology: VolumeTopology,
) -> int:
    """Choose volume `i` where it can be used and nothing is chosen yet; return on how many rows.

    Rows where an earlier claim of the pod is given the volume are left out.
    """
    within = topology.within(match.volumes[i].spec.node_affinity)
    rows = slice(None) if within is None else within
    given = where[rows] & (match.chosen[rows] == ABSENT)
    for each in earlier:
        given &= ~each.gives(match.volumes[i], rows)
    at = np.flatnonzero(given) if within is None else within[given]
    match.chosen[at] = i
    return int(at.size)


def _is_acceptable(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether the claim could have the volume, be it bound to it already or free."""
    spec = volume.spec
    return (
        (spec.claim_ref is None or _is_bound_to(volume, claim))
        and size_of(spec.capacity) >= size_of(claim.spec.resources.requests)
        and (spec.volume_mode or FILESYSTEM) == (claim.spec.volume_mode or FILESYSTEM)
        and spec.volume_attributes_class_name == claim.spec.volume_attributes_class_name
        and volume.metadata.deletion_timestamp is None
    )


def _is_available(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether a free volume meets the claim's further wishes."""
    selector = claim.spec.selector
    return (
        volume.status.phase == AVAILABLE
        and (selector is None or label_selector_matches(selector, volume.metadata.labels))
        and volume_class(volume) == claim_class(claim)
        and set(claim.spec.access_modes).issubset(volume.spec.access_modes)
    )


def _is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume names the claim, and means this very one if it says more."""
    named = volume.spec.claim_ref
    if named is None or (named.namespace, named.name) != (claim.namespace, claim.name):
        return False
    return named.uid in ("", claim.uid)
