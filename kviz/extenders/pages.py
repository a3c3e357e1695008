"""Pages of live sessions: the list, with the button that starts one, and the calls of one."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.extenders import selectors, services
from kviz.extenders.configuration import configuration_for, path_of
from kviz.extenders.known import known_sessions
from kviz.extenders.models import ExtenderSession
from kviz.extenders.recorder import recorder
from kviz.runs.models import Cycle, Run
from kviz.runs.reading.trace import cycles_latest
from kviz.snapshots import selectors as snapshot_selectors
from kviz.snapshots.models import Snapshot

CYCLES_SHOWN = 100
NODES_SHOWN = 12
SESSIONS_SHOWN = 100
MAX_NAME = 200
SECOND_NS = 1_000_000_000


def _session_of(request: HttpRequest, session_id: UUID) -> ExtenderSession:
    session = selectors.session_get(session_id=session_id, workspace=workspace_of(request))
    if session is None:
        raise Http404(session_id)
    return session


@require_http_methods(["GET", "HEAD", "POST"])
def session_list(request: HttpRequest) -> HttpResponse:
    """List the sessions; with POST, begin one."""
    workspace = workspace_of(request)
    if request.method == "POST":
        session = services.session_create(
            workspace=workspace,
            name=request.POST.get("name", "").strip()[:MAX_NAME],
            snapshot=_snapshot_chosen(request),
            filled_by=_run_chosen(request),
        )
        if session.filled_by_id is not None:
            recorder.look(session.run_id)
        return redirect("extender-session", session.pk)
    context = {
        "section": "real",
        "sessions": selectors.session_list(workspace=workspace)[:SESSIONS_SHOWN],
        "followed": selectors.runs_that_fill(workspace=workspace),
        "snapshots": snapshot_selectors.snapshots_visible(workspace=workspace),
    }
    return render(request, "extenders/list.html", context)


def _run_chosen(request: HttpRequest) -> Run | None:
    """The run of a followed cluster that the form names, None if it names none. Raises Http404."""
    chosen = request.POST.get("filled_by", "")
    if not chosen:
        return None
    for run in selectors.runs_that_fill(workspace=workspace_of(request)):
        if str(run.pk) == chosen:
            return run
    raise Http404(chosen)


def _snapshot_chosen(request: HttpRequest) -> Snapshot | None:
    """The snapshot of the form, None if none was chosen. Raises Http404."""
    chosen = request.POST.get("snapshot", "")
    if not chosen:
        return None
    try:
        snapshot_id = UUID(chosen)
    except ValueError:
        raise Http404(chosen) from None
    snapshot = snapshot_selectors.snapshot_get(
        snapshot_id=snapshot_id, workspace=workspace_of(request)
    )
    if snapshot is None:
        raise Http404(chosen)
    return snapshot


@require_GET
def session_detail(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """The scheduler's calls, in order, and the configuration that makes it call."""
    session = _session_of(request, session_id)
    known_sessions.expect(session, request.get_host())
    cycles = cycles_latest(run=session.run, limit=CYCLES_SHOWN)
    context = {
        "section": "real",
        "session": session,
        "run": session.run,
        "cycles": [(row, document, _time_of(row)) for row, document in cycles],
        "connected": bool(cycles),
        "last_call": _time_of(cycles[-1][0]) if cycles else None,
        "nodes_shown": NODES_SHOWN,
        "snippet": configuration_for(request.build_absolute_uri(path_of(session))),
        "sends_whole_nodes": any(
            call["whole_nodes"] for _, document in cycles for call in document["extenders"]
        ),
    }
    return render(request, "extenders/detail.html", context)


def _time_of(cycle: Cycle) -> datetime:
    return datetime.fromtimestamp(cycle.now_ns / SECOND_NS, UTC)


@require_POST
def session_revoke(request: HttpRequest, session_id: UUID) -> HttpResponse:
    services.session_revoke(session=_session_of(request, session_id))
    return redirect("extender-session", session_id)


@require_POST
def session_delete(request: HttpRequest, session_id: UUID) -> HttpResponse:
    services.session_delete(session=_session_of(request, session_id))
    return redirect("extender-list")
