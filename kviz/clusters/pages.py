"""The page of real clusters: which there are, and a button to import one."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.clusters import selectors, services
from kviz.clusters.rbac import READER_ROLE
from kviz.common.problems import ErrorItem

MAX_NAME = 200


@require_http_methods(["GET", "HEAD", "POST"])
def cluster_list(request: HttpRequest) -> HttpResponse:
    """List the clusters; with POST, import one."""
    if request.method != "POST":
        return _page(request)
    if refused := too_often(request, "upload"):
        return _page(request, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    cluster = request.POST.get("cluster", "")
    try:
        snapshot, _found = services.cluster_import(workspace=workspace_of(request), cluster=cluster)
    except selectors.NotOffered:
        raise Http404(cluster) from None
    except services.ImportFailed as failed:
        problem: ErrorItem = {"file": cluster[:MAX_NAME], "message": str(failed)}
        return _page(request, [problem], HTTPStatus.BAD_GATEWAY)
    return redirect("snapshot-detail", snapshot.pk)


def _page(
    request: HttpRequest, problems: Sequence[ErrorItem] = (), status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    workspace = workspace_of(request)
    context = {
        "section": "real",
        "offered": selectors.clusters_offered(workspace=workspace),
        "workspace": workspace,
        "problems": problems,
        "problems_title": _("Nothing was imported"),
        "role": READER_ROLE,
    }
    return render(request, "clusters/list.html", context, status=status)
