"""The formal model of a cycle, as pages and REST show it (docs/model.md)."""

from __future__ import annotations

from typing import Any, cast

from kviz.runs.models import Run
from kviz.runs.reading.evidence import UnknownNode
from kviz.runs.reading.held_cycles import HELD, CannotReenact
from kviz.runs.reading.projection import CycleDocument
from scheduler_core.analysis.model.cycle import (
    CycleModel,
    Decided,
    cycle_model,
    recorded_model,
    statement,
)
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import builtins, say, told

OTHERS_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_NODE = say("cycle.no_nodes", "This cycle looked at no node.")


def formal_model(*, run: Run, recorded: CycleDocument, node: str = "") -> CycleModel:
    """Return the model of a cycle; what only a re-enactment knows is left out where that fails.

    Raises UnknownNode where `node` is named and the cycle saw no such node, and CannotReenact where
    another cycle is being re-enacted.
    """
    decided = decided_of(recorded)

    def look(cycle: ReenactedCycle | None) -> CycleModel:
        if cycle is None:
            return recorded_model(decided, NO_NODE)
        return cycle_model(cycle, decided, node)

    try:
        return HELD.ask(run, recorded, look)
    except LookupError as error:
        raise UnknownNode(node) from error
    except CannotReenact as refused:
        if refused.busy:
            raise
        return recorded_model(decided, told(refused))


def decided_of(recorded: CycleDocument) -> Decided:
    """Return what a recorded cycle came to, as the model reads it."""
    selection = cast("dict[str, Any]", recorded["selection"] or {})
    preempting = cast("dict[str, Any]", recorded["preemption"] or {})
    rejected = recorded["filter"].items()
    return Decided(
        cycle=recorded["cycle"],
        pod=recorded["pod"],
        result=recorded["result"],
        node=recorded["node"],
        picked=selection.get("node", ""),
        n_nodes=recorded["n_nodes"],
        n_examined=recorded["n_examined"],
        n_feasible=recorded["n_feasible"],
        n_tied=int(selection.get("n_tied", 0)),
        feasible=tuple(recorded["feasible"]),
        top=tuple(recorded["top_nodes"]),
        nominated=preempting.get("winner", ""),
        victims=tuple(preempting.get("victims", ())),
        ineligible=preempting.get("ineligible", ""),
        by_nominated=tuple(name for name, status in rejected if _only_nominated(status)),
        by_others_anti_affinity=tuple(
            name for name, status in rejected if OTHERS_ANTI_AFFINITY in status.get("reasons", ())
        ),
        waited=any(_holds(each) for each in recorded["points"]),
        is_narrowed=recorded.get("pre_filter", {}).get("node_names") is not None,
        release_text=recorded["release_text"],
    )


def _holds(point: Any) -> bool:
    return (point["point"], point["status"]["code"]) == ("Permit", "Wait")


def _only_nominated(status: Any) -> bool:
    return "nominated" in status


def formal_document(found: CycleModel) -> dict[str, Any]:
    """Return the model as JSON has it."""
    document = cast("dict[str, Any]", builtins(found))
    return {"statement": statement(found), **document}
