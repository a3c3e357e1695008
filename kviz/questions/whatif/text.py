"""What follows from changes, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kviz.questions.whatif.answer import Effect, Side
from scheduler_core.analysis.advice.trial import Differing, PodEnd
from scheduler_core.api.counting import counted
from scheduler_core.evidence.document import lead_document

MAX_LISTED = 20
"""So many other pods are listed as text; all are in the JSON."""


def as_json(found: Effect, changes: Sequence[str]) -> dict[str, object]:
    """Return what `kviz whatif --format json` prints; `changes` are the changes, one line each."""
    return {
        "changes": [
            {"change": change, "sentence": sentence}
            for change, sentence in zip(changes, found.sentences, strict=True)
        ],
        "pod": found.pod,
        "before": _end_json(found.before),
        "after": _end_json(found.after),
        "others": [
            {
                "pod": other.pod,
                "what": _what(other),
                "before": {"outcome": other.before.outcome, "node": other.before.node},
                "after": {"outcome": other.after.outcome, "node": other.after.node},
            }
            for other in found.others
        ],
    }


def _what(other: Differing) -> str:
    return f"new, {other.after.outcome}" if other.what == "new" else other.what


def _end_json(side: Side) -> dict[str, object]:
    end = side.end
    return {
        "outcome": end.outcome,
        "node": end.node,
        "cycle": end.cycle,
        "message": end.message,
        "lead": lead_document(side.lead) if side.lead is not None else None,
    }


def as_text(found: Effect) -> str:
    """Return the changes, the pod before and after, and who else ends differently."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Effect) -> Iterator[str]:
    yield "With"
    yield from (f"  {sentence}" for sentence in found.sentences)
    yield from ("", found.pod)
    yield from _end_lines("before", found.before)
    yield from _end_lines("after", found.after)
    yield ""
    if not found.others:
        yield "No other pod ends differently"
        return
    yield f"Ends differently: {counted(len(found.others), 'other pod')}"
    yield from (f"  {_other(each)}" for each in found.others[:MAX_LISTED])
    if len(found.others) > MAX_LISTED:
        yield f"  and {len(found.others) - MAX_LISTED:,} more"


def _end_lines(when: str, side: Side) -> Iterator[str]:
    end, lead = side.end, side.lead
    yield f"  {when:<8}{_where(end)}"
    if end.outcome != "pending":
        return
    if lead is not None:
        yield f"  {'':<8}{lead.text}"
        yield from (f"  {'':<8}{each}" for each in [lead.in_full] if each)
        yield from (f"  {'':<8}also: {each}" for each in lead.also)
    if end.message:
        yield f"  {'':<8}{end.message}"


def _where(end: PodEnd) -> str:
    match end.outcome:
        case "bound":
            return f"on {end.node}"
        case "absent":
            return "not there"
        case "pending" if not end.cycle:
            return "pending, never tried"
        case _:
            return end.outcome


def _other(other: Differing) -> str:
    match other.what:
        case "moved":
            return f"{other.pod} moved from {other.before.node} to {other.after.node}"
        case "newly bound":
            return f"{other.pod} newly bound, on {other.after.node}"
        case "newly pending" | "evicted" | "gone" if other.before.node:
            return f"{other.pod} {other.what}, was on {other.before.node}"
        case _:
            return f"{other.pod} {_what(other)}"
