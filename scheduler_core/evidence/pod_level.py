"""What keeps a pod from being tried at all, or from any node: PreEnqueue and PreFilter.

Upstream: v1.36 plugins/schedulinggates, and PreFilter of nodeaffinity and the volume plugins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler_core.api.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    claims_of,
    foreign_claim_error,
    is_fully_bound,
)
from scheduler_core.api.selectors import METADATA_NAME
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.plugins.node_affinity import named_nodes, required_terms
from scheduler_core.wording import AND, say, series, some_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GatesLifted(Requirement):
    """The scheduling gates of a pod, all of which must be lifted."""

    kind = "schedulingGates"
    gates: tuple[str, ...]

    @property
    def asks(self) -> str:
        return say("pod.no_gate", "no scheduling gate")

    @property
    def has(self) -> str:
        return series(self.gates)

    @property
    def sentence(self) -> str:
        if len(self.gates) == 1:
            return say("pod.gated", "is held back by the scheduling gate {gate}", gate=self.has)
        return say(
            "pod.gated_by_several", "is held back by the scheduling gates {gates}", gates=self.has
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VictimsGone(Requirement):
    """A pod whose victims are being evicted waits; `victim` is the last one, if it is known."""

    kind = "preemptionUnderWay"
    victim: str

    @property
    def asks(self) -> str:
        return say("pod.victims_gone", "its victims gone")

    @property
    def has(self) -> str:
        return (
            say("pod.victim_there", "{victim} still there", victim=self.victim)
            if self.victim
            else say("pod.evictions_under_way", "their eviction under way")
        )

    @property
    def sentence(self) -> str:
        if not self.victim:
            return say(
                "pod.waits_for_victims", "waits until the pods it preempts are being deleted"
            )
        return say(
            "pod.waits_for_victim",
            "waits until the pods it preempts are being deleted, {victim} the last of them",
            victim=self.victim,
        )


ClaimProblem = Literal["", "missing", "ephemeralMissing", "lost", "deleting", "foreign", "unbound"]
"""What keeps a pod with this claim from any node; `unbound`: its class binds at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReady(Requirement):
    """A claim that a volume of the pod uses, and what is the matter with it.

    `volume` is the one it names, `volume_found` whether that exists.
    """

    kind = "claim"
    claim: str
    problem: ClaimProblem
    volume: str = ""
    volume_found: bool = True
    storage_class: str = ""
    class_found: bool = True
    binding_mode: str = ""

    @property
    def asks(self) -> str:
        return say("pod.claim", "claim {claim}", claim=self.claim)

    @property
    def has(self) -> str:
        match self.problem:
            case "":
                return say("pod.it", "it")
            case "missing":
                return say("pod.claim_absent", "no such claim")
            case "ephemeralMissing":
                return say(
                    "pod.claim_not_yet",
                    "no such claim yet: the ephemeral volume controller has to make it",
                )
            case "lost":
                return say(
                    "pod.claim_lost",
                    "it bound to volume {volume}, which is lost",
                    volume=self.volume,
                )
            case "deleting":
                return say("pod.claim_leaving", "it being deleted")
            case "foreign":
                return say(
                    "pod.claim_of_other", "a claim of that name which was not made for this pod"
                )
            case "unbound":
                return self._unbound(say("pod.claim_unbound", "it not bound"))

    @property
    def sentence(self) -> str:
        match self.problem:
            case "missing":
                return say(
                    "pod.uses_absent", "uses claim {claim}, which does not exist", claim=self.claim
                )
            case "ephemeralMissing":
                return say(
                    "pod.uses_not_yet",
                    "uses claim {claim}, which the controller has not made yet",
                    claim=self.claim,
                )
            case "lost":
                return say(
                    "pod.uses_lost",
                    "uses claim {claim}, whose volume {volume} is lost",
                    claim=self.claim,
                    volume=self.volume,
                )
            case "deleting":
                return say(
                    "pod.uses_leaving",
                    "uses claim {claim}, which is being deleted",
                    claim=self.claim,
                )
            case "foreign":
                return say(
                    "pod.uses_of_other",
                    "uses claim {claim}, which was not made for this pod",
                    claim=self.claim,
                )
            case "unbound":
                return self._unbound(
                    say(
                        "pod.uses_unbound",
                        "uses claim {claim}, which is not bound",
                        claim=self.claim,
                    )
                )
            case "":
                return say("pod.uses", "uses claim {claim}", claim=self.claim)

    def _unbound(self, what: str) -> str:
        """Return that the claim is not bound, with the reason."""
        if self.volume and self.volume_found:
            return say(
                "pod.unbound_names_volume",
                "{what} although it names volume {volume}",
                what=what,
                volume=self.volume,
            )
        if self.volume:
            return say(
                "pod.unbound_names_absent",
                "{what} although it names volume {volume}, which does not exist",
                what=what,
                volume=self.volume,
            )
        if not self.storage_class:
            return say(
                "pod.unbound_names_nothing",
                "{what} and names neither volume nor storage class",
                what=what,
            )
        if not self.class_found:
            return say(
                "pod.unbound_no_class",
                "{what}: its storage class {storage_class} does not exist",
                what=what,
                storage_class=self.storage_class,
            )
        return say(
            "pod.unbound_immediate",
            "{what}: its class {storage_class} binds before any pod is scheduled ({mode})",
            what=what,
            storage_class=self.storage_class,
            mode=self.binding_mode or "Immediate",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesAgree(Requirement):
    """The nodes that the required node affinity names; some node must be named by all lists."""

    kind = "nodeNames"
    names: tuple[tuple[str, ...], ...]

    @property
    def asks(self) -> str:
        return series((series(each) for each in self.names), AND)

    @property
    def has(self) -> str:
        return say("pod.no_node_is_all", "no node that is all of them")

    @property
    def sentence(self) -> str:
        return say("pod.requires_names", "requires a node named {asks} at once", asks=self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesExist(Requirement):
    """The nodes that the required node affinity names, none of which there is."""

    kind = "namedNodes"
    names: tuple[str, ...]

    @property
    def asks(self) -> str:
        return say("labels.the_node", "node {name}", name=some_of(self.names))

    @property
    def has(self) -> str:
        return say("pod.no_such_node", "no such node")

    @property
    def sentence(self) -> str:
        return say("pod.node_absent", "must run on {asks}, which does not exist", asks=self.asks)


def gates_lifted(pod: PodInfo) -> Iterator[GatesLifted]:
    gates = tuple(gate.name for gate in pod.pod.spec.scheduling_gates)
    yield GatesLifted(met=not gates, gates=gates)


def names_agree(pod: PodInfo) -> Iterator[NamesAgree | NodesExist]:
    """Yield the names that the pod's node affinity requires, which no node can meet."""
    required = required_terms(pod.pod.spec)
    names = named_nodes(required.node_selector_terms) if required is not None else None
    if names:
        yield NodesExist(met=False, names=tuple(sorted(names)))
        return
    lists = [
        field.values
        for term in (required.node_selector_terms if required is not None else ())
        for field in term.match_fields
        if field.key == METADATA_NAME and field.operator == "In"
    ]
    yield NamesAgree(met=False, names=tuple(lists))


def claims_ready(pod: PodInfo, objects: ObjectStore) -> Iterator[ClaimReady]:
    """Yield the claims of the pod's volumes, in order."""
    for name, ephemeral in claims_of(pod.pod):
        yield _claim_ready(pod, name, ephemeral, objects)


def _claim_ready(pod: PodInfo, name: str, ephemeral: bool, objects: ObjectStore) -> ClaimReady:
    key = f"{pod.pod.namespace}/{name}"
    claim = objects.get(PersistentVolumeClaim, key)
    if claim is None:
        problem: ClaimProblem = "ephemeralMissing" if ephemeral else "missing"
        return ClaimReady(met=False, claim=key, problem=problem)
    problem = _problem(pod, claim, ephemeral, objects)
    volume, storage_class = claim.spec.volume_name, claim_class(claim)
    known = objects.get(StorageClass, storage_class) if storage_class else None
    return ClaimReady(
        met=not problem,
        claim=key,
        problem=problem,
        volume=volume,
        volume_found=bool(volume) and objects.get(PersistentVolume, volume) is not None,
        storage_class=storage_class,
        class_found=known is not None,
        binding_mode=known.volume_binding_mode if known else "",
    )


def _problem(
    pod: PodInfo, claim: PersistentVolumeClaim, ephemeral: bool, objects: ObjectStore
) -> ClaimProblem:
    if claim.status.phase == "Lost":
        return "lost"
    if claim.metadata.deletion_timestamp is not None:
        return "deleting"
    if ephemeral and foreign_claim_error(pod.pod, claim):
        return "foreign"
    if is_fully_bound(claim):
        volume = objects.get(PersistentVolume, claim.spec.volume_name)
        return "" if volume is not None else "lost"
    known = objects.get(StorageClass, claim_class(claim))
    waits = known is not None and known.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
    return "" if waits and not claim.spec.volume_name else "unbound"
