"""Pages of clusters: the landing page, teaching, the list, the upload form, one cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import share_of, workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.listing import one_of, page_of, text_in, ticked
from kviz.common.problems import ErrorItem
from kviz.reference import kubectl
from kviz.samples import Sample
from kviz.snapshots import progress, selectors, services
from kviz.snapshots.api import named_stream
from kviz.snapshots.models import Snapshot
from kviz.snapshots.policies import policies_of
from kviz.snapshots.samples import SAMPLES, n_pods_later, sample_of
from kviz.snapshots.selectors import cluster_of, may_place_by_hand

PODS_SHOWN = 200
NODES_SHOWN = 200
WARNINGS_SHOWN = 200


@dataclass(frozen=True)
class SampleEntry:
    sample: Sample
    snapshot: Snapshot

    @property
    def n_nodes(self) -> int:
        return int(self.snapshot.counts.get("Node", 0))

    @property
    def n_pods(self) -> int:
        """Those of the cluster as it is at the start."""
        return int(self.snapshot.counts.get("Pod", 0))

    @property
    def n_later(self) -> int:
        """Pods that come during the run."""
        return n_pods_later(self.sample.scenario)


def sample_entries() -> list[SampleEntry]:
    """The loaded samples in the order in which they teach."""
    loaded = {snapshot.name: snapshot for snapshot in selectors.samples()}
    return [SampleEntry(s, loaded[s.slug]) for s in SAMPLES if s.slug in loaded]


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    entries = sample_entries()
    samples = [each for each in entries if not each.sample.look]
    context = {"section": "home", "samples": samples, "n_rare": len(entries) - len(samples)}
    return render(request, "home.html", context)


@require_GET
def teach(request: HttpRequest) -> HttpResponse:
    return render(request, "teach.html", {"section": "teach", "samples": sample_entries()})


ORDERS: Final = {
    "oldest": ("created_at",),
    "name": ("name", "-created_at"),
    "nodes": ("-counts__Node", "-created_at"),
    "pending": ("-overview__pending", "-created_at"),
}
"""Of the list, but for its own: the newest first."""


@require_GET
def snapshot_list(request: HttpRequest) -> HttpResponse:
    return _list(request)


def _list(
    request: HttpRequest,
    problems: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    wanted = selectors.SnapshotFilter(
        text_in(request), one_of(request, "pending", ("some", "none"))
    )
    own = selectors.snapshots_filtered(workspace=workspace_of(request), wanted=wanted)
    entries = sample_entries()
    context = {
        "section": "snapshots",
        "page": page_of(request, own, ORDERS),
        "wanted": wanted,
        "sort": one_of(request, "sort", ORDERS),
        "orders": ORDERS,
        "problems": problems,
        "problems_title": _("Nothing was deleted"),
        "samples": [each for each in entries if not each.sample.look],
        "rare": [each for each in entries if each.sample.look],
    }
    return render(request, "snapshots/list.html", context, status=status)


def snapshot_of(request: HttpRequest, snapshot_id: UUID) -> Snapshot:
    """The snapshot this request may see. Raises Http404."""
    snapshot = selectors.snapshot_get(
        snapshot_id=snapshot_id, workspace=workspace_of(request), share=share_of(request)
    )
    if snapshot is None:
        raise Http404(snapshot_id)
    return snapshot


def own_snapshot_of(request: HttpRequest, snapshot_id: UUID) -> Snapshot:
    """The snapshot if it belongs to this workspace: others may only read it. Raises Http404."""
    snapshot = snapshot_of(request, snapshot_id)
    if snapshot.workspace_id != workspace_of(request).pk:
        raise Http404(snapshot_id)
    return snapshot


@require_GET
def snapshot_detail(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    snapshot = snapshot_of(request, snapshot_id)
    sample = sample_of(snapshot)
    cluster = cluster_of(snapshot)
    context = {
        "section": "snapshots",
        "snapshot": snapshot,
        "name": sample.title if sample else snapshot.name,
        "sample": sample,
        "share": share_of(request),
        "is_own": snapshot.workspace_id == workspace_of(request).pk,
        "cluster": cluster,
        "no_nodes": not cluster.nodes,
        "is_for_hands": may_place_by_hand(snapshot),
        "policies": policies_of(snapshot),
        "scheduler_config": selectors.snapshot_config(snapshot=snapshot),
        "n_results": len(selectors.simulator_results(snapshot=snapshot)),
        "pending_shown": cluster.pending[:PODS_SHOWN],
        "nodes_shown": cluster.nodes[:NODES_SHOWN],
        "recognised": sorted(snapshot.counts.items()),
        "ignored": sorted(snapshot.ignored.items()),
        "problems": snapshot.problems,
        "problems_title": _(
            "This could not be read and is missing here; every run over this cluster says so"
        ),
        "warnings_shown": snapshot.warnings[:WARNINGS_SHOWN],
    }
    return render(request, "snapshots/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def snapshot_new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, {})
    workspace = workspace_of(request)
    files = [named_stream(file) for file in request.FILES.getlist("files")]
    text = request.POST.get("text", "")
    if text.strip():
        files.append((services.PASTED_NAME, BytesIO(text.encode())))
    if not files:
        return _upload_form(request, [{"message": _("Choose a file, or paste text.")}])
    if refused := too_often(request, "upload"):
        return _upload_form(request, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    upload_id = request.headers.get("X-Upload-Id", "")
    try:
        snapshot = services.snapshot_upload(
            workspace=workspace,
            files=files,
            name=request.POST.get("name", ""),
            progress=progress.reporter(workspace=workspace, upload_id=upload_id),
        )
    except services.UploadRejected as rejected:
        return _upload_form(request, rejected.errors)
    return redirect("snapshot-detail", snapshot.pk)


def _upload_form(
    request: HttpRequest,
    problems: Sequence[ErrorItem],
    status: HTTPStatus = HTTPStatus.BAD_REQUEST,
) -> HttpResponse:
    context = {
        "problems": problems,
        "problems_title": _("Nothing was uploaded")
        if status == HTTPStatus.TOO_MANY_REQUESTS
        else _("Nothing in this upload could be used"),
        "text": request.POST.get("text", ""),
        "name": request.POST.get("name", ""),
    }
    return _form(request, context, status)


def _form(
    request: HttpRequest, context: Mapping[str, object], status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    commands = {"kubectl_shell": kubectl.SHELL, "kubectl_powershell": kubectl.POWERSHELL}
    whole = {"section": "snapshots", **commands, **context}
    return render(request, "snapshots/new.html", whole, status=status)


@require_POST
def snapshots_delete(request: HttpRequest) -> HttpResponse:
    """Delete the clusters that were ticked, with their runs."""
    found = ticked(request, "snapshot", own_snapshot_of)
    if not found:
        nothing: ErrorItem = {"message": _("Select the clusters to delete.")}
        return _list(request, [nothing], HTTPStatus.BAD_REQUEST)
    services.snapshots_delete(snapshots=found)
    text = ngettext(
        "%(n)d cluster and its runs were deleted.",
        "%(n)d clusters and their runs were deleted.",
        len(found),
    )
    messages.info(request, text % {"n": len(found)})
    return redirect("snapshot-list")


@require_POST
def snapshot_delete(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    services.snapshot_delete(snapshot=own_snapshot_of(request, snapshot_id))
    messages.info(request, _("The cluster and its runs were deleted."))
    return redirect("snapshot-list")
