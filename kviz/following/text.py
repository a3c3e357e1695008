"""A reality check as lines of text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kviz.following.moments import NEAR_NS, Moment, matters
from kviz.following.reality import AGREEMENTS, CAUSES, Compared, Score
from scheduler_core.api.counting import counted
from scheduler_core.config import FeatureGates

MAX_MESSAGE = 160


def as_json(found: Sequence[Compared], score: Score, gates: FeatureGates) -> dict[str, object]:
    """Return the score, and every decision beside kviz's own."""
    return {
        "release": gates.release.name,
        "releaseText": gates.release_text,
        "decisions": score.n_decisions,
        "explained": score.n_explained,
        "notModelled": score.n_not_modelled,
        "counts": dict(score.counts),
        "compared": [document(each) for each in found],
    }


def document(found: Compared) -> dict[str, object]:
    """Return one decision: `told` is what happened, `kviz` its own verdict."""
    decision, kviz = found.decision, found.kviz
    return {
        "number": decision.number,
        "pod": decision.pod.key,
        "what": decision.what,
        "resourceVersion": str(decision.version),
        "told": {"node": decision.node or None, "message": decision.message or None},
        "kviz": {
            "ending": kviz.ending,
            "node": kviz.node or None,
            "tied": sorted(kviz.tied),
            "message": kviz.message or None,
        },
        "agreement": found.agreement,
        "shift": found.n_shift,
        "agreementText": AGREEMENTS[found.agreement],
        "cause": found.cause or None,
        "causeText": CAUSES[found.cause] if found.cause else None,
        "sentence": found.sentence or None,
    }


def as_text(found: Sequence[Compared], score: Score, gates: FeatureGates) -> str:
    """Return the statement, the counts, and the disagreements."""
    return "\n".join([*_lines(found, score), "", gates.text]) + "\n"


def _lines(found: Sequence[Compared], score: Score) -> Iterator[str]:
    yield score.sentence
    for agreement, n in score.counts.items():
        if n:
            yield f"{n:>7} {agreement}"
    apart = [each for each in found if each.agreement == "unexplained"]
    if apart:
        yield ""
        yield f"{counted(len(apart), 'decision')} that kviz does not explain:"
    for each in apart:
        yield f"  {each.decision.number}  {each.decision.pod.key}"
        yield f"      told: {told(each)}"
        yield f"      kviz: {own(each)}"
        sure = "cause" if each.cause == "not known" else "most likely"
        yield f"      {sure} {each.cause}: {each.sentence}"


def changed_before(moment: Moment) -> Iterator[str]:
    """Say what changed just before a decision, the latest first."""
    for past in reversed(moment.past):
        if past.now_ns < moment.now_ns - NEAR_NS:
            return
        if matters(past):
            change = past.change
            yield f"{change.resource} {change.item.key} {change.what}"


def bound_after(moment: Moment) -> Iterator[str]:
    """Say which pods were bound just after it: some may have been assumed already."""
    yield from (f"{pod.key} on {node}" for pod, node in moment.later_bindings())


def told(found: Compared) -> str:
    """Say what happened."""
    decision = found.decision
    return f"bound to {decision.node}" if decision.node else decision.message


def own(found: Compared) -> str:
    """Say what kviz's engine did."""
    kviz = found.kviz
    match kviz.ending:
        case "bound":
            ties = f", one of {len(kviz.tied)} equals" if len(kviz.tied) > 1 else ""
            return f"bound to {kviz.node}{ties}"
        case "not tried":
            return f"not tried: {kviz.why}"
        case _:
            return kviz.message
