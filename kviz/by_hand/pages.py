"""Pages: clusters whose pods can be placed by hand, and the board of a single player."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.by_hand import services
from kviz.by_hand.access import own_attempt
from kviz.by_hand.services import CannotPlay
from kviz.common.wording import translated
from kviz.runs.inputs import InvalidInput
from kviz.runs.pages.access import run_of
from kviz.runs.titles import run_title
from kviz.snapshots.pages import sample_entries, snapshot_of
from kviz.snapshots.samples import sample_of
from kviz.snapshots.selectors import (
    MAX_NODES_BY_HAND,
    MAX_PODS_BY_HAND,
    may_place_by_hand,
    snapshot_config,
)
from kviz.snapshots.templatetags.snapshot_titles import title_of
from scheduler_core.wording import told


@require_GET
def game_list(request: HttpRequest) -> HttpResponse:
    """The samples that are small enough, and how to play with any other cluster."""
    context = {
        "section": "by-hand",
        "samples": [each for each in sample_entries() if may_place_by_hand(each.snapshot)],
        "nodes": MAX_NODES_BY_HAND,
        "pods": MAX_PODS_BY_HAND,
    }
    return render(request, "by_hand/list.html", context)


@require_POST
def game_of_snapshot(request: HttpRequest, snapshot_id: UUID) -> HttpResponse:
    snapshot = snapshot_of(request, snapshot_id)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("snapshot-detail", snapshot_id)
    sample = sample_of(snapshot)
    try:
        game = services.game_of_snapshot(
            workspace=workspace_of(request),
            snapshot=snapshot,
            name=title_of(snapshot),
            scheduler_config=sample.scheduler_config
            if sample
            else snapshot_config(snapshot=snapshot),
        )
    except (CannotPlay, InvalidInput) as refusal:
        messages.error(request, _text(refusal))
        return redirect("snapshot-detail", snapshot_id)
    return redirect("by-hand-game", game.pk)


@require_POST
def game_of_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("run-detail", run_id)
    try:
        game = services.game_of_run(workspace=workspace_of(request), run=run, name=run_title(run))
    except (CannotPlay, InvalidInput) as refusal:
        messages.error(request, _text(refusal))
        return redirect("run-detail", run_id)
    return redirect("by-hand-game", game.pk)


def _text(refusal: CannotPlay | InvalidInput) -> str:
    return translated(told(refusal))


@require_GET
def game_detail(request: HttpRequest, game_id: UUID) -> HttpResponse:
    """The board; its script asks for what is on it."""
    attempt = own_attempt(workspace=workspace_of(request), game_id=game_id)
    if attempt is None:
        raise Http404(game_id)
    return render(request, "by_hand/game.html", {"section": "by-hand", "game": attempt.game})
