"""What could be done about a pod's claims on each node, worked out for all nodes at once.

Nothing of it depends on the pods that run there, so that it is done once per cycle.

Upstream: v1.36 plugins/volumebinding/binder.go (FindPodVolumes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from scheduler_core.api import CSIDriver, PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler_core.api.claims import NO_PROVISIONER, SELECTED_NODE, STORAGE, claim_class
from scheduler_core.api.quantity import value
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.csi_translation import (
    TranslationError,
    plugin_of,
    translated_node_affinity,
)
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.framework.status import Code, Verdict
from scheduler_core.plugins.volume_binding.assume import AssumeCache
from scheduler_core.plugins.volume_binding.matching import Match, MatchingError, match_volumes
from scheduler_core.plugins.volume_binding.pod_claims import PodClaims
from scheduler_core.plugins.volume_binding.topology import VolumeTopology

BIND_CONFLICT: Final = "node(s) didn't find available persistent volumes to bind"
NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
NOT_ENOUGH_SPACE: Final = "node(s) did not have enough free storage"
VOLUME_NOT_FOUND: Final = (
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)


@dataclass(frozen=True, eq=False)
class Provision:
    """A claim to make a volume for, bool (n_rows,) where; `capacity_bytes` int64 (n_rows,).

    The capacity is that of the storage pool it would come from, -1 where that plays no part.
    """

    claim: PersistentVolumeClaim
    where: BoolArray
    capacity_bytes: IntArray


@dataclass(frozen=True, eq=False)
class PodVolumes:
    """The findings by row, each bool (n_rows,), and the decisions that go with them.

    `errors` are what went wrong and where; such a row has no other finding.
    """

    claims: PodClaims
    bound_elsewhere: BoolArray
    not_found: BoolArray
    unmatched: BoolArray
    no_space: BoolArray
    errors: Sequence[tuple[str, BoolArray]]
    matches: Sequence[Match]
    provisions: Sequence[Provision]

    def verdict(self, nodes: Nodes) -> Verdict:
        return Verdict.of(
            nodes.n, [(where[nodes.rows], code, text) for where, code, text in self._rejections]
        )

    @cached_property
    def _rejections(self) -> list[tuple[BoolArray, Code, str]]:
        """Where, how and why nodes are rejected, bool (n_rows,); only what happens anywhere."""
        grave = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        sound = np.ones(self.unmatched.size, np.bool_)
        rejections = []
        for text, where in self.errors:
            sound &= ~where
            rejections.append((where, Code.ERROR, text))
        rejections += [
            (sound & self.bound_elsewhere, grave, NODE_CONFLICT),
            (sound & self.unmatched, grave, BIND_CONFLICT),
            (sound & self.no_space, grave, NOT_ENOUGH_SPACE),
            (sound & self.not_found, grave, VOLUME_NOT_FOUND),
        ]
        return [each for each in rejections if each[0].any()]

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        by_node = {
            name: {
                "staticBindings": [
                    f"{claim.key} on {volume.name}" for volume, claim in self.static_bindings(row)
                ],
                "dynamicProvisions": [claim.key for claim in self.dynamic_provisions(row)],
            }
            for name, row in zip(nodes.names, nodes.rows.tolist(), strict=True)
        }
        return {
            "boundClaims": self.claims.bound,
            "claimsToBind": self.claims.delayed,
            "podVolumesByNode": {
                name: each for name, each in by_node.items() if any(each.values())
            },
        }

    def static_bindings(self, row: int) -> list[tuple[PersistentVolume, PersistentVolumeClaim]]:
        """Return the volumes to bind on a row, each with its claim."""
        found = ((match.volume(row), match.claim) for match in self.matches)
        return [(volume, claim) for volume, claim in found if volume is not None]

    def dynamic_provisions(self, row: int) -> list[PersistentVolumeClaim]:
        """Return the claims to make volumes for on a row."""
        return [each.claim for each in self.provisions if each.where[row]]


class Binder:
    """Finds volumes for claims. It writes nothing."""

    def __init__(
        self,
        objects: ObjectStore,
        volumes: AssumeCache[PersistentVolume],
        topology: VolumeTopology,
    ) -> None:
        self._objects = objects
        self._volumes = volumes
        self._topology = topology

    def find_pod_volumes(self, claims: PodClaims) -> PodVolumes:
        findings = _Findings(self._topology)
        bound_elsewhere, not_found = self._check_bound(claims.bound, findings)
        unmatched = self._selected_elsewhere(claims.delayed) & findings.sound
        here = ~unmatched
        matches = self._match(claims, here, findings)
        to_provision = self._to_provision(claims.delayed, matches, here)
        refused, no_space, provisions = self._provide(to_provision, findings)
        return PodVolumes(
            claims,
            bound_elsewhere,
            not_found,
            unmatched | refused,
            no_space,
            tuple(findings.errors),
            matches,
            provisions,
        )

    def _check_bound(
        self, claims: Sequence[PersistentVolumeClaim], findings: _Findings
    ) -> tuple[BoolArray, BoolArray]:
        """Return where a bound volume cannot be used, and where it was found to be missing."""
        elsewhere = self._topology.nowhere()
        for claim in claims:
            volume = self._volumes.get(claim.spec.volume_name)
            if volume is None:
                return elsewhere, findings.sound & ~elsewhere
            elsewhere |= ~self._usable(volume, ~elsewhere, findings)
        return elsewhere, self._topology.nowhere()

    def _usable(
        self, volume: PersistentVolume, asking: BoolArray, findings: _Findings
    ) -> BoolArray:
        """Return where a volume's node affinity lets it be used, bool (n_rows,).

        On nodes where its in-tree plugin is migrated, the driver's labels count.
        """
        topology = self._topology
        usable = topology.mask(topology.within(volume.spec.node_affinity))
        plugin = plugin_of(volume)
        if plugin is None or not plugin.migrated:
            return usable
        migrated = topology.migrated(plugin.name)
        if not migrated.any():
            return usable
        try:
            translated = topology.within(translated_node_affinity(plugin, volume))
        except TranslationError as error:
            findings.fail(f"could not translate pv: {error}", asking & migrated)
            return usable
        return np.where(migrated, topology.mask(translated), usable)

    def _selected_elsewhere(self, claims: Sequence[PersistentVolumeClaim]) -> BoolArray:
        """Return where some claim is being made a volume for another node."""
        elsewhere = self._topology.nowhere()
        for claim in claims:
            node_name = claim.metadata.annotations.get(SELECTED_NODE)
            if node_name is not None:
                elsewhere |= self._topology.is_not(node_name)
        return elsewhere

    def _match(self, claims: PodClaims, here: BoolArray, findings: _Findings) -> list[Match]:
        wanted = [
            (claim, claims.candidates[i])
            for i, claim in enumerate(claims.delayed)
            if SELECTED_NODE not in claim.metadata.annotations
        ]
        try:
            return match_volumes(wanted, self._topology)
        except MatchingError as error:
            findings.fail(str(error), here)
            return []

    def _to_provision(
        self, claims: Sequence[PersistentVolumeClaim], matches: Sequence[Match], here: BoolArray
    ) -> list[tuple[PersistentVolumeClaim, BoolArray]]:
        """Return the claims that no volume was found for, and where."""
        selected = [
            (claim, here) for claim in claims if SELECTED_NODE in claim.metadata.annotations
        ]
        return selected + [(match.claim, here & match.missing) for match in matches]

    def _provide(
        self,
        to_provision: Sequence[tuple[PersistentVolumeClaim, BoolArray]],
        findings: _Findings,
    ) -> tuple[BoolArray, BoolArray, list[Provision]]:
        """Return where a volume cannot be made, where there is no space, and what to make.

        The first claim that fails on a node decides.
        """
        refused, no_space = self._topology.nowhere(), self._topology.nowhere()
        provisions = []
        for claim, where in to_provision:
            asking = where & ~refused & ~no_space & findings.sound
            if not asking.any():
                continue
            storage_class = self._objects.get(StorageClass, claim_class(claim))
            assert storage_class is not None, "a claim that waits has a class that says so"
            allowed = self.allowed(storage_class)
            enough, capacity_bytes = self.enough(claim, storage_class)
            refused |= asking & ~allowed
            no_space |= asking & allowed & ~enough
            provisions.append(Provision(claim, where, capacity_bytes))
        return refused & findings.sound, no_space & findings.sound, provisions

    def usable(self, volume: PersistentVolume) -> BoolArray:
        """Return where a bound volume can be used, bool (n_rows,)."""
        return self._usable(volume, self._topology.everywhere(), _Findings(self._topology))

    def within_reach(self, volume: PersistentVolume) -> BoolArray:
        """Return where a volume's node affinity lets it be given to a claim, bool (n_rows,)."""
        return self._topology.mask(self._topology.within(volume.spec.node_affinity))

    @staticmethod
    def makes_volumes(storage_class: StorageClass) -> bool:
        """Return whether a class has a provisioner at all."""
        return storage_class.provisioner not in ("", NO_PROVISIONER)

    def allowed(self, storage_class: StorageClass) -> BoolArray:
        """Return where the class's provisioner makes volumes, bool (n_rows,)."""
        if not self.makes_volumes(storage_class):
            return self._topology.nowhere()
        return self._topology.mask(self._topology.allowed(storage_class.allowed_topologies))

    def enough(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass
    ) -> tuple[BoolArray, IntArray]:
        """Return where there is room for the volume, and how much the pool has, in bytes.

        It plays a part only for drivers that publish their capacity.
        """
        driver = self._objects.get(CSIDriver, storage_class.provisioner)
        size = claim.spec.resources.requests.get(STORAGE)
        if size is None or driver is None or not driver.spec.storage_capacity:
            return self._topology.everywhere(), np.full(self._topology.n_rows, -1)
        capacity_bytes = self._topology.capacities(storage_class.name, value(size))
        return capacity_bytes >= 0, capacity_bytes


class _Findings:
    """What went wrong so far, and where nothing did."""

    def __init__(self, topology: VolumeTopology) -> None:
        self.errors: list[tuple[str, BoolArray]] = []
        self.sound = topology.everywhere()

    def fail(self, text: str, where: BoolArray) -> None:
        where = where & self.sound
        if where.any():
            self.errors.append((text, where))
            self.sound = self.sound & ~where
