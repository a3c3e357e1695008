"""What the forms of the Lab begin with, which the trace does not hold.

A pod's fields, as YAML has them, and the scoring strategy of its profile.
"""

from __future__ import annotations

from typing import TypedDict

from kviz.runs.models import Run
from kviz.runs.reading.held_cycles import HELD, CannotReenact
from kviz.runs.reading.projection import CycleDocument, Json
from scheduler_core.api import Pod
from scheduler_core.api.coerce import Plain
from scheduler_core.changes import document_of, object_document
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say


class LabInputsDocument(TypedDict):
    """The pod of a cycle when the cycle began; `scoring` is null without NodeResourcesFit."""

    cycle: int
    pod: Json
    scoring: Plain


def lab_inputs(*, run: Run, recorded: CycleDocument) -> LabInputsDocument:
    """Return the pod of a cycle, and how its profile scores. Raises CannotReenact."""
    return HELD.ask(run, recorded, _of)


def _of(cycle: ReenactedCycle | None) -> LabInputsDocument:
    pod = cycle.objects.get(Pod, cycle.pod) if cycle is not None else None
    if cycle is None or pod is None:
        raise CannotReenact(
            say(
                "cycle.nothing_to_evaluate",
                "This cycle looked at no node: there is nothing to evaluate again.",
            )
        )
    scoring = cycle.scoring
    return {
        "cycle": cycle.number,
        "pod": object_document(pod),
        "scoring": document_of(scoring)["scoring"] if scoring is not None else None,
    }
