"""The one shape in which REST and the command line give evidence out.

Amounts are integers: cpu in milli, all else in bytes or units. Every requirement has its `kind`,
whether it is `met`, both sides and the sentence as text, and then the values they are made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeAlias, cast

from scheduler_core.evidence.comparison import Comparison, RequirementPair, ScorePair
from scheduler_core.evidence.cycle import NodeEvidence, PluginEvidence, ScoreEvidence
from scheduler_core.evidence.free_room import FreeRoom
from scheduler_core.evidence.lead import Lead
from scheduler_core.evidence.preemption import NodePreemption
from scheduler_core.evidence.requests import RequestParts
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.wording import builtins

Document: TypeAlias = "dict[str, object]"


def node_document(found: NodeEvidence) -> Document:
    """Return all that is known of one node."""
    rejections = found.rejections
    return {
        "node": found.node,
        "sentence": found.sentence,
        "rejected_by": [each.plugin for each in rejections],
        "plugins": [plugin_document(each) for each in found.plugins],
        "preemption": _preemption(found.preemption) if found.preemption is not None else None,
        "scores": [_score(each) for each in found.scores],
        "total": found.total if found.scores else None,
        "total_text": _total_text(found) if found.scores else "",
    }


def comparison_document(found: Comparison) -> Document:
    """Return two nodes side by side; what is of both is a pair, null where one has none."""
    both = (found.first, found.second)
    return {
        "nodes": [each.node for each in both],
        "rejected_by": [[one.plugin for one in each.rejections] for each in both],
        "sentence": found.sentence,
        "requirements": [_requirement_pair(pair) for pair in found.requirements],
        "scores": [_score_pair(pair, found.deciders) for pair in found.scores],
        "totals": [each.total for each in both] if found.scores else None,
        "difference": found.difference if found.scores else None,
        "deciders": list(found.deciders),
    }


def plugin_document(found: PluginEvidence) -> Document:
    return {
        "plugin": found.plugin,
        "point": found.point,
        "code": found.status.code.label,
        "reasons": list(found.status.reasons),
        "sentence": found.sentence,
        "with_nominated": list(found.with_nominated),
        "requirements": [_requirement(each) for each in found.requirements],
    }


def requests_document(parts: Iterable[RequestParts]) -> list[Document]:
    """Return how the pod's requests come about."""
    return [{"text": each.text, **_values(each)} for each in parts]


def lead_document(lead: Lead) -> Document:
    """Return the sentence that leads."""
    return {"text": lead.text, "in_full": lead.in_full, **_values(lead)}


def free_room_document(found: FreeRoom) -> Document:
    """Return what is free on the nodes that lack only room: cpu in milli, others in bytes."""
    return {
        "sentence": found.sentence,
        "nodes": found.n_nodes,
        "resources": [
            {
                "resource": each.resource,
                "requested": each.requested,
                "free": each.free,
                "most": each.most,
                "emptiest": each.emptiest,
            }
            for each in found.amounts
        ],
    }


def _requirement(requirement: Requirement) -> Document:
    return {
        "kind": requirement.kind,
        "met": requirement.met,
        "asks": requirement.asks,
        "has": requirement.has,
        "sentence": requirement.sentence,
        "detail": requirement.detail,
        "asks_parts": [list(part) for part in requirement.asks_parts],
        "has_parts": [list(part) for part in requirement.has_parts],
        "values": {name: value for name, value in _values(requirement).items() if name != "met"},
    }


def _requirement_pair(pair: RequirementPair) -> Document:
    both = (pair.first, pair.second)
    return {
        "plugin": pair.plugin,
        "kind": pair.asks.kind,
        "asks": pair.asks.asks,
        "met": [each.met if each is not None else None for each in both],
        "has": [each.has if each is not None else None for each in both],
        "sentences": [each.sentence if each is not None else None for each in both],
    }


def _score_pair(pair: ScorePair, deciders: Collection[str]) -> Document:
    both = (pair.first, pair.second)
    return {
        "plugin": pair.plugin,
        "formula": pair.first.raw.formula,
        "texts": [each.raw.text for each in both],
        "raw": [each.raw.value for each in both],
        "normalized": [each.normalized.value for each in both],
        "weight": pair.first.weight,
        "weighted": [each.weighted for each in both],
        "difference": pair.difference,
        "decides": pair.plugin in deciders,
    }


def _preemption(found: NodePreemption) -> Document:
    return {"sentence": found.sentence, **_values(found)}


def _score(score: ScoreEvidence) -> Document:
    raw, normalized = score.raw, score.normalized
    return {
        "plugin": score.plugin,
        "kind": raw.kind,
        "formula": raw.formula,
        "text": raw.text,
        "raw": raw.value,
        "values": _values(raw),
        "normalized": normalized.value,
        "normalized_by": normalized.rule,
        "normalized_text": normalized.text,
        "lowest": normalized.lowest,
        "highest": normalized.highest,
        "weight": score.weight,
        "weighted": score.weighted,
    }


def _total_text(found: NodeEvidence) -> str:
    """Return the sum of the weighted scores with its numbers."""
    parts = (f"{each.weight}*{each.normalized.value} ({each.plugin})" for each in found.scores)
    return f"{' + '.join(parts)} = {found.total}"


def _values(value: object) -> Document:
    """Return the fields of a value as JSON has them."""
    return cast("Document", builtins(value))
