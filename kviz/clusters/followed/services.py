"""Writes: clusters are followed, from a recording or live, and checked against kviz."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.clusters.followed import selectors
from kviz.clusters.followed.models import FollowedCluster, JournalPart
from kviz.following.another_release import another_release
from kviz.following.changes import UnreadableChange
from kviz.following.follower import Journal
from kviz.following.moments import Moment, moments
from kviz.following.reality import Compared, check, compare, score
from kviz.following.recording import (
    GZIP,
    BadRecording,
    change_lines,
    journal_lines,
    parse_lines,
    replay,
)
from kviz.following.text import as_json, bound_after, changed_before, document
from kviz.runs.execution.observe import observed_run_create, observed_run_finish
from kviz.runs.inputs import InvalidInput, configuration_of, refuse_secrets
from kviz.runs.models import Run
from kviz.runs.services import run_create, run_delete
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import snapshot_keep
from scheduler_core.api import Node, Pod
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.config import FeatureGates
from scheduler_core.releases import RELEASES, UNNAMED, stored_release
from scheduler_core.releases.choosing import AUTO, Chosen, chosen_release
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.trace.events import AnyEvent
from scheduler_core.wording import say, told

MAX_CHANGES: Final = 100_000
"""A followed cluster that has told more is over, and says so."""
MAX_AROUND: Final = 12
"""Changes around a decision that are named."""
MAX_WORK: Final = 40_000_000
"""Decisions times objects of a check that a page waits for."""


def recording_follow(
    *,
    workspace: Workspace,
    stream: BinaryIO,
    name: str,
    scheduler_config: str = "",
    release: str = AUTO,
) -> FollowedCluster:
    """Follow a recording to its end. Raises InvalidInput."""
    try:
        replayed = replay(parse_lines(_lines(stream), name))
    except (BadRecording, UnreadableChange, OSError, EOFError) as error:
        raise InvalidInput([{"field": "recording", "message": told(error)}]) from None
    chosen = chosen_release(release, replayed.journal.release_told)
    check_configuration(scheduler_config, chosen)
    followed = followed_create(
        workspace=workspace,
        name=name,
        journal=replayed.journal,
        events=replayed.events,
        chosen=chosen,
        scheduler_config=scheduler_config,
    )
    observed_run_finish(run_id=followed.run_id)
    followed.run.refresh_from_db()
    return followed


def check_configuration(text: str, chosen: Chosen) -> None:
    """Raise InvalidInput unless a configuration is one of the release, and without secrets."""
    given = configuration_of(text, FeatureGates((), chosen.release))
    refuse_secrets(given, "scheduler_config", text)


def _lines(stream: BinaryIO) -> Iterable[bytes]:
    """Read the lines of a recording, as long as they are not too many. Raises BadRecording."""
    start = stream.read(2)
    stream.seek(0)
    unpacked: io.BufferedIOBase | gzip.GzipFile | BinaryIO = stream
    if start == GZIP:
        unpacked = gzip.GzipFile(fileobj=stream)
    n_bytes = 0
    while line := unpacked.readline(settings.MAX_UNPACKED_BYTES):
        n_bytes += len(line)
        if n_bytes > settings.MAX_UNPACKED_BYTES:
            raise BadRecording(say("following.recording_too_large", "the recording is too large"))
        yield line


@transaction.atomic
def followed_create(
    *,
    workspace: Workspace,
    name: str,
    journal: Journal,
    events: Sequence[AnyEvent],
    chosen: Chosen,
    context: str = "",
    scheduler_config: str = "",
    config_origin: str = "",
    protection: str = "",
    refused: dict[str, str] | None = None,
) -> FollowedCluster:
    """Begin a followed cluster with what has been told so far."""
    run = observed_run_create(
        workspace=workspace, name=name[:200], snapshot=None, events=events, outcomes_told=True
    )
    followed = FollowedCluster.objects.create(
        run=run,
        context=context,
        scheduler_config=scheduler_config,
        config_origin=config_origin[:300],
        release=chosen.release.name,
        release_told=chosen.told,
        protection=protection,
        refused=refused or {},
    )
    part_store(
        followed=followed, number=0, n_changes=len(journal.changes), lines=journal_lines(journal)
    )
    return followed


def followed_claim(*, followed: FollowedCluster, by: str) -> bool:
    """Have a server follow a cluster, unless another one does: by its latest heartbeat."""
    silent = Q(heartbeat_at=None) | Q(heartbeat_at__lt=timezone.now() - selectors.LEASE)
    free = FollowedCluster.objects.filter(Q(followed_by__in=("", by)) | silent, pk=followed.pk)
    return bool(free.update(followed_by=by, heartbeat_at=timezone.now()))


def followed_heartbeat(*, followed_id: UUID, by: str) -> bool:
    """Say that a cluster is still followed; False if another server has taken it."""
    own = FollowedCluster.objects.filter(pk=followed_id, followed_by=by)
    return bool(own.update(heartbeat_at=timezone.now()))


def followed_delete(*, followed: FollowedCluster) -> None:
    """Delete a followed cluster with its run."""
    run_delete(run=followed.run)


def part_store(
    *, followed: FollowedCluster, number: int, n_changes: int, lines: Iterable[bytes]
) -> None:
    """Append to the journal. Raises IntegrityError if another process has."""
    data = gzip.compress(b"".join(lines), 6)
    JournalPart.objects.create(followed=followed, number=number, n_changes=n_changes, lines=data)


def options_of(followed: FollowedCluster) -> SchedulerOptions:
    release = stored_release(followed.release)
    if release is None:
        text = say(
            "run.unknown_release",
            "This run follows Kubernetes v{release}; this kviz knows {known}.",
            release=followed.release,
            known=", ".join(RELEASES),
        )
        raise InvalidInput([{"field": "release", "message": text}])
    gates = FeatureGates((), release, followed.release_told)
    return SchedulerOptions(
        configuration=configuration_of(followed.scheduler_config, gates), features=gates
    )


def followed_check(*, followed: FollowedCluster) -> None:
    """Set kviz's verdict beside every decision, and store what comes of it. Raises InvalidInput."""
    journal = selectors.journal(followed=followed)
    n_objects = sum(len(found.items) for found in journal.lists) + 1
    if followed.run.cycles * n_objects > MAX_WORK:
        text = say(
            "following.too_long",
            "This takes longer than a page waits for: kviz follow --check finds out.",
        )
        raise InvalidInput([{"field": "followed", "message": text}])
    options = options_of(followed)
    found = list(check(journal, options))
    followed.checked = as_json(found, score(found), options.features)
    followed.save(update_fields=["checked"])


@dataclass(frozen=True)
class DecisionBeside:
    """A decision beside kviz's verdict, and the next decisions and changes around it in words."""

    document: dict[str, object]
    compared: Compared
    n_nodes: int
    n_pods: int
    before: tuple[str, ...]
    """What changed in the two seconds before, the latest first."""
    later: tuple[str, ...]
    """Pods that were bound in the two seconds after."""


def decision_beside(*, followed: FollowedCluster, number: int) -> DecisionBeside | None:
    """Set kviz's verdict beside one decision; None without such a decision. Raises InvalidInput."""
    journal = selectors.journal(followed=followed)
    moment = _moment(journal, number)
    if moment is None:
        return None
    options = options_of(followed)
    found = compare(moment, options, another_release(journal, options))
    objects = moment.objects()
    return DecisionBeside(
        document=document(found),
        compared=found,
        n_nodes=sum(isinstance(item, Node) for item in objects),
        n_pods=sum(isinstance(item, Pod) for item in objects),
        before=tuple(islice(changed_before(moment), MAX_AROUND)),
        later=tuple(islice(bound_after(moment), MAX_AROUND)),
    )


def _moment(journal: Journal, number: int) -> Moment | None:
    return next((each for each in moments(journal) if each.decision.number == number), None)


def decision_open(*, followed: FollowedCluster, number: int) -> Run | None:
    """Store the cluster that a decision met, and run kviz over it; None without such a decision."""
    moment = _moment(selectors.journal(followed=followed), number)
    if moment is None:
        return None
    return run_create(
        workspace=followed.run.workspace,
        snapshot=_snapshot(followed, moment),
        scheduler_config=followed.scheduler_config,
        release=AUTO if followed.release_told else followed.release or UNNAMED.name,
    )


def _snapshot(followed: FollowedCluster, moment: Moment) -> Snapshot:
    decision = moment.decision
    name = f"{followed.run.name or 'followed'}: {decision.pod.key}, decision {decision.number}"
    return snapshot_keep(
        workspace=followed.run.workspace,
        objects=ClusterObjects(moment.objects()),
        name=name,
        of=Snapshot(release_told=followed.release_told),
    )


def changes_store(*, followed: FollowedCluster, number: int, changes: Journal) -> None:
    """Append changes that were told to the journal."""
    part_store(
        followed=followed,
        number=number,
        n_changes=len(changes.changes),
        lines=change_lines(changes.changes),
    )
