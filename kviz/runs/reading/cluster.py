"""The cluster as a cycle of a run found it: what the API server held at that moment."""

from __future__ import annotations

from kviz.runs.models import Run
from kviz.runs.reading.held_cycles import HELD, CannotReenact
from kviz.runs.reading.projection import CycleDocument
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say


def cluster_at(*, run: Run, recorded: CycleDocument) -> ClusterObjects:
    """Return all objects as they were when the cycle decided. Raises CannotReenact.

    A pod on its way to a node is still pending there, as in a dump taken at the same moment.
    """
    return HELD.ask(run, recorded, _objects)


def _objects(cycle: ReenactedCycle | None) -> ClusterObjects:
    if cycle is None:
        raise CannotReenact(
            say("cycle.not_stopped_at", "This cycle looked at no node, so kviz did not stop at it.")
        )
    return ClusterObjects(cycle.objects.objects())
