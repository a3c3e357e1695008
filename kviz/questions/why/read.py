"""Why a pod of a run is pending, as one pastes it into a ticket.

The text is made by what makes `kviz explain --format markdown`, from the cycle as the run had it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kviz.questions.why.answer import (
    BOUND,
    ERROR,
    GATED,
    OTHER_SCHEDULER,
    TERMINATING,
    UNSCHEDULABLE,
    Explanation,
)
from kviz.questions.why.text import as_markdown
from kviz.runs.inputs import gates_of_stored
from kviz.runs.models import Cycle, PodOutcome, Run
from kviz.runs.reading.evidence import lead_of_outcome
from kviz.runs.reading.held_cycles import HELD
from kviz.runs.reading.projection import CycleDocument
from kviz.runs.reading.trace import cycle_get, cycle_why, pod_known
from kviz.runs.reading.why import status_of
from scheduler_core.analysis.advice.bugs import bugs_in
from scheduler_core.evidence.lead import lead_of_why, nearest_first
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.trace.why import Why, lacks_room

PLACED: Final = (Cycle.Result.SCHEDULED, Cycle.Result.WAITING)


def pod_markdown(*, run: Run, namespace: str, name: str, cycle: int = 0) -> str | None:
    """Return the text about a pod in one of its cycles, 0 for how it stands at the end.

    None if the run does not know the pod, or not in that cycle. Raises CannotReenact, and
    InvalidInput for a run of a release that this kviz does not have.
    """
    pod = pod_known(run=run, namespace=namespace, name=name)
    if pod is None:
        return None
    found = _in_cycle(run, pod.pod, cycle) if cycle else _at_the_end(run, pod)
    return as_markdown(found, gates_of_stored(run)) if found is not None else None


def _at_the_end(run: Run, pod: PodOutcome) -> Explanation | None:
    match status_of(pod):
        case "bound":
            return Explanation(pod.pod, BOUND, node=pod.node)
        case "gated":
            lead = lead_of_outcome(pod)
            return Explanation(pod.pod, GATED, held_by=pod.gated_by, lead=lead)
        case "deleted" if not pod.last_cycle:
            return Explanation(pod.pod, TERMINATING)
        case "not_attempted":
            lead = lead_of_outcome(pod)
            return Explanation(pod.pod, OTHER_SCHEDULER, held_by=pod.scheduler_name, lead=lead)
    return _in_cycle(run, pod.pod, pod.last_cycle)


def _in_cycle(run: Run, pod: str, number: int) -> Explanation | None:
    recorded = cycle_get(run=run, cycle=number)
    if recorded is None or recorded["pod"] != pod:
        return None
    if recorded["result"] in PLACED:
        return Explanation(pod, BOUND, node=recorded["node"])
    found = cycle_why(run=run, cycle=number)
    return HELD.ask(run, recorded, lambda cycle: _explanation(run, recorded, found, cycle))


def _explanation(
    run: Run, recorded: CycleDocument, found: Why, cycle: ReenactedCycle | None
) -> Explanation:
    evidence = cycle.evidence if cycle is not None else None
    if evidence is not None:
        order = nearest_first(evidence, found)
        nearest = sorted(found.nearest, key=lambda miss: order.index(miss.node))
        found = replace(found, nearest=tuple(nearest))
    is_unschedulable = recorded["result"] == Cycle.Result.UNSCHEDULABLE
    return Explanation(
        pod=recorded["pod"],
        status=UNSCHEDULABLE if is_unschedulable else ERROR,
        message=recorded["message"],
        why=found,
        lead=lead_of_why(evidence, found)
        if evidence is not None and not found.n_feasible
        else None,
        nodes={each.node: evidence.node(each.node) for each in found.nearest} if evidence else {},
        free_room=evidence.free_room if evidence is not None and lacks_room(found) else None,
        bugs=bugs_in(cycle, recorded["message"]) if cycle is not None else (),
        not_modelled=tuple(run.not_modelled),
    )
