"""Pages of live sessions: the list with the button that begins one, and what was asked in it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.extenders import selectors, services
from kviz.extenders.models import ExtenderSession

REQUESTS_SHOWN = 200
NODES_SHOWN = 12
SESSIONS_SHOWN = 100
REFRESH_S = 2
MAX_NAME = 200

SNIPPET = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: {url}
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  weight: 1
  nodeCacheCapable: true
  ignorable: true
  httpTimeout: 200ms
"""


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
        name = request.POST.get("name", "").strip()[:MAX_NAME]
        session = services.session_create(workspace=workspace, name=name)
        return redirect("extender-session", session.pk)
    sessions = selectors.session_list(workspace=workspace)[:SESSIONS_SHOWN]
    return render(request, "extenders/list.html", {"section": "runs", "sessions": sessions})


@require_GET
def session_detail(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """What the scheduler asked, in order, and the configuration that makes it ask."""
    session = _session_of(request, session_id)
    requests = selectors.latest_requests(session=session, limit=REQUESTS_SHOWN)
    path = reverse("api-extender", args=[session.token, "filter"]).rpartition("/")[0]
    context = {
        "section": "runs",
        "session": session,
        "requests": requests,
        "n_requests": session.requests.count(),
        "nodes_shown": NODES_SHOWN,
        "snippet": SNIPPET.format(url=request.build_absolute_uri(path)),
        "sends_whole_nodes": any(each.whole_nodes for each in requests),
        "refresh_s": REFRESH_S if "live" in request.GET and not session.revoked_at else 0,
    }
    return render(request, "extenders/detail.html", context)


@require_POST
def session_revoke(request: HttpRequest, session_id: UUID) -> HttpResponse:
    services.session_revoke(session=_session_of(request, session_id))
    return redirect("extender-session", session_id)


@require_POST
def session_delete(request: HttpRequest, session_id: UUID) -> HttpResponse:
    services.session_delete(session=_session_of(request, session_id))
    return redirect("extender-list")
