"""The formal model of a cycle as the page shows it: rows, boxes, formulas.

No queries: it takes the model as it was computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from kviz.common.wording import translated
from scheduler_core.analysis.model.cycle import CycleModel, model_text, statement, tla_module
from scheduler_core.analysis.model.cycle.preempting import NodeJeopardy, Subset
from scheduler_core.analysis.model.cycle.sets import MemberSet
from scheduler_core.analysis.model.cycle.text import after_lines, guard_text

MAX_CHIPS: Final = 24
MAX_PODS: Final = 12
MAX_LIT: Final = 1_000
"""A set of more pods is not lit: its names would be most of the answer."""
MAX_SUBSETS: Final = 32
"""So many sets of one node are listed, those that make room first."""
MAX_TLA: Final = 40_000
"""A longer module is only offered as a file."""


@dataclass(frozen=True)
class Box:
    """A set drawn around the next: `own` are members that are not in the next, of `n_own`."""

    symbol: str
    words: str
    count: str
    own: Sequence[str]
    n_own: int


@dataclass(frozen=True)
class CaseLine:
    guard: str
    words: str
    value: str
    action: str
    by_model: bool
    by_release: bool
    formula: SafeString


@dataclass(frozen=True)
class SubsetRow:
    """A set of pods to evict; `mark` says what became of it."""

    pods: Sequence[str]
    feasible: bool
    subset: Subset
    is_least: bool
    is_found: bool
    on_path: bool


@dataclass(frozen=True)
class JeopardyRow:
    """A node of preemption; `rows` are the first of its sets, of `n_rows`."""

    node: NodeJeopardy
    rows: Sequence[SubsetRow]
    n_rows: int
    is_chosen: bool
    is_least: bool


FORMULAS: Final = {
    "unbound": "Unbound = {p ∈ Pods(Objects) : ¬Bound(p, Objects)}",
    "popped": "Pod ∈ {p ∈ Unbound : ∀ q ∈ Unbound : Priority(p) ≥ Priority(q)}",
    "chain": "Possible ⊇ Feasible ⊇ Viable ∋ chosen",
    "feasible": "Feasible = {n ∈ Possible : Feasibility(Pod, n, Objects)}",
    "viable": "Viable = {n ∈ Feasible : ∀ m ∈ Feasible : Viability(n) ≥ Viability(m)}",
    "feasibility": "Feasibility(Pod, n, S) = Filter₁ ∧ Filter₂ ∧ … ∧ Filterₖ",
    "classic": "Viability(Pod, n, S) = ∑ {Weightₜ : t ∈ Preferred, Matches(t, n)}",
    "release": "Viability(Pod, n, S) = ∑ {Weightᵢ · Normalisedᵢ : i ∈ Plugins}",
    "jeopardy": "Jeopardy(Pod, n, S) = {p : BoundTo(p, n, S) ∧ Priority(p) < Priority(Pod)}",
    "preemptable": "Preemptable = {n : ∃ P ∈ SUBSET Jeopardy(n) : "
    "Feasibility(Pod, n, Objects \N{SET MINUS} P)}",
    "least": "(n, P) ∈ Least : ∀ (m, Q) : Casualty(P) ≤ Casualty(Q)",
}
_SETS: Final = re.compile(r"\b(Possible|Feasible|Viable|chosen|Preemptable|Least)\b")
"""Sets of nodes, which the map can light."""


def _formula(text: str) -> SafeString:
    """A formula on its own line; the names of sets can be highlighted on the map, and focused."""
    parts = (
        format_html('<span class="sym" tabindex="0" data-set="{0}">{0}</span>', part)
        if i % 2
        else escape(part)
        for i, part in enumerate(_SETS.split(text))
    )
    return format_html('<p role="math">{}</p>', mark_safe("".join(parts)))


def formal_context(found: CycleModel) -> dict[str, object]:
    """Return what the template draws."""
    return {
        "model": found,
        "statement": translated(statement(found)),
        "boxes": list(_boxes(found)),
        "cases": _cases(found),
        "after": translated(list(after_lines(found))),
        "after_formula": _after_formula(found),
        "jeopardies": list(_jeopardies(found)),
        "formulas": {name: _formula(text) for name, text in FORMULAS.items()},
        "flagged": [each for each in found.partings if each.flagged],
        "unbound": found.cluster.unbound.members[:MAX_PODS] if found.cluster else (),
        "highest": found.cluster.highest.members[:MAX_PODS] if found.cluster else (),
        "lit": msgspec.json.encode(_lit(found)).decode(),
        "as_text": model_text(found),
        "as_tla": _tla(found),
        "has_tla": found.cluster is not None,
    }


def _tla(found: CycleModel) -> str:
    """Return the module, empty where it is too long to be shown, or not known."""
    if found.cluster is None:
        return ""
    text = tla_module(found)
    return text if len(text) <= MAX_TLA else ""


def _boxes(found: CycleModel) -> Iterator[Box]:
    places = found.places
    chosen = MemberSet(1, (places.chosen,)) if places.chosen else MemberSet(0, ())
    sets = (
        ("Possible", _("every node there is"), places.possible),
        ("Feasible", _("every filter lets the pod pass"), places.feasible),
        ("Viable", _viable_words(found), places.viable),
        ("chosen", _("the one that was taken"), chosen),
    )
    for i, (symbol, words, each) in enumerate(sets):
        inner = set(sets[i + 1][2].members) if i + 1 < len(sets) else set()
        own = [name for name in each.members if name not in inner]
        count = _("at least %(n)s") % {"n": each.n} if each.at_least else str(each.n)
        n_own = max(len(own), each.n - len(inner) if not each.members else 0)
        yield Box(symbol, words, count, own[:MAX_CHIPS], n_own)


def _viable_words(found: CycleModel) -> str:
    if found.places.feasible.n == 1:
        return _("not evaluated: with one feasible node there is nothing to compare")
    if found.viability is not None:
        return _("the highest Viability, %(total)s") % {"total": found.viability.best}
    return _("the highest Viability")


def _cases(found: CycleModel) -> list[CaseLine]:
    loop = found.loop
    return [
        CaseLine(
            "SchedulingEnabled(Pod)",
            _("some node is feasible"),
            translated(guard_text(loop.scheduling_enabled)),
            "Scheduling(Pod)",
            loop.branch == "Scheduling",
            loop.taken == "Scheduling",
            _formula("∃ n ∈ Possible : Feasibility(Pod, n, Objects)"),
        ),
        CaseLine(
            "PreemptionEnabled(Pod)",
            _("holds by evicting nobody, and does not count")
            if loop.scheduling_enabled
            else _("some node is feasible once some pods of lower priority are gone"),
            translated(guard_text(loop.preemption_enabled)),
            "Preemption(Pod)",
            loop.branch == "Preemption",
            loop.taken == "Preemption",
            _formula(
                "∃ n ∈ Possible : ∃ P ∈ SUBSET Jeopardy(Pod, n, Objects) : "
                "Feasibility(Pod, n, Objects \N{SET MINUS} P)"
            ),
        ),
        CaseLine(
            "OTHER",
            _("nothing changes"),
            "",
            "UNCHANGED(Objects)",
            loop.branch == "UNCHANGED",
            loop.taken == "UNCHANGED",
            _formula("Objects' = Objects"),
        ),
    ]


def _after_formula(found: CycleModel) -> SafeString:
    after = found.after
    if after.model_node:
        return _formula(f'Objects\' = [Objects EXCEPT Pod.Spec.NodeName = "{after.model_node}"]')
    if after.model_gone:
        gone = ", ".join(f'"{pod}"' for pod in after.model_gone)
        return _formula(f"Objects' = Objects \N{SET MINUS} {{{gone}}}")
    return _formula("Objects' = Objects")


def _jeopardies(found: CycleModel) -> Iterator[JeopardyRow]:
    preemption = found.preemption
    if preemption is None:
        return
    chosen = preemption.chosen.node if preemption.chosen is not None else ""
    least = {each.node for each in preemption.least}
    for node in preemption.nodes:
        path = {frozenset(step.gone) for step in node.reprieve}
        path |= {frozenset(each.pod for each in node.jeopardy)} if node.reprieve else set()
        rows = [
            SubsetRow(
                each.pods,
                each.feasible,
                each,
                is_least=number == node.least,
                is_found=node.found is not None and set(each.pods) == set(node.found),
                on_path=frozenset(each.pods) in path,
            )
            for number, each in enumerate(node.subsets)
        ]
        rows.sort(key=lambda row: (not row.is_least, not row.is_found, not row.feasible))
        yield JeopardyRow(
            node, rows[:MAX_SUBSETS], len(rows), node.node == chosen, node.node in least
        )


def _lit(found: CycleModel) -> dict[str, dict[str, Sequence[str]]]:
    """Return the nodes of each set, or its pods, for the map; a set that is not here is all."""
    places, preemption, cluster = found.places, found.preemption, found.cluster
    lit: dict[str, Sequence[str]] = {
        "Feasible": places.feasible.members,
        "Viable": places.viable.members,
        "chosen": (places.chosen,) if places.chosen else (),
    }
    if preemption is not None:
        lit["Preemptable"] = preemption.preemptable
        lit["Least"] = [each.node for each in preemption.least]
    pods: dict[str, Sequence[str]] = {}
    if cluster is not None:
        sets = {"Unbound": cluster.unbound.members, "Highest": cluster.highest.members}
        pods = {name: each for name, each in sets.items() if len(each) <= MAX_LIT}
        pods["Pod"] = (cluster.popped,)
    return {"nodes": lit, "pods": pods}
