"""Evidence of a cycle's verdicts and scores: of the pod, and of any node.

The trace holds verdicts; the values behind them are read in the cluster as it was (`held_cycles`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, TypedDict, cast

from kviz import sentences
from kviz.runs.models import PodOutcome, Run
from kviz.runs.reading.held_cycles import HELD, CannotReenact, is_quick
from kviz.runs.reading.node_groups import NodeGroupDocument, node_groups
from kviz.runs.reading.preview import previewed
from kviz.runs.reading.projection import CycleDocument, Json, StatusDocument, answer_document
from kviz.runs.reading.trace import cycle_why
from scheduler_core.analysis.advice.bugs import bugs_documents, bugs_in
from scheduler_core.changes import Change
from scheduler_core.evidence.comparison import Comparison
from scheduler_core.evidence.cycle import CycleEvidence
from scheduler_core.evidence.document import (
    comparison_document,
    free_room_document,
    lead_document,
    node_document,
    plugin_document,
    requests_document,
)
from scheduler_core.evidence.lead import Lead, lead_of_why, nearest_first, rejections_of
from scheduler_core.sim.decided import DecidedCycle
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.trace.why import Why, lacks_room
from scheduler_core.wording import say

LEAD_FIELDS: Final = tuple(field.name for field in dataclasses.fields(Lead))


class UnknownNode(LookupError):
    """A cycle saw no node of that name."""

    def __init__(self, node: str) -> None:
        super().__init__(say("cycle.saw_no_node", "the cycle saw no node {node}", node=node))


class NearestDocument(TypedDict):
    """A near miss: all plugins that reject it, each with its sentence."""

    node: str
    sentences: list[SentenceDocument]


class SentenceDocument(TypedDict):
    plugin: str
    sentence: str


class PodEvidenceDocument(TypedDict):
    """The pod of one cycle: the sentence that leads, null where it found a node.

    `bugs` are the scheduler's own that decide about it. `free_room` is what is free on the nodes
    that lack only room, null where there are none. `groups` are the rejected nodes, those that say
    the same together.
    """

    cycle: int
    pod: str
    lead: Json | None
    bugs: list[Json]
    free_room: Json | None
    requests: list[Json]
    rejections: list[Json]
    groups: list[NodeGroupDocument]
    nearest: list[NearestDocument]
    ineligible_to_preempt: str


class NodeEvidenceDocument(TypedDict):
    """One node in one cycle. `recorded` is the cycle's own verdict, null for a feasible node.

    `examined` is false for a node that Filter did not get to.
    """

    cycle: int
    pod: str
    pod_node: str
    examined: bool
    feasible: bool
    recorded: StatusDocument | None
    requests: list[Json]
    pod_rejections: list[Json]
    evidence: Json
    comparison: Json | None


def pod_evidence(*, run: Run, recorded: CycleDocument) -> PodEvidenceDocument:
    """Why the cycle found no node, and how the pod's requests come about.

    Raises CannotReenact.
    """
    found = cycle_why(run=run, cycle=recorded["cycle"])
    return HELD.ask(run, recorded, lambda cycle: _pod(recorded, found, cycle))


def lead_of_outcome(pod: PodOutcome) -> Lead | None:
    """The stored sentence that says why a pod is pending, None if none is known."""
    if pod.lead is None:
        return None
    stored = cast("dict[str, Any]", sentences.said(pod.lead))
    return Lead(**{name: stored[name] for name in LEAD_FIELDS if name in stored})


def _lead(found: Why, cycle: ReenactedCycle | None) -> Lead | None:
    return None if cycle is None or found.n_feasible else lead_of_why(cycle.evidence, found)


def _pod(recorded: CycleDocument, found: Why, cycle: ReenactedCycle | None) -> PodEvidenceDocument:
    leading, evidence = _lead(found, cycle), cycle.evidence if cycle is not None else None
    return {
        "cycle": recorded["cycle"],
        "pod": recorded["pod"],
        "lead": lead_document(leading) if leading is not None else None,
        "bugs": bugs_documents(bugs_in(cycle, recorded["message"])) if cycle is not None else [],
        "free_room": _free_room(found, cycle),
        "requests": requests_document(evidence.requests) if evidence is not None else [],
        "rejections": [plugin_document(each) for each in evidence.pod] if evidence else [],
        "groups": node_groups(recorded, cycle),
        "nearest": _nearest(found, evidence) if evidence is not None else [],
        "ineligible_to_preempt": evidence.ineligible_to_preempt if evidence is not None else "",
    }


def _free_room(found: Why, cycle: ReenactedCycle | None) -> Json | None:
    room = cycle.evidence.free_room if cycle is not None and lacks_room(found) else None
    return free_room_document(room) if room is not None else None


def _nearest(found: Why, evidence: CycleEvidence) -> list[NearestDocument]:
    """The near misses, nearest first now that every plugin is asked, lasting causes first."""
    if found.n_feasible:
        return []
    return [
        {
            "node": node,
            "sentences": [
                {"plugin": each.plugin, "sentence": each.sentence}
                for each in rejections_of(evidence, found, node)
            ],
        }
        for node in nearest_first(evidence, found)[: len(found.nearest)]
    ]


def pod_evidence_at_once(*, run: Run, recorded: CycleDocument) -> PodEvidenceDocument | None:
    """The same, if it is available and takes no longer than a page may; None otherwise."""
    if not is_quick(recorded):
        return None
    try:
        return pod_evidence(run=run, recorded=recorded)
    except CannotReenact:
        return None


def node_evidence(
    *,
    run: Run,
    recorded: CycleDocument,
    node: str,
    against: str = "",
    changes: Sequence[Change] = (),
) -> NodeEvidenceDocument | None:
    """Every plugin about one node, and its scores written out; None for a node it did not see.

    With `changes`, all of it is about the cycle as they would have it. `against` names a node to
    compare it with. Raises CannotReenact, UnknownNode for that one, and BadChanges.
    """

    def look(cycle: ReenactedCycle | None) -> NodeEvidenceDocument | None:
        if cycle is None:
            return None
        if not changes:
            found = _Found(recorded["node"], recorded["feasible"], recorded["filter"])
            return _node(cycle, found, node, against)
        decided = previewed(cycle, changes).decided
        if decided is None:
            raise CannotReenact(
                say("cycle.held_back", "With these changes the pod is held back before its cycle.")
            )
        rejected = {name: answer_document(status) for name, status in decided.rejected.items()}
        return _node(decided, _Found(decided.node, decided.feasible, rejected), node, against)

    return HELD.ask(run, recorded, look)


@dataclasses.dataclass(frozen=True)
class _Found:
    """What a cycle came to: the node it chose, those that fit, and why others do not."""

    node: str
    feasible: Container[str]
    rejected: Mapping[str, StatusDocument]


def _node(
    cycle: DecidedCycle, found: _Found, node: str, against: str
) -> NodeEvidenceDocument | None:
    evidence, feasible = cycle.evidence, node in found.feasible
    if node not in evidence.node_names:
        return None
    if against and against not in evidence.node_names:
        raise UnknownNode(against)
    of_node = evidence.node(node)
    both = Comparison(of_node, evidence.node(against)) if against else None
    return {
        "cycle": cycle.number,
        "pod": cycle.pod,
        "pod_node": found.node,
        "examined": feasible or node in found.rejected,
        "feasible": feasible,
        "recorded": found.rejected.get(node),
        "requests": requests_document(evidence.requests),
        "pod_rejections": [plugin_document(each) for each in evidence.pod],
        "evidence": node_document(of_node),
        "comparison": comparison_document(both) if both is not None else None,
    }
