"""Volumes: where they can be used, which one a claim would get, and in which zone it lies.

Upstream: v1.36 plugins/volumebinding and plugins/volumezone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler_core.api.claims import SELECTED_NODE, STORAGE, claim_class
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.evidence.node_labels import (
    Term,
    label_terms,
    missed_asks,
    missed_has,
    one_of,
)
from scheduler_core.evidence.requirement import (
    MAX_NAMED,
    AtNode,
    Requirement,
    Stated,
    label_text,
    short_key,
    state_of,
)
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_binding.binder import PodVolumes
from scheduler_core.plugins.volume_binding.matching import AVAILABLE, size_of
from scheduler_core.plugins.volume_zone import (
    TOPOLOGY_KEYS,
    VolumeTopology,
    in_topology,
)
from scheduler_core.wording import OR, say, series, some_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeUsable(Requirement):
    """The volume of a bound claim, which must be there and let itself be used on the node.

    `terms` is its node affinity, of which one term must hold; none restrict nothing.
    """

    kind = "boundVolume"
    claim: str
    volume: str
    found: bool
    terms: tuple[Term, ...]

    @property
    def asks(self) -> str:
        text = say(
            "volumes.of_claim",
            "volume {volume} of claim {claim}",
            volume=self.volume,
            claim=self.claim,
        )
        where = series((term.asks for term in self.terms), OR)
        return (
            say("volumes.usable_where", "{volume}, usable where {where}", volume=text, where=where)
            if where
            else text
        )

    @property
    def has(self) -> str:
        if not self.found:
            return say("volumes.nowhere", "no such volume anywhere")
        if self.met:
            return say("volumes.access", "access to it")
        missed = (each.has for term in self.terms for each in term.missed)
        return series(dict.fromkeys(missed)) or say("volumes.no_access", "no access to it")

    @property
    def sentence(self) -> str:
        if not self.found:
            return say(
                "volumes.bound_to_absent",
                "uses claim {claim}, which is bound to volume {volume} that does not exist",
                claim=self.claim,
                volume=self.volume,
            )
        return say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )

    @property
    def headline(self) -> str:
        where = missed_asks(self.terms)
        if self.met or not where:
            return self.sentence
        return say(
            "volumes.usable_elsewhere",
            "needs volume {volume}, usable where {where}; the node has {has}",
            volume=self.volume,
            where=where,
            has=missed_has(self.terms),
        )


WhyNot = Literal[
    "", "tooSmall", "volumeMode", "deleting", "phase", "labels", "accessModes", "node", "taken"
]
"""Why a volume is not given to a claim on the node; empty: nothing speaks against it."""

_WHY_NOT: dict[WhyNot, str] = {
    "": say("volumes.fits", "fits"),
    "tooSmall": say("volumes.too_small", "too small"),
    "volumeMode": say("volumes.other_mode", "another volume mode"),
    "deleting": say("volumes.being_deleted", "being deleted"),
    "phase": say("volumes.not_available", "not Available"),
    "labels": say("volumes.labels_differ", "labels do not match the claim's selector"),
    "accessModes": say("volumes.lacks_access_mode", "lacks an access mode"),
    "node": say("volumes.not_node", "not on this node"),
    "taken": say("volumes.for_other_claim", "goes to another claim of the pod"),
}


@dataclass(frozen=True, slots=True)
class CandidateVolume:
    """A volume the claim could have, and what speaks against it on the node."""

    volume: str
    why_not: WhyNot


Outcome = Literal["volume", "provision", "selectedElsewhere", "noProvisioner", "topology", "space"]
"""What becomes of an unbound claim on the node; all but the first two reject it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimBindable(Requirement):
    """A claim that is bound once its pod has a node: to a volume there, or to one to be made.

    `volume` is the one it would get. `candidates` are volumes of its class, `n_candidates` how
    many there are. `terms` are the class's allowed topologies.
    """

    kind = "unboundClaim"
    claim: str
    storage_class: str
    request: str
    outcome: Outcome
    volume: str = ""
    selected_node: str = ""
    provisioner: str = ""
    candidates: tuple[CandidateVolume, ...] = ()
    n_candidates: int = 0
    terms: tuple[Term, ...] = ()

    @property
    def asks(self) -> str:
        return say(
            "volumes.of_class_for_claim",
            "{volume} of class {storage_class} for claim {claim}",
            volume=self.request or say("volumes.any_volume", "a volume"),
            storage_class=self.storage_class,
            claim=self.claim,
        )

    @property
    def has(self) -> str:
        match self.outcome:
            case "volume":
                return say("volumes.the_volume", "volume {volume}", volume=self.volume)
            case "provision":
                return say(
                    "volumes.would_provision",
                    "{provisioner}, which would make one",
                    provisioner=self.provisioner,
                )
            case "selectedElsewhere":
                return say(
                    "volumes.being_made_elsewhere",
                    "not a candidate: the volume is being provisioned for {selected_node}",
                    selected_node=self.selected_node,
                )
            case "noProvisioner":
                if not self.candidates:
                    return say("volumes.none_made", "no volume for it, and the class makes none")
                return say(
                    "volumes.none_of_candidates",
                    "no volume for it ({candidates}), and the class makes none",
                    candidates=self._candidates,
                )
            case "topology":
                missed = dict.fromkeys(e.has for term in self.terms for e in term.missed)
                return say(
                    "volumes.class_allows",
                    "{missed}, and the class allows only {allowed}",
                    missed=series(missed),
                    allowed=self._allowed,
                )
            case "space":
                return say(
                    "volumes.no_pool",
                    "no storage pool of {provisioner} with so much room",
                    provisioner=self.provisioner,
                )

    @property
    def sentence(self) -> str:
        return say(
            "requirement.needs", "needs {asks}, the node has {has}", asks=self.asks, has=self.has
        )

    @property
    def _allowed(self) -> str:
        return series((term.asks for term in self.terms), OR)

    @property
    def _candidates(self) -> str:
        shown = [
            say(
                "volumes.candidate_why",
                "{volume} {why}",
                volume=each.volume,
                why=_WHY_NOT[each.why_not],
            )
            for each in self.candidates
        ]
        return some_of(shown, self.n_candidates, MAX_NAMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeZoneMatched(Requirement):
    """A zone or region that a bound volume is labelled with; the node must be in one of them."""

    kind = "volumeZone"
    volume: str
    key: str
    values: tuple[str, ...]
    actual: str | None

    @property
    def asks(self) -> str:
        return say(
            "volumes.label_of",
            "{key}={where} of volume {volume}",
            key=self.key,
            where=series(self.values, OR),
            volume=self.volume,
        )

    @property
    def has(self) -> str:
        return label_text(self.key, self.actual)

    @property
    def sentence(self) -> str:
        where = series(self.values, OR)
        return say(
            "volumes.in_other_zone",
            "needs volume {volume}, which is in {key}={where}, the node has {has}",
            volume=self.volume,
            key=self.key,
            where=where,
            has=self.has,
        )

    @property
    def headline(self) -> str:
        key = short_key(self.key)
        return say(
            "volumes.in_other_zone",
            "needs volume {volume}, which is in {key}={where}, the node has {has}",
            volume=self.volume,
            key=key,
            where=series(self.values, OR),
            has=label_text(key, self.actual),
        )


def volumes_usable(
    plugin: VolumeBinding, state: object, at: AtNode
) -> Iterator[VolumeUsable | ClaimBindable | Stated]:
    """Yield the pod's bound claims, then those to be bound."""
    prepared = state_of(PodVolumes, state)
    for text, where in prepared.errors:
        if where[at.row]:
            yield Stated(met=False, reasons=(text,))
            return
    for claim in prepared.claims.bound:
        usable = _usable(plugin, claim, at)
        yield usable
        if not usable.found:
            break
    for claim in prepared.claims.delayed:
        yield _bindable(plugin, prepared, claim, at)


def _usable(plugin: VolumeBinding, claim: PersistentVolumeClaim, at: AtNode) -> VolumeUsable:
    name = claim.spec.volume_name
    volume = plugin.volumes.get(name)
    if volume is None:
        return VolumeUsable(met=False, claim=claim.key, volume=name, found=False, terms=())
    affinity = volume.spec.node_affinity
    return VolumeUsable(
        met=bool(plugin.binder.usable(volume)[at.row]),
        claim=claim.key,
        volume=name,
        found=True,
        terms=label_terms(affinity.required if affinity else None, at),
    )


def _bindable(
    plugin: VolumeBinding, prepared: PodVolumes, claim: PersistentVolumeClaim, at: AtNode
) -> ClaimBindable:
    storage_class = at.objects.get(StorageClass, claim_class(claim))
    assert storage_class is not None, "a claim that waits has a class that says so"
    selected = claim.metadata.annotations.get(SELECTED_NODE)
    taken = {other.key: volume.name for volume, other in prepared.static_bindings(at.row)}
    candidates = [
        CandidateVolume(volume.name, _why_not(plugin, claim, volume, at, taken))
        for i, other in enumerate(prepared.claims.delayed)
        if other is claim
        for volume in prepared.claims.candidates[i]
    ]
    volume = "" if selected is not None else taken.get(claim.key, "")
    outcome: Outcome = "volume" if volume else _provided(plugin, claim, storage_class, at)
    if selected is not None and selected != at.node_name:
        outcome = "selectedElsewhere"
    return ClaimBindable(
        met=outcome in ("volume", "provision"),
        claim=claim.key,
        storage_class=storage_class.name,
        request=_size_text(claim),
        outcome=outcome,
        volume=volume,
        selected_node=selected or "",
        provisioner=storage_class.provisioner,
        candidates=tuple(candidates[:MAX_NAMED]),
        n_candidates=len(candidates),
        terms=tuple(_allowed_terms(storage_class, at)),
    )


def _provided(
    plugin: VolumeBinding, claim: PersistentVolumeClaim, storage_class: StorageClass, at: AtNode
) -> Outcome:
    """Return whether a volume could be made for the claim, and if not, why."""
    binder = plugin.binder
    if not binder.makes_volumes(storage_class):
        return "noProvisioner"
    if not binder.allowed(storage_class)[at.row]:
        return "topology"
    enough, _ = binder.enough(claim, storage_class)
    return "provision" if enough[at.row] else "space"


def _why_not(
    plugin: VolumeBinding,
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    at: AtNode,
    taken: dict[str, str],
) -> WhyNot:
    """Return the first thing that speaks against a volume, in the order in which it is asked."""
    spec, selector = volume.spec, claim.spec.selector
    if size_of(spec.capacity) < size_of(claim.spec.resources.requests):
        return "tooSmall"
    if (spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return "volumeMode"
    if volume.metadata.deletion_timestamp is not None:
        return "deleting"
    if volume.status.phase != AVAILABLE:
        return "phase"
    if selector is not None and not label_selector_matches(selector, volume.metadata.labels):
        return "labels"
    if not set(claim.spec.access_modes).issubset(spec.access_modes):
        return "accessModes"
    if not plugin.binder.within_reach(volume)[at.row]:
        return "node"
    others = (name for key, name in taken.items() if key != claim.key)
    return "taken" if volume.name in others else ""


def _allowed_terms(storage_class: StorageClass, at: AtNode) -> Iterator[Term]:
    for term in storage_class.allowed_topologies:
        expressions = tuple(
            one_of(each.key, each.values, at) for each in term.match_label_expressions
        )
        yield Term(expressions)


def _size_text(claim: PersistentVolumeClaim) -> str:
    return claim.spec.resources.requests.get(STORAGE, "")


def volume_zones(state: object, at: AtNode) -> Iterator[VolumeZoneMatched]:
    """Yield the zones of the pod's volumes; a node without any such label takes any volume."""
    anywhere = all(at.label(key) is None for key in TOPOLOGY_KEYS)
    for each in state_of(tuple, state):
        topology = state_of(VolumeTopology, each)
        yield VolumeZoneMatched(
            met=anywhere or bool(in_topology(topology, at.node)[0]),
            volume=topology.volume,
            key=topology.key,
            values=tuple(sorted(topology.values)),
            actual=at.label(topology.key),
        )
