"""A comparison in sentences, as an engineer would say it to a colleague."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scheduler_core.api.findings import counted
from scheduler_core.compare.difference import (
    NO_SCORE,
    NO_SUCH_NODE,
    NONE_TEXT,
    NOT_EXAMINED,
    PASSES,
    Difference,
    Value,
)
from scheduler_core.compare.ends import Ends
from scheduler_core.compare.parting import NO_CYCLE, Parting


@dataclass(frozen=True, slots=True)
class Cycles:
    """How many cycles there were, and how many of one pod and attempt came to different ends."""

    a: int
    b: int
    differ: int
    only_a: int
    only_b: int


def sentence(
    parting: Parting | None,
    outcome: Parting | None,
    ends: Ends,
    *,
    cycles: Cycles,
    evicted: tuple[Sequence[str], Sequence[str]],
    identical: bool,
    inputs_differ: bool,
    luck_only: bool,
) -> str:
    """Return the answer: whether the runs differ, where they part, and what came of it."""
    if identical:
        all_of_them = f"the same decisions in all {counted(cycles.a, 'cycle')}"
        same = f"The runs are identical: {all_of_them if cycles.a else 'no pod was tried'}."
        return f"{same} What they started from differs." if inputs_differ else same
    if parting is None and cycles.only_a == cycles.a and cycles.only_b == cycles.b:
        first = "The runs try no pod in common."
    elif parting is None:
        first = "Every attempt that both runs have was decided the same."
    else:
        first = parting_sentence(parting)
        if outcome is not None and outcome.cycle_a != parting.cycle_a:
            first += f" It first changes where a pod goes in {_cycles(outcome)}, at {outcome.pod}."
    if luck_only:
        first += " All that follows is luck: only how ties are broken was changed."
    return f"{first} In the end {'; '.join(_ends(ends, *evicted))}."


def parting_sentence(parting: Parting) -> str:
    """Return where two runs part and what is different there, in one sentence."""
    found = parting.difference
    where = f"The runs part in {_cycles(parting)}"
    if found.what == "cycle":
        run, over = ("A", "B") if found.b == NO_CYCLE else ("B", "A")
        tried = found.a if found.b == NO_CYCLE else found.b
        return f"{where}: {run} tries {tried}; in {over} no cycle is left."
    if found.what == "pod":
        return f"{where}: A tries {found.a}, B {found.b}."
    return f"{where}, at {parting.pod}, attempt {parting.attempt}: {difference_text(found)}."


def _cycles(parting: Parting) -> str:
    a, b = parting.cycle_a, parting.cycle_b
    if a and b and a != b:
        return f"cycle {a} of A and {b} of B"
    return f"cycle {a or b}"


def difference_text(found: Difference) -> str:
    """Return a difference in words: where, and the value on either side."""
    place = "/".join(filter(None, (found.point, found.plugin)))
    on = f" on {found.node}" if found.node else ""
    a, b = _quoted(found, found.a), _quoted(found, found.b)
    match found.what:
        case "tie":
            return (
                f"only the tie. {counted(found.n_nodes, 'node')} had the same top score; "
                f"A took {a}, B {b}"
            )
        case "raw" | "normalized":
            kind = "raw" if found.what == "raw" else "normalised"
            return f"{place}{on}, {kind} score {a} in A, {b} in B"
        case "weight":
            return f"{place} weighs {a} in A, {b} in B"
        case "total":
            return f"{place}{on}, total {a} in A, {b} in B"
        case "plugin":
            return f"{place}{on}: {_scores(found.a)} in A, {_scores(found.b)} in B"
        case "nominated_node":
            return f"{place} nominates {a} in A, {b} in B"
        case "victims":
            return f"{place} evicts {a} in A, {b} in B"
        case "devices":
            return f"{place}{on} keeps {a} in A, {b} in B"
        case "scheduler" | "result" | "message" | "pod" | "cycle":
            return f"the {found.what} is {a} in A, {b} in B"
        case "status" | "narrowed" | "verdict" | "feasible":
            return f"{place}{on}: {a} in A, {b} in B"


_BARE = (PASSES, NOT_EXAMINED, NO_SUCH_NODE, NONE_TEXT, NO_SCORE)


def _quoted(found: Difference, value: Value) -> str:
    """Return a value; what a plugin says of a node in quotation marks."""
    if found.what in ("verdict", "status", "message") and value not in _BARE:
        return f'"{value}"'
    return f"{value:,}" if isinstance(value, int) else value


def _scores(value: Value) -> str:
    return NO_SCORE if value == NO_SCORE else f"scores {value}"


def _ends(ends: Ends, *evicted: Sequence[str]) -> Iterator[str]:
    """Yield what is different in the end, the worst first."""
    evicted_a, evicted_b = evicted
    if ends.newly_pending:
        yield f"{_pods(ends.newly_pending)} pending in B and placed in A"
    if ends.newly_bound:
        yield f"{_pods(ends.newly_bound)} placed in B and pending in A"
    if ends.moved:
        n_luck = sum(each.luck is True for each in ends.moved)
        luck = f", {n_luck:,} by a tie only" if n_luck else ""
        yield f"{_pods(ends.moved)} on another node{luck}"
    if ends.messages:
        yield f"{_pods(ends.messages)} pending for another reason"
    if evicted_a != evicted_b:
        yield f"evicted were {counted(len(evicted_a), 'pod')} in A, {len(evicted_b):,} in B"
    if not (ends.newly_pending or ends.newly_bound or ends.moved or ends.messages):
        yield "every pod that both runs have is in the same place"
        if others := [each.resource for each in ends.utilisation if each.a != each.b]:
            yield f"what is left differs of {', '.join(others)}"


def _pods(rows: Sequence[object]) -> str:
    return f"{counted(len(rows), 'pod')} {'is' if len(rows) == 1 else 'are'}"


def share_text(share: float | None) -> str:
    """Return a share as a percentage, `-` where there is none."""
    return "-" if share is None else f"{share:.0%}"
