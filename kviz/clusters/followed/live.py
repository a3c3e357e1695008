"""Following a cluster live: a thread watches it, and appends to its run and its journal.

Only this process knows how to reach the cluster: credentials are read from the kubeconfig each
time, and never stored. After a restart somebody has to ask to go on, which loses nothing.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Final
from uuid import UUID

from django.db import close_old_connections, transaction

from kviz.accounts.models import Workspace
from kviz.clusters.followed import selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import ClusterProblem
from kviz.clusters.reading.targets import chosen_target
from kviz.clusters.watching import Watched, begin, follow
from kviz.following.follower import Follower, Journal, Told
from kviz.runs.execution.observe import ObservedTrace, observed_run_finish
from kviz.runs.inputs import InvalidInput, configuration_of
from scheduler_core.config import FeatureGates

log = logging.getLogger(__name__)
BEGIN_S: Final = 60.0


class Live:
    """One cluster that this process follows."""

    def __init__(self, followed: FollowedCluster, connection: Connection, journal: Journal) -> None:
        self.followed = followed
        self.watched = Watched()
        self.problem = ""
        self._connection = connection
        self._journal = journal
        self._n_parts = followed.parts.count()
        self._n_changes = len(journal.changes)
        self._trace = ObservedTrace.resume(followed.run_id, lambda event: None)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follow", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join(BEGIN_S)

    def _run(self) -> None:
        try:
            with self._connection as connection:
                follow(connection, self._journal, self._tell, self._over, self.watched)
        except Exception as error:
            self.problem = str(error) or type(error).__name__
            log.exception("a cluster is followed no longer")
        finally:
            close_old_connections()

    def _tell(self, told: Told) -> None:
        with transaction.atomic():
            services.changes_store(
                followed=self.followed,
                number=self._n_parts,
                changes=Journal([], list(told.changes)),
            )
            if told.events:
                self._trace.append(told.events)
        self._n_parts += 1
        self._n_changes += len(told.changes)
        if self._n_changes >= services.MAX_CHANGES:
            observed_run_finish(
                run_id=self.followed.run_id,
                reason=f"a followed cluster tells at most {services.MAX_CHANGES} changes",
            )
            self._over.set()


_live: dict[UUID, Live] = {}


def of(followed: FollowedCluster) -> Live | None:
    """What follows a cluster in this process, if anything does."""
    found = _live.get(followed.pk)
    return found if found is not None and found.is_alive else None


def problem_of(followed: FollowedCluster) -> str:
    """Why a cluster is followed no longer, as far as this process knows."""
    found = _live.get(followed.pk)
    return found.problem if found is not None else ""


def live_follow(
    *, workspace: Workspace, context: str, scheduler_config: str = ""
) -> FollowedCluster:
    """List a cluster, and follow it from there on. Raises InvalidInput."""
    configuration_of(scheduler_config, FeatureGates())
    connection = _connection(context)
    waited = threading.Event()
    try:
        found = begin(connection, waited.wait)
    except ClusterProblem as problem:
        connection.close()
        raise _invalid(problem) from None
    journal = Journal(found.lists)
    followed = services.followed_create(
        workspace=workspace,
        name=connection.target.name,
        journal=journal,
        events=Follower(journal.lists).beginning,
        context=connection.target.name,
        scheduler_config=scheduler_config,
        refused=found.refused,
    )
    _start(followed, connection, journal)
    return followed


def live_resume(*, followed: FollowedCluster) -> None:
    """Go on behind the journal. Raises InvalidInput; nothing is done if it is being followed."""
    if of(followed) is None and not followed.run.is_over:
        connection = _connection(followed.context)
        _start(followed, connection, selectors.journal(followed=followed))


def live_stop(*, followed: FollowedCluster) -> None:
    """Stop following; the run is over, and stays."""
    live = _live.pop(followed.pk, None)
    if live is not None:
        live.stop()
    observed_run_finish(run_id=followed.run_id)


def _start(followed: FollowedCluster, connection: Connection, journal: Journal) -> None:
    _live[followed.pk] = Live(followed, connection, journal)
    _live[followed.pk].start()


def _connection(context: str) -> Connection:
    try:
        return Connection(chosen_target(None, context, os.environ))
    except ClusterProblem as problem:
        raise _invalid(problem) from None


def _invalid(problem: ClusterProblem) -> InvalidInput:
    return InvalidInput([{"field": "context", "message": str(problem)}])
