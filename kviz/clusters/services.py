"""Writes: a real cluster becomes a snapshot."""

from __future__ import annotations

import logging

from django.conf import settings

from kviz.accounts.models import Workspace
from kviz.clusters.importing import Imported, import_cluster
from kviz.clusters.reading.problems import (
    ClusterProblem,
    ContextRefused,
    StreamCut,
    Unreachable,
)
from kviz.clusters.selectors import NotOffered, target_get
from kviz.common.mode import Mode
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import snapshot_import
from scheduler_core.api.limits import Limits
from scheduler_core.wording import say, told

log = logging.getLogger(__name__)


class ImportFailed(Exception):
    """A cluster that is offered could not be imported; the message may be shown to its user."""


def cluster_import(
    *, workspace: Workspace, cluster: str, name: str = ""
) -> tuple[Snapshot, Imported]:
    """Read a cluster that is offered to the workspace, and store it.

    Raises NotOffered and ImportFailed. What only concerns the operator is in the log of a server,
    and not in the message.
    """
    limits = Limits(decompressed_bytes=settings.MAX_UNPACKED_BYTES)
    try:
        found = import_cluster(target_get(workspace=workspace, name=cluster), limits=limits)
    except NotOffered:
        raise
    except ClusterProblem as problem:
        raise ImportFailed(shown(problem, cluster)) from None
    snapshot = snapshot_import(
        workspace=workspace, ingested=found.ingested, name=name.strip() or cluster
    )
    return snapshot, found


def shown(problem: ClusterProblem, cluster: str) -> str:
    """The message for a user: on a server without addresses and files of its operator.

    The log has all of it, as an error; no problem holds a credential.
    """
    log.error("%s cannot be read: %s", cluster, problem)
    inside = isinstance(problem, ContextRefused | Unreachable | StreamCut)
    if settings.MODE != Mode.SERVER or not inside:
        return told(problem)
    return say(
        "cluster.cannot_read",
        "{cluster} cannot be read at the moment; the server's log says why.",
        cluster=cluster,
    )
