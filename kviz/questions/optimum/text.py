"""The answer in sentences, and as the document that a page is made of."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kviz.questions.optimum.answer import Answer, as_json
from kviz.questions.optimum.comparison import EVICTIONS, Comparison
from kviz.questions.optimum.loss import Loss
from scheduler_core.analysis.model import Viability
from scheduler_core.api.counting import counted

MAX_LISTED = 20
"""So many pods are listed as text; all are in the JSON."""

WORTH: dict[Viability, str] = {
    "classic": "classic: the weights of the preferred terms that match",
    "snapshot": "scores at the snapshot: the totals of the score plugins in the cluster as it is",
    "replayed": "scores replayed: the totals of the score plugins at each pod's turn",
}


def as_text(found: Answer) -> str:
    """Return the statement, and what it rests on."""
    said = (*_hindrances(found.comparison), *statements(found))
    values = () if found.comparison.not_comparable else ("", *_values(found))
    return "\n".join((*said, *values)) + "\n"


def as_document(found: Answer) -> dict[str, object]:
    """Return what a page shows: the JSON, the moved pods, what was in reach, and sentences."""
    moved, regret = found.comparison.moved, found.regret
    return as_json(found) | {
        "moved": [
            {"pod": pod, "run": here, "optimum": there} for pod, (here, there) in moved.items()
        ],
        "reach": [
            {
                "cycle": each.cycle,
                "since": each.since,
                "exact": each.exact,
                "placed": sum(each.placed.values()),
                "by_priority": {str(level): n for level, n in each.placed.items()},
                "value": each.value,
            }
            for each in regret.reach
        ],
        "reach_complete": regret.complete,
        "loss": _loss(found.loss),
        "statements": list(statements(found)),
        "possible": in_digits(found.comparison.optimum.counts.possible),
    }


def _loss(loss: Loss | None) -> dict[str, int] | None:
    if loss is None:
        return None
    return {
        "cycle": loss.cycle,
        "in_reach_until": loss.in_reach_until,
        "priority": loss.priority,
        "pods": loss.n_pods,
        "of": loss.n_found,
    }


def statements(found: Answer) -> Iterator[str]:
    """Yield what there is to say, one sentence each, the most important first.

    Of what cannot be compared that is only what the run did by evicting, beside what goes without.
    """
    comparison = found.comparison
    if not comparison.not_comparable or _evicts(comparison):
        yield _placed(comparison)
    if comparison.not_comparable:
        return
    yield from _priorities(comparison)
    yield _worth(comparison)
    yield from _lost(found)


def _hindrances(comparison: Comparison) -> Iterator[str]:
    if comparison.not_comparable:
        yield "Not comparable: the run did, or the pods ask for, what no placement can express."
        yield from (f"  {each}" for each in comparison.not_comparable)


def _evicts(comparison: Comparison) -> bool:
    return any(each.startswith(EVICTIONS) for each in comparison.not_comparable)


def _placed(comparison: Comparison) -> str:
    best, n = comparison.optimum, comparison.n_pods
    here, there = sum(comparison.run.placed.values()), sum(best.placed.values())
    since = comparison.at_cycle
    waiting = f"{counted(n, 'pod')} that waited as cycle {since} began"
    did = f"The scheduler placed {here} of {waiting if since > 1 else counted(n, 'pod')}"
    if _evicts(comparison):
        return f"{did}, with evictions; without any, {there} can be placed."
    if best.placement is None:
        bound = sum(best.bound_placed.values())
        return f"{did}. The search found no placement; nobody can place more than {bound}."
    if best.bound_placed == best.placed:
        if comparison.run.placed == best.placed:
            more = "" if here == n else "; nobody can place more"
            return f"{did}{more}."
        return f"{did}; {there} can be placed{'' if there == n else ', and nobody can place more'}."
    bound = sum(best.bound_placed.values())
    if comparison.run.placed == best.placed:
        return f"{did}. No placement of more was found; nobody can place more than {bound}."
    return f"{did}; {there} can be placed, and nobody can place more than {bound}."


def _priorities(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence for every priority at which the two differ, if there are several."""
    if len(comparison.run.placed) < 2:
        return
    for level, there in comparison.optimum.placed.items():
        here, bound = comparison.run.placed[level], comparison.optimum.bound_placed[level]
        if here != there:
            limit = "" if bound == there else f", at most {bound}"
            yield f"Of priority {level:,} it placed {here}, where {there} can be placed{limit}."


def _worth(comparison: Comparison) -> str:
    best, value = comparison.optimum, comparison.run.value
    if comparison.gap == 0 and comparison.is_optimal and best.proven:
        return f"Its placement is worth {value:,}, and no other is worth more: it is optimal."
    own = "nothing in this mode" if value is None else f"{value:,}"
    if best.proven and value == best.value:
        return f"Both placements are worth {own}, and no other that places as many is worth more."
    if best.proven and comparison.run.placed != best.placed:
        return (
            f"Its placement is worth {own}, the best one {best.value:,}; no other that places as "
            "many is worth more."
        )
    if best.proven:
        return f"Its placement is worth {own}; the best one, as is proven, {best.value:,}."
    if best.bound_value is None:
        return (
            f"Its placement is worth {own}, the best one found {best.value:,}; "
            "how much better it can get is not known."
        )
    percent = 100 * (best.bound_value - best.value) / max(abs(best.value), 1)
    return (
        f"Its placement is worth {own}, the best one found {best.value:,}; of as many pods none is "
        f"worth more than {best.bound_value:,} ({percent:.1f} % more)."
    )


def _lost(found: Answer) -> Iterator[str]:
    if found.comparison.not_comparable or found.comparison.is_optimal:
        return
    cycle, reach = found.regret.lost_at_cycle, found.regret.reach
    if cycle is not None:
        yield f"Until cycle {cycle} the best was in reach; after it, it was not."
    elif found.loss is not None:
        yield from _surely_lost(found.loss, found.comparison)
    elif len(reach) > 1:
        first, last = reach[1].since + 1, reach[1].cycle
        yield (
            f"The best was lost in one of the cycles {first:,} to {last:,}; in which is not known: "
            "time ran out."
        )
    elif not found.regret.complete:
        yield "Which cycle lost the best is not known: time ran out."


def _surely_lost(loss: Loss, comparison: Comparison) -> Iterator[str]:
    """Say what a bound proves, of the best that was found: the optimum may be better still."""
    several = len(comparison.run.placed) > 1
    pods = f"{loss.n_found:,} pods" + (f" of priority {loss.priority:,}" if several else "")
    until = f"Until cycle {loss.in_reach_until:,} the {pods} that can be placed were in reach; "
    were = "was" if loss.n_pods == 1 else "were"
    after = f"after cycle {loss.cycle:,} at least {loss.n_pods:,} of "
    if loss.in_reach_until:
        yield f"{until}{after}them {were} not."
    else:
        yield f"{after[0].upper()}{after[1:]}the {pods} that can be placed {were} out of reach."
    if loss.cycle > loss.in_reach_until + 1:
        yield "Whether an earlier cycle lost them is not known: time ran out."


def _values(found: Answer) -> Iterator[str]:
    comparison, best = found.comparison, found.comparison.optimum
    yield f"value      {WORTH[comparison.mode]}"
    yield f"instance   {counted(comparison.n_pods, 'pod')}, {counted(comparison.n_nodes, 'node')}"
    counts = best.counts
    yield f"possible   {in_digits(counts.possible)}"
    if counts.feasible is not None:
        yield f"feasible   {counts.feasible:,}"
    if counts.viable is not None:
        yield f"viable     {counts.viable:,}"
    yield from _reach(found)
    moved = comparison.moved
    if moved:
        yield f"differently placed: {counted(len(moved), 'pod')}"
        for pod, (here, there) in list(moved.items())[:MAX_LISTED]:
            yield f"  {pod}: {here or 'pending'} in the run, {there or 'pending'} in the best"
        if len(moved) > MAX_LISTED:
            yield f"  and {len(moved) - MAX_LISTED:,} more"


def _reach(found: Answer) -> Iterator[str]:
    if len(found.regret.reach) < 2:
        return
    yield "in reach"
    for step in found.regret.reach:
        when = f"after cycle {step.cycle}" if step.cycle else "at the start"
        n = sum(step.placed.values())
        worth = "" if step.value is None else f", worth {step.value:,}"
        lost = "" if step.exact else f"; lost in one of the cycles {step.since + 1} to {step.cycle}"
        yield f"  {when:<18}{counted(n, 'pod')} placed{worth}{lost}"


def in_digits(number: int) -> str:
    """Return a count: in full to a million, beyond that as a power of ten."""
    if number <= 10**6:
        return f"{number:,}"
    exponent = math.log10(number)
    return f"about {10 ** (exponent % 1):.1f}e{int(exponent)}"
