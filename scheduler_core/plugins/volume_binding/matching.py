"""Which existing volume a claim would be given on each node.

Upstream: v1.36 component-helpers/storage/volume/pv_helpers.go (FindMatchingVolume).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim
from scheduler_core.api.quantity import parse_quantity
from scheduler_core.api.selectors import label_selector_error, label_selector_matches
from scheduler_core.cluster.claims import STORAGE, claim_class, volume_class
from scheduler_core.cluster.nodes import ABSENT, BoolArray, IntArray
from scheduler_core.plugins.volume_binding.topology import VolumeTopology

AVAILABLE: Final = "Available"
FILESYSTEM: Final = "Filesystem"


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


def size_of(amounts: dict[str, str]) -> Fraction:
    """Return the exact amount of storage, 0 if none is named."""
    quantity = parse_quantity(amounts.get(STORAGE, "0"))
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
    considered = topology.everywhere()
    for i in reserved:
        # Nothing else will do, also where this one cannot be used, unless it is given away.
        considered = _given_away(volumes[i], earlier, topology)
        _give(match, i, ~considered, topology)
    free = [i for i in acceptable if _is_available(claim, volumes[i])]
    for i in sorted(free, key=lambda i: size_of(volumes[i].spec.capacity)):
        if not (considered & match.missing).any():
            break
        if earlier:
            _give(match, i, considered & ~_given_away(volumes[i], earlier, topology), topology)
        else:
            _give(match, i, considered, topology)
    return match


def _give(match: Match, i: int, where: BoolArray, topology: VolumeTopology) -> None:
    """Choose volume `i` on the nodes it can be used on that have no choice yet."""
    rows = topology.within(match.volumes[i].spec.node_affinity)
    if rows is None:
        match.chosen[where & match.missing] = i
    else:
        match.chosen[rows[where[rows] & (match.chosen[rows] == ABSENT)]] = i


def _given_away(
    volume: PersistentVolume, earlier: Sequence[Match], topology: VolumeTopology
) -> BoolArray:
    """Return where another claim of the pod is given the volume, bool (n_rows,)."""
    taken = topology.nowhere()
    for match in earlier:
        position = _position(match.volumes, volume)
        if position != ABSENT:
            taken |= match.chosen == position
    return taken


def _position(volumes: Sequence[PersistentVolume], wanted: PersistentVolume) -> int:
    return next((i for i, each in enumerate(volumes) if each is wanted), ABSENT)


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
