"""Whether a stored run reached what a task asks for."""

from __future__ import annotations

from kviz.lessons.enacting import Ends, placed_before
from kviz.lessons.goals import Reached, reached
from kviz.lessons.lesson import Task
from kviz.runs.execution.engine import cluster_of
from kviz.runs.models import Run
from scheduler_core.api import Node


def reached_by(task: Task, run: Run) -> list[Reached] | None:
    """The goals of a task, held against a run; None while it goes on, or if it failed."""
    return reached(task, _ends(run)) if run.status == Run.Status.FINISHED else None


def _ends(run: Run) -> Ends:
    objects, _ = cluster_of(run)
    rows = list(run.pod_outcomes.all())
    nodes = placed_before(objects) | {row.pod: row.node for row in rows}
    for row in rows:
        if row.deleted:
            del nodes[row.pod]
    evicted = frozenset(row.pod for row in rows if row.evicted_in_cycle is not None)
    labels = {
        each.metadata.name: dict(each.metadata.labels) for each in objects if isinstance(each, Node)
    }
    return Ends(nodes, evicted, labels)
