"""Reads: followed clusters, and their journals."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.clusters.followed.models import FollowedCluster
from kviz.following.follower import Journal
from kviz.following.recording import journal_of, parse_lines
from kviz.runs.models import Run

LEASE: Final = timedelta(seconds=30)
"""A server that has not been heard of for so long follows no longer."""


def followed_list(*, workspace: Workspace) -> QuerySet[FollowedCluster]:
    return FollowedCluster.objects.filter(run__workspace=workspace).select_related("run")


def followed_get(*, followed_id: UUID, workspace: Workspace) -> FollowedCluster | None:
    return followed_list(workspace=workspace).filter(pk=followed_id).first()


def followed_live() -> QuerySet[FollowedCluster]:
    """Clusters of all workspaces that somebody wants to be followed."""
    running = FollowedCluster.objects.filter(run__status=Run.Status.RUNNING)
    return running.exclude(context="").select_related("run__workspace")


def is_followed(*, followed: FollowedCluster) -> bool:
    """Whether a server follows it, this one or another."""
    heard = followed.heartbeat_at
    alive = heard is not None and heard > timezone.now() - LEASE
    return alive and not followed.run.is_over


def journal(*, followed: FollowedCluster) -> Journal:
    """Return what was told of a cluster, in order."""
    parts = followed.parts.values_list("lines", flat=True)
    lines = (line for part in parts for line in gzip.decompress(bytes(part)).splitlines())
    return journal_of(parse_lines(lines))


def n_changes(*, followed: FollowedCluster) -> int:
    total: int | None = followed.parts.aggregate(total=Sum("n_changes"))["total"]
    return total or 0
