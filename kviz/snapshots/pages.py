"""Pages of clusters: the landing page, teaching, the list, the upload form, one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from kviz.accounts.middleware import share_of, workspace_of
from kviz.snapshots import selectors
from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import SAMPLES, Sample, sample_named
from kviz.snapshots.summary import summarise

PODS_SHOWN = 200
NODES_SHOWN = 200
WARNINGS_SHOWN = 200
RUNS_SHOWN = 20


@dataclass(frozen=True)
class SampleEntry:
    sample: Sample
    snapshot: Snapshot

    @property
    def n_nodes(self) -> int:
        return int(self.snapshot.counts.get("Node", 0))

    @property
    def n_pods(self) -> int:
        return int(self.snapshot.counts.get("Pod", 0))


def sample_entries() -> list[SampleEntry]:
    """The loaded samples in the order in which they teach."""
    loaded = {snapshot.name: snapshot for snapshot in selectors.samples()}
    return [SampleEntry(s, loaded[s.slug]) for s in SAMPLES if s.slug in loaded]


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html", {"section": "home", "samples": sample_entries()})


@require_GET
def teach(request: HttpRequest) -> HttpResponse:
    return render(request, "teach.html", {"section": "teach", "samples": sample_entries()})


@require_GET
def snapshot_list(request: HttpRequest) -> HttpResponse:
    own = selectors.snapshots_visible(workspace=workspace_of(request)).filter(is_sample=False)
    context = {"section": "snapshots", "own": own, "samples": sample_entries()}
    return render(request, "snapshots/list.html", context)


def snapshot_of(request: HttpRequest, snapshot_id: UUID) -> Snapshot:
    """The snapshot this request may see. Raises Http404."""
    snapshot = selectors.snapshot_get(
        snapshot_id=snapshot_id, workspace=workspace_of(request), share=share_of(request)
    )
    if snapshot is None:
        raise Http404(snapshot_id)
    return snapshot


@require_GET
def snapshot_detail(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    snapshot = snapshot_of(request, snapshot_id)
    sample = sample_named(snapshot.name) if snapshot.is_sample else None
    cluster = summarise(selectors.snapshot_objects(snapshot=snapshot))
    context = {
        "section": "snapshots",
        "snapshot": snapshot,
        "name": sample.title if sample else snapshot.name,
        "sample": sample,
        "share": share_of(request),
        "cluster": cluster,
        "pending_shown": cluster.pending[:PODS_SHOWN],
        "nodes_shown": cluster.nodes[:NODES_SHOWN],
        "recognised": sorted(snapshot.counts.items()),
        "ignored": sorted(snapshot.ignored.items()),
        "problems": snapshot.problems,
        "problems_title": _("Some of it could not be read, and is missing here"),
        "warnings_shown": snapshot.warnings[:WARNINGS_SHOWN],
        "runs": selectors.runs_of(snapshot=snapshot, workspace=workspace_of(request))[:RUNS_SHOWN],
    }
    return render(request, "snapshots/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def snapshot_new(request: HttpRequest) -> HttpResponse:
    return render(request, "snapshots/new.html", {"section": "snapshots"})
