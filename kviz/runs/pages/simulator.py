"""The page of a cluster that kube-scheduler-simulator exported: its results beside kviz's."""

from __future__ import annotations

from collections import Counter
from typing import Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import share_of, workspace_of
from kviz.common.wording import translated
from kviz.following.simulator import SimulatedPod, beside_simulator
from kviz.runs.inputs import InvalidInput, configuration_of, release_for
from kviz.snapshots import selectors
from kviz.snapshots.models import Snapshot
from scheduler_core.config import FeatureGates
from scheduler_core.releases.choosing import AUTO
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.wording import told

PODS_SHOWN: Final = 100
NODES_SHOWN: Final = 12
MAX_WORK: Final = 1_000_000
"""Pods times objects of a page that somebody waits for."""


@require_GET
def snapshot_simulator(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    """What the simulator wrote on pods, and what kviz says of the same pods."""
    workspace, share = workspace_of(request), share_of(request)
    snapshot = selectors.snapshot_get(snapshot_id=snapshot_id, workspace=workspace, share=share)
    if snapshot is None:
        raise Http404(snapshot_id)
    n_results = len(selectors.simulator_results(snapshot=snapshot))
    if not n_results:
        raise Http404(snapshot_id)
    rows, problem = _rows(snapshot)
    context = {
        "section": "snapshots",
        "snapshot": snapshot,
        "share": share,
        "rows": rows,
        "n_results": n_results,
        "counts": Counter(row.beside for row in rows).most_common(),
        "problem": problem,
        "nodes_shown": NODES_SHOWN,
        "has_config": bool(selectors.snapshot_config(snapshot=snapshot)),
    }
    return render(request, "runs/simulator.html", context)


def _rows(snapshot: Snapshot) -> tuple[list[SimulatedPod], str]:
    """The pods, those first on which kviz and the simulator part; or why there are none."""
    results = selectors.simulator_results(snapshot=snapshot)[:PODS_SHOWN]
    if len(results) * sum(snapshot.counts.values()) > MAX_WORK:
        return [], _("This cluster is too large to attempt its pods while a page waits.")
    objects = list(selectors.snapshot_objects(snapshot=snapshot))
    chosen = release_for(AUTO, snapshot)
    gates = FeatureGates((), chosen.release, chosen.told)
    try:
        config = configuration_of(selectors.snapshot_config(snapshot=snapshot), gates)
    except InvalidInput as invalid:
        return [], translated(told(invalid))
    options = SchedulerOptions(configuration=config, features=gates)
    found = list(beside_simulator(results, objects, options))
    return sorted(found, key=lambda row: row.beside in ("same", "among the equals")), ""
