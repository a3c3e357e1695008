"""Following a cluster live: a thread watches it, and appends to its run and its journal.

Credentials are read from the kubeconfig each time, or from where the operator's list says, and
never stored. `keep` continues what a server followed before its restart, and loses nothing.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, close_old_connections, transaction

from kviz.accounts.models import Workspace
from kviz.clusters.followed import selectors, services
from kviz.clusters.followed.models import FollowedCluster
from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import ClusterProblem
from kviz.clusters.reading.server_version import server_version
from kviz.clusters.reading.targets import chosen_target
from kviz.clusters.scheduler_config import GuessedConfig, guess_config
from kviz.clusters.selectors import target_get
from kviz.clusters.services import shown
from kviz.clusters.watching import Watched, begin, follow
from kviz.common.mode import Mode
from kviz.following.follower import Follower, Journal, Told
from kviz.runs.execution.observe import ObservedTrace, observed_run_finish
from kviz.runs.inputs import InvalidInput
from scheduler_core.config import FeatureGates
from scheduler_core.releases.choosing import AUTO, chosen_release
from scheduler_core.wording import say, told

log = logging.getLogger(__name__)
BEGIN_S: Final = 60.0
KEEP_S: Final = 10.0
MAX_LIVE: Final = 3
"""Of a workspace in server mode."""


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
            self.problem = told(error) or type(error).__name__
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
        close_old_connections()
        self._n_parts += 1
        self._n_changes += len(told.changes)
        if self._n_changes >= services.MAX_CHANGES:
            observed_run_finish(
                run_id=self.followed.run_id,
                reason=say(
                    "following.most_changes",
                    "a followed cluster tells at most {n} changes",
                    n=services.MAX_CHANGES,
                ),
            )
            self._over.set()


_live: dict[UUID, Live] = {}
_unable: dict[UUID, str] = {}
"""Why clusters cannot be gone on with."""


def of(followed: FollowedCluster) -> Live | None:
    """What follows a cluster in this process, if anything does."""
    found = _live.get(followed.pk)
    return found if found is not None and found.is_alive else None


def problem_of(followed: FollowedCluster) -> str:
    """Why a cluster is no longer followed, if this process knows."""
    found = _live.get(followed.pk)
    return _unable.get(followed.pk, "") or (found.problem if found is not None else "")


def live_follow(
    *,
    workspace: Workspace,
    context: str,
    scheduler_config: str = "",
    config_map: str = "",
    release: str = AUTO,
) -> FollowedCluster:
    """List a cluster, and follow it from there on. Raises InvalidInput.

    Without a configuration the scheduler's is looked for, in the ConfigMap that is named if one is.
    """
    if settings.MODE is Mode.SERVER and _n_live(workspace) >= MAX_LIVE:
        text = say(
            "following.most_clusters",
            "A workspace may follow {n} clusters at a time; stop one.",
            n=MAX_LIVE,
        )
        raise InvalidInput([{"field": "context", "message": text}])
    connection = _connection(workspace, context)
    waited, guessed = threading.Event(), GuessedConfig()
    try:
        found = begin(connection, waited.wait)
        journal = Journal(found.lists, server_version=server_version(connection))
        chosen = chosen_release(release, journal.release_told)
        services.check_configuration(scheduler_config, chosen)
        if not scheduler_config:
            gates = FeatureGates((), chosen.release)
            guessed = guess_config(connection, gates, config_map)
    except ClusterProblem as problem:
        connection.close()
        raise _invalid(problem, connection.target.name) from None
    except InvalidInput:
        connection.close()
        raise
    followed = services.followed_create(
        workspace=workspace,
        name=connection.target.name,
        journal=journal,
        events=Follower(journal.lists).beginning,
        chosen=chosen,
        context=connection.target.name,
        scheduler_config=scheduler_config or guessed.text,
        config_origin=guessed.origin,
        protection=connection.target.protection,
        refused=found.refused,
    )
    services.followed_claim(followed=followed, by=server_name())
    _start(followed, connection, journal)
    return followed


def live_resume(*, followed: FollowedCluster) -> None:
    """Go on behind the journal. Raises InvalidInput; nothing is done if it is being followed."""
    if of(followed) is not None or followed.run.is_over:
        return
    if not services.followed_claim(followed=followed, by=server_name()):
        text = say("following.other_server", "Another server follows it.")
        raise InvalidInput([{"field": "context", "message": text}])
    connection = _connection(followed.run.workspace, followed.context)
    _start(followed, connection, selectors.journal(followed=followed))


def live_stop(*, followed: FollowedCluster) -> None:
    """Stop following; the run is over, and stays."""
    live = _live.pop(followed.pk, None)
    if live is not None:
        live.stop()
    observed_run_finish(run_id=followed.run_id)


def server_name() -> str:
    """A name that stays the same when `kviz serve` is started again: one serves a data folder."""
    return f"{socket.gethostname()}:{settings.DATA_DIR}"[-100:]


def keep(over: threading.Event) -> None:
    """Continue to follow, and report it, until it is over; for a separate thread."""
    while True:
        try:
            keep_once()
        except DatabaseError:
            log.exception("followed clusters could not be looked up")
        finally:
            close_old_connections()
        if over.wait(KEEP_S):
            return


def keep_once() -> None:
    """Follow what nobody follows, and stop what is over or was taken by another server."""
    wanted = {followed.pk: followed for followed in selectors.followed_live()}
    for followed_id, live in list(_live.items()):
        if not live.is_alive:
            continue
        is_own = services.followed_heartbeat(followed_id=followed_id, by=server_name())
        if followed_id not in wanted or not is_own:
            live.stop()
    for followed in wanted.values():
        if of(followed) is None:
            _resume_or_say(followed)


def _resume_or_say(followed: FollowedCluster) -> None:
    try:
        live_resume(followed=followed)
    except InvalidInput as problem:
        if _unable.get(followed.pk) != told(problem):
            log.warning("%s is not followed: %s", followed, problem)
        _unable[followed.pk] = told(problem)
    else:
        _unable.pop(followed.pk, None)


def _n_live(workspace: Workspace) -> int:
    return selectors.followed_live().filter(run__workspace=workspace).count()


def _start(followed: FollowedCluster, connection: Connection, journal: Journal) -> None:
    _live[followed.pk] = Live(followed, connection, journal)
    _live[followed.pk].start()


def _connection(workspace: Workspace, name: str) -> Connection:
    """The way to a context of the kubeconfig, or to a cluster of the operator's list."""
    try:
        if settings.MODE is Mode.SERVER:
            return Connection(target_get(workspace=workspace, name=name))
        return Connection(chosen_target(None, name, os.environ))
    except ClusterProblem as problem:
        raise _invalid(problem, name) from None


def _invalid(problem: ClusterProblem, name: str) -> InvalidInput:
    return InvalidInput([{"field": "context", "message": shown(problem, name)}])
