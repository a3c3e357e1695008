"""Writes: what the cluster itself said of a finished run's pods, beside what the run says."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from kviz.runs.execution.engine import made_of
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from scheduler_core.api import Pod
from scheduler_core.api.absent_kinds import absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.evidence.cluster_says import (
    BOUND,
    ERROR,
    GATED,
    UNSCHEDULABLE,
    ClusterSays,
    Comparison,
    Verdict,
)
from scheduler_core.wording import packed

log = logging.getLogger(__name__)

MAX_ROWS: Final = 500
"""So many rows are written in one statement."""
_WORD_OF: Final = {"scheduled": BOUND, "waiting": BOUND, "unschedulable": UNSCHEDULABLE}


def verdicts_store(*, run: Run) -> None:
    """Store what the cluster said of each pod that waited in the file, if the file tells.

    A run that changes its cluster, at once or by a scenario, is not compared.
    """
    if run.is_observed or run.changes or run.scenario:
        return
    keys: dict[str, list[str]] = defaultdict(list)
    try:
        for said in _said(run):
            document = packed(said.document)
            keys[json.dumps(document)].append(said.pod)
    except InvalidInput as error:
        log.warning("no comparison for run %s: %s", run.pk, error)
    for text, pods in keys.items():
        for begin in range(0, len(pods), MAX_ROWS):
            rows = run.pod_outcomes.filter(pod__in=pods[begin : begin + MAX_ROWS])
            rows.update(cluster_says=json.loads(text))


def _said(run: Run) -> Iterator[ClusterSays]:
    """Raises InvalidInput."""
    objects, options = made_of(run)
    waiting = [each for each in objects if isinstance(each, Pod) and not each.spec.node_name]
    if not any(each.status.conditions for each in waiting):
        return
    attempts: dict[str, list[Verdict]] = defaultdict(list)
    rows = run.cycle_rows.order_by("number").values_list(
        "pod", "result", "message", "node", "nominated_node"
    )
    for pod, result, message, node, nominated in rows.iterator():
        verdict = Verdict(_WORD_OF.get(result, ERROR), message, node or nominated)
        attempts[pod].append(verdict)
    for pod in run.pod_outcomes.exclude(gated_by="").values_list("pod", flat=True):
        attempts[pod].append(Verdict(GATED))
    absent = absent_kinds(ClusterObjects(objects), ignored=options.ignored)
    compared = Comparison(objects, options.features, absent, run.not_modelled)
    for each in waiting:
        found = compared.of(each, attempts.get(each.key, ()))
        if found is not None:
            yield found
