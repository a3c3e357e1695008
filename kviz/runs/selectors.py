"""Reads: runs a workspace may see, their chunks, cycles and pods."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F, Q, QuerySet

from kviz.accounts.models import Workspace
from kviz.runs.models import Cycle, PodOutcome, Run


def runs_visible(*, workspace: Workspace, share: str = "") -> QuerySet[Run]:
    """The workspace's own runs, and those the share token of run or snapshot opens."""
    visible = Q(workspace=workspace)
    if share:
        visible |= Q(share_token=share)
        visible |= Q(snapshot__share_token=share, workspace=F("snapshot__workspace"))
    return Run.objects.filter(visible).select_related("snapshot")


def run_get(*, run_id: UUID, workspace: Workspace, share: str = "") -> Run | None:
    return runs_visible(workspace=workspace, share=share).filter(pk=run_id).first()


def cycles_after(*, run: Run, after: int = 0, limit: int = 100) -> QuerySet[Cycle]:
    """Up to `limit` cycles with a number above `after`, in order."""
    return run.cycle_rows.filter(number__gt=after).order_by("number")[:limit]


def pods_pending(*, run: Run) -> QuerySet[PodOutcome]:
    """Pods without a node, the most important first."""
    return run.pod_outcomes.filter(node="", deleted=False).order_by("-priority", "pod")


def pods_evicted(*, run: Run) -> QuerySet[PodOutcome]:
    return run.pod_outcomes.filter(evicted_in_cycle__gt=0).order_by("evicted_in_cycle", "pod")
