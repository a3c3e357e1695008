"""Pages of followed clusters: the list with its form, one cluster, its reality check."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.clusters.followed import live, selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.clusters.selectors import clusters_offered
from kviz.common.mode import Mode
from kviz.common.wording import translated
from kviz.following.reality import AGREEMENTS
from kviz.runs.inputs import InvalidInput
from scheduler_core.releases import RELEASES, UnknownRelease
from scheduler_core.releases.choosing import AUTO, release_asked
from scheduler_core.wording import told

SHOWN = 100
MAX_NAME = 200


def _followed_of(request: HttpRequest, followed_id: UUID) -> FollowedCluster:
    found = selectors.followed_get(followed_id=followed_id, workspace=workspace_of(request))
    if found is None:
        raise Http404(followed_id)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def followed_list(request: HttpRequest) -> HttpResponse:
    """List followed clusters; with POST, follow a recording or a context."""
    if request.method == "POST":
        try:
            return redirect("followed-detail", _begin(request).pk)
        except InvalidInput as error:
            return _list(request, translated(told(error)), HTTPStatus.UNPROCESSABLE_ENTITY)
    return _list(request, "", HTTPStatus.OK)


def _list(request: HttpRequest, problem: str, status: HTTPStatus) -> HttpResponse:
    context = {
        "section": "real",
        "followed": selectors.followed_list(workspace=workspace_of(request))[:SHOWN],
        "problem": problem,
        "offered": clusters_offered(workspace=workspace_of(request)),
        "given": request.POST,
        "auto": AUTO,
        "releases": RELEASES,
    }
    return render(request, "followed/list.html", context, status=status)


def _begin(request: HttpRequest) -> FollowedCluster:
    """Follow what the form names. Raises InvalidInput."""
    workspace, config = workspace_of(request), request.POST.get("scheduler_config", "")
    try:
        release = release_asked(request.POST.get("release", ""))
    except UnknownRelease as unknown:
        problem = {"field": "release", "message": translated(unknown.text)}
        raise InvalidInput([problem]) from None
    upload = request.FILES.get("recording")
    if isinstance(upload, UploadedFile):
        name = str(upload.name or "")[:MAX_NAME]
        return services.recording_follow(
            workspace=workspace,
            stream=cast("BinaryIO", upload.file),
            name=name,
            scheduler_config=config,
            release=release,
        )
    context = request.POST.get("context", "").strip()
    if settings.MODE is not Mode.LOCAL and not context:
        text = _("Choose a cluster or a recording.")
        raise InvalidInput([{"field": "recording", "message": text}])
    if refused := too_often(request, "run"):
        raise InvalidInput([refused])
    config_map = request.POST.get("config_map", "").strip()
    return live.live_follow(
        workspace=workspace,
        context=context,
        scheduler_config=config,
        config_map=config_map,
        release=release,
    )


@require_GET
def followed_detail(request: HttpRequest, followed_id: UUID) -> HttpResponse:
    """What is known of following, and the reality check if somebody asked for it."""
    followed = _followed_of(request, followed_id)
    following = live.of(followed)
    checked = cast("dict[str, list[dict[str, object]]]", followed.checked or {})
    compared = checked.get("compared", [])
    context = {
        "section": "real",
        "followed": followed,
        "run": followed.run,
        "following": following,
        "is_followed": following or selectors.is_followed(followed=followed),
        "problem": live.problem_of(followed),
        "n_changes": selectors.n_changes(followed=followed),
        "checked": followed.checked,
        "counts": _counts(checked),
        "apart": [each for each in compared if each["agreement"] == "unexplained"],
        "shifted": [each for each in compared if each["shift"]][:SHOWN],
    }
    return render(request, "followed/detail.html", context)


def _counts(checked: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return how often each agreement was found, in words."""
    counts = checked.get("counts", {})
    return [(translated(words), counts.get(name, 0)) for name, words in AGREEMENTS.items()]


@require_POST
def followed_check(request: HttpRequest, followed_id: UUID) -> HttpResponse:
    try:
        services.followed_check(followed=_followed_of(request, followed_id))
    except InvalidInput as error:
        messages.error(request, translated(told(error)))
    return redirect("followed-detail", followed_id)


@require_GET
def followed_decision(request: HttpRequest, followed_id: UUID, number: int) -> HttpResponse:
    """Compare one decision with kviz's own: what was observed beside what is simulated."""
    followed = _followed_of(request, followed_id)
    try:
        beside = services.decision_beside(followed=followed, number=number)
    except InvalidInput as error:
        messages.error(request, translated(told(error)))
        return redirect("followed-detail", followed_id)
    if beside is None:
        raise Http404(number)
    context = {
        "section": "real",
        "followed": followed,
        "run": followed.run,
        "beside": beside,
        "found": beside.document,
        "compared": beside.compared,
    }
    return render(request, "followed/decision.html", context)


@require_POST
def followed_open(request: HttpRequest, followed_id: UUID, number: int) -> HttpResponse:
    """Run kviz in place of one decision, and open that run at its first cycle.

    Where both took a node and not the same, the two are compared there.
    """
    run = services.decision_open(followed=_followed_of(request, followed_id), number=number)
    if run is None:
        raise Http404(number)
    told, own = request.POST.get("told", ""), request.POST.get("own", "")
    at = {"c": "1"}
    if told and own and told != own:
        at |= {"n": told, "vs": own, "tab": "score"}
    return redirect(f"{reverse('run-explore', args=[run.pk])}?{urlencode(at)}")


@require_POST
def followed_resume(request: HttpRequest, followed_id: UUID) -> HttpResponse:
    try:
        live.live_resume(followed=_followed_of(request, followed_id))
    except InvalidInput as error:
        messages.error(request, translated(told(error)))
    return redirect("followed-detail", followed_id)


@require_POST
def followed_stop(request: HttpRequest, followed_id: UUID) -> HttpResponse:
    live.live_stop(followed=_followed_of(request, followed_id))
    return redirect("followed-detail", followed_id)
