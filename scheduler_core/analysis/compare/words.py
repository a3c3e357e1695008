"""A comparison in sentences, as an engineer would say it to a colleague."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.analysis.compare.difference import (
    NO_SCORE,
    NO_SUCH_NODE,
    NONE_TEXT,
    NOT_EXAMINED,
    PASSES,
    Difference,
    Value,
)
from scheduler_core.analysis.compare.ends import Ends, Moved
from scheduler_core.analysis.compare.parting import NO_CYCLE, Parting
from scheduler_core.wording import SEMICOLON, say, series


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
        return _identical(cycles.a, inputs_differ=inputs_differ)
    if parting is not None:
        first = parting_sentence(parting)
        if outcome is not None and outcome.cycle_a != parting.cycle_a:
            first = say(
                "diff.first_moves_pod",
                "{what} It first changes where a pod goes in {cycles}, at {pod}.",
                what=first,
                cycles=_cycles(outcome),
                pod=outcome.pod,
            )
    elif cycles.only_a == cycles.a and cycles.only_b == cycles.b:
        first = say("diff.no_common_pod", "The runs try no pod in common.")
    else:
        first = say("diff.attempts_same", "Every attempt that both runs have was decided the same.")
    if luck_only:
        first = say(
            "diff.rest_is_luck",
            "{what} All that follows is luck: only how ties are broken was changed.",
            what=first,
        )
    end = series(_ends(ends, *evicted), SEMICOLON)
    return say("diff.in_the_end", "{what} In the end {end}.", what=first, end=end)


def _identical(n_cycles: int, *, inputs_differ: bool) -> str:
    match n_cycles:
        case 0:
            same = say("diff.identical_empty", "The runs are identical: no pod was tried.")
        case 1:
            same = say(
                "diff.identical_one", "The runs are identical: the same decisions in all 1 cycle."
            )
        case _:
            same = say(
                "diff.identical",
                "The runs are identical: the same decisions in all {n:,} cycles.",
                n=n_cycles,
            )
    return (
        say("diff.start_differs", "{what} What they started from differs.", what=same)
        if inputs_differ
        else same
    )


def parting_sentence(parting: Parting) -> str:
    """Return where two runs part and what is different there, in one sentence."""
    found, cycles = parting.difference, _cycles(parting)
    if found.what == "cycle":
        run, over = ("A", "B") if found.b == NO_CYCLE else ("B", "A")
        return say(
            "diff.part_at_end",
            "The runs diverge in {cycles}: {run} tries {tried}; in {over} no cycle is left.",
            cycles=cycles,
            run=run,
            tried=found.a if found.b == NO_CYCLE else found.b,
            over=over,
        )
    if found.what == "pod":
        return say(
            "diff.part_in_pod",
            "The runs diverge in {cycles}: A tries {a}, B {b}.",
            cycles=cycles,
            a=found.a,
            b=found.b,
        )
    return say(
        "diff.part_in_decision",
        "The runs diverge in {cycles}, at {pod}, attempt {attempt}: {difference}.",
        cycles=cycles,
        pod=parting.pod,
        attempt=parting.attempt,
        difference=difference_text(found),
    )


def _cycles(parting: Parting) -> str:
    a, b = parting.cycle_a, parting.cycle_b
    if a and b and a != b:
        return say("diff.cycle_of_each", "cycle {a} of A and {b} of B", a=a, b=b)
    return say("diff.cycle_number", "cycle {n}", n=a or b)


KINDS: Final = {
    "scheduler": say("diff.scheduler", "scheduler"),
    "result": say("diff.result", "result"),
    "message": say("diff.message", "message"),
    "pod": say("count.pod", "pod"),
    "cycle": say("diff.cycle", "cycle"),
}


def difference_text(found: Difference) -> str:
    """Return a difference in words: where, and the value on either side."""
    plugin = "/".join(filter(None, (found.point, found.plugin)))
    place = (
        say("diff.plugin_on_node", "{plugin} on {node}", plugin=plugin, node=found.node)
        if found.node
        else plugin
    )
    a, b = _quoted(found, found.a), _quoted(found, found.b)
    match found.what:
        case "tie":
            return _tie(found.n_nodes, a, b)
        case "raw":
            return say(
                "diff.raw_score", "{place}, raw score {a} in A, {b} in B", place=place, a=a, b=b
            )
        case "normalized":
            return say(
                "diff.normalized_score",
                "{place}, normalised score {a} in A, {b} in B",
                place=place,
                a=a,
                b=b,
            )
        case "weight":
            return say("diff.weight", "{plugin} weighs {a} in A, {b} in B", plugin=plugin, a=a, b=b)
        case "total":
            return say("diff.total", "{place}, total {a} in A, {b} in B", place=place, a=a, b=b)
        case "plugin":
            a, b = _scores(found.a), _scores(found.b)
            return say("diff.at_place", "{place}: {a} in A, {b} in B", place=place, a=a, b=b)
        case "nominated_node":
            return say(
                "diff.nominates", "{plugin} nominates {a} in A, {b} in B", plugin=plugin, a=a, b=b
            )
        case "victims":
            return say("diff.evicts", "{plugin} evicts {a} in A, {b} in B", plugin=plugin, a=a, b=b)
        case "devices":
            return say("diff.keeps", "{place} keeps {a} in A, {b} in B", place=place, a=a, b=b)
        case "scheduler" | "result" | "message" | "pod" | "cycle":
            return say(
                "diff.value_of",
                "the {what} is {a} in A, {b} in B",
                what=KINDS[found.what],
                a=a,
                b=b,
            )
        case "status" | "narrowed" | "verdict" | "feasible":
            return say("diff.at_place", "{place}: {a} in A, {b} in B", place=place, a=a, b=b)


def _tie(n_nodes: int, a: str, b: str) -> str:
    if n_nodes == 1:
        return say(
            "diff.tie_one",
            "only the tie. 1 node had the same top score; A took {a}, B {b}",
            a=a,
            b=b,
        )
    return say(
        "diff.tie",
        "only the tie. {n:,} nodes had the same top score; A took {a}, B {b}",
        n=n_nodes,
        a=a,
        b=b,
    )


_BARE = (PASSES, NOT_EXAMINED, NO_SUCH_NODE, NONE_TEXT, NO_SCORE)


def _quoted(found: Difference, value: Value) -> str:
    """Return a value; what a plugin says of a node in quotation marks."""
    if found.what in ("verdict", "status", "message") and value not in _BARE:
        return f'"{value}"'
    return f"{value:,}" if isinstance(value, int) else value


def _scores(value: Value) -> str:
    return NO_SCORE if value == NO_SCORE else say("diff.scores", "scores {value}", value=value)


def _ends(ends: Ends, *evicted: Sequence[str]) -> Iterator[str]:
    """Yield what is different in the end, the worst first."""
    evicted_a, evicted_b = evicted
    if n := len(ends.newly_pending):
        yield (
            say("diff.newly_pending_one", "1 pod is pending in B and placed in A")
            if n == 1
            else say("diff.newly_pending", "{n:,} pods are pending in B and placed in A", n=n)
        )
    if n := len(ends.newly_bound):
        yield (
            say("diff.newly_placed_one", "1 pod is placed in B and pending in A")
            if n == 1
            else say("diff.newly_placed", "{n:,} pods are placed in B and pending in A", n=n)
        )
    if ends.moved:
        yield _moved(ends.moved)
    if n := len(ends.messages):
        yield (
            say("diff.other_reason_one", "1 pod is pending for another reason")
            if n == 1
            else say("diff.other_reason", "{n:,} pods are pending for another reason", n=n)
        )
    if evicted_a != evicted_b:
        a, b = len(evicted_a), len(evicted_b)
        yield (
            say("diff.evicted_one", "evicted were 1 pod in A, {b:,} in B", b=b)
            if a == 1
            else say("diff.evicted", "evicted were {a:,} pods in A, {b:,} in B", a=a, b=b)
        )
    if not (ends.newly_pending or ends.newly_bound or ends.moved or ends.messages):
        yield say("diff.all_in_place", "every pod that both runs have is in the same place")
        if others := [each.resource for each in ends.utilisation if each.a != each.b]:
            yield say(
                "diff.resources_left",
                "different amounts of {resources} are left",
                resources=series(others),
            )


def _moved(moved: Sequence[Moved]) -> str:
    n, n_luck = len(moved), sum(each.luck is True for each in moved)
    text = (
        say("diff.moved_one", "1 pod is on another node")
        if n == 1
        else say("diff.moved", "{n:,} pods are on another node", n=n)
    )
    return (
        say("diff.some_by_tie", "{what}, {n:,} by a tie only", what=text, n=n_luck)
        if n_luck
        else text
    )


def share_text(share: float | None) -> str:
    """Return a share as a percentage, `-` where there is none."""
    return "-" if share is None else f"{share:.0%}"
