"""Runs and experiments over a real broker: Celery brings messages, the rows decide.

Workers are killed as the operating system kills; messages are lost, late, or delivered twice.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.faults.servers import redis_at
from tests.faults.site import (
    BEGINS,
    LONG,
    Site,
    delivered_again,
    is_as_if_nothing_happened,
    killed_in_the_middle_of_a_run,
    second_worker,
    site_at,
    the_one_that_works,
)
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, LOSSES, begun, has_done
from tests.web.test_experiment_crash import is_as_if_nothing_happened as experiments_are_alike
from tests.web.test_serve import call, has_begun, run_of, upload, wait_for

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(new_data_dir: Callable[[], Path]) -> Iterator[Site]:
    folder = new_data_dir()
    with redis_at(folder / "redis") as redis:
        url = f"redis://127.0.0.1:{redis.port}"
        settings = {"KVIZ_CELERY_BROKER_URL": f"{url}/1", "KVIZ_REDIS_URL": f"{url}/0"}
        with site_at(folder, redis, **settings) as found:
            yield found


@pytest.fixture(scope="module")
def calm(site: Site) -> Any:
    """What becomes of a run that nothing happens to."""
    return wait_for(site.server, run_of(site.server, crowd(400)))


def test_a_run_and_an_experiment(site: Site, calm: Any) -> None:
    assert calm["status"] == "finished"
    snapshot = upload(site.server, CLUSTER)
    experiment = begun(site.server, snapshot, LOSSES)
    done = eventually(lambda: has_done(site.server, experiment, 1_000))
    assert (done["status"], done["n_done"]) == ("finished", done["n_variants"])


def test_a_message_delivered_again_executes_nothing_twice(site: Site, calm: Any) -> None:
    delivered_again(site, run_of(site.server, crowd(400)), calm)


def test_two_workers_with_one_run(site: Site, calm: Any) -> None:
    with second_worker(site):
        runs = [run_of(site.server, crowd(400)) for _ in range(3)]
        for run in runs:
            site.send("run", run, times=10)
        for run in runs:
            is_as_if_nothing_happened(site, run, calm)
    assert [site.executions(run) for run in runs] == [1, 1, 1]


def test_a_run_that_is_cancelled_under_way_and_one_that_waits(site: Site) -> None:
    under_way, waiting = run_of(site.server, crowd(3_000)), run_of(site.server, crowd(3))
    eventually(lambda: has_begun(site.server, under_way))
    for run in (waiting, under_way):
        call(site.server, f"/runs/{run}/cancel/", {"yes": True})
    last = run_of(site.server, crowd(3))
    assert wait_for(site.server, last)["status"] == "finished"
    for run, executions in ((under_way, 1), (waiting, 0)):
        assert call(site.server, f"/runs/{run}/")["status"] == "cancelled"
        assert site.executions(run) == executions


def test_an_experiment_that_is_cancelled_under_way_and_one_that_waits(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    under_way, waiting = (begun(site.server, snapshot, LONG) for _ in range(2))
    eventually(lambda: has_done(site.server, under_way, 1))
    for experiment in (waiting, under_way):
        call(site.server, f"/experiments/{experiment}/cancel/", {"yes": True})
    n_done = call(site.server, f"/experiments/{under_way}/")["n_done"]
    last = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, last, 1_000))  # so its worker has left it
    for experiment, executions in ((under_way, 1), (waiting, 0)):
        found = call(site.server, f"/experiments/{experiment}/")
        assert (found["status"], site.log.count(f"experiment {experiment} {BEGINS}")) == (
            "cancelled",
            executions,
        )
    assert call(site.server, f"/experiments/{under_way}/")["n_done"] == n_done


def test_messages_of_what_is_cancelled_are_revoked(site: Site) -> None:
    with kept_waiting(site) as (run, experiment):
        call(site.server, f"/runs/{run}/cancel/", {"yes": True})
        call(site.server, f"/experiments/{experiment}/cancel/", {"yes": True})

        def revoked() -> bool:
            answers = site.celery("inspect", "--json", "revoked")
            return f"run-{run}" in answers and f"experiment-{experiment}" in answers

        eventually(revoked)


def test_a_run_begins_before_an_experiment_that_was_asked_for_earlier(site: Site) -> None:
    with kept_waiting(site) as (run, experiment):
        pass
    wait_for(site.server, run)
    eventually(lambda: has_done(site.server, experiment, 1_000))
    log = site.log
    assert log.index(f"run {run} {BEGINS}") < log.index(f"experiment {experiment} {BEGINS}")


@contextmanager
def kept_waiting(site: Site) -> Iterator[tuple[str, str]]:
    """A run, and an experiment that was asked for before it, while the worker has other work."""
    snapshot, busy = upload(site.server, CLUSTER), run_of(site.server, crowd(3_000))
    eventually(lambda: has_begun(site.server, busy))
    experiment = begun(site.server, snapshot, LOSSES)
    run = run_of(site.server, crowd(3))
    assert call(site.server, f"/runs/{busy}/")["status"] == "running"
    yield run, experiment
    call(site.server, f"/runs/{busy}/cancel/", {"yes": True})


def test_a_run_that_is_paused_goes_on_when_it_is_resumed(site: Site, calm: Any) -> None:
    run = run_of(site.server, crowd(400))
    eventually(lambda: has_begun(site.server, run))
    call(site.server, f"/runs/{run}/pause/", {"yes": True})
    assert call(site.server, f"/runs/{run}/")["status"] == "paused"
    call(site.server, f"/runs/{run}/resume/", {"yes": True})
    is_as_if_nothing_happened(site, run, calm)


@pytest.mark.parametrize("who", ["the receiver", "the process that works"])
def test_a_worker_killed_in_the_middle_of_a_run(site: Site, calm: Any, who: str) -> None:
    killed_in_the_middle_of_a_run(site, calm, who)


def test_a_worker_killed_in_an_experiment(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    calm = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, calm, 1_000))
    shaken = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, shaken, 2))
    os.kill(the_one_that_works(site.server)[1], signal.SIGKILL)
    experiments_are_alike(site.server, shaken, calm)


def test_a_run_goes_before_an_experiment_that_is_under_way(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    experiment = begun(site.server, snapshot, LONG)
    eventually(lambda: has_done(site.server, experiment, 1))
    run = wait_for(site.server, run_of(site.server, crowd(3)))
    assert call(site.server, f"/experiments/{experiment}/")["finished_at"] is None
    end = eventually(lambda: has_done(site.server, experiment, 1_000))
    assert site.executions(run["id"]) == 1
    assert (run["status"], end["status"]) == ("finished", "finished")


def test_what_waits_is_found_when_the_broker_has_forgotten_it(site: Site, calm: Any) -> None:
    site.broker.kill()
    run = run_of(site.server, crowd(400))
    assert call(site.server, f"/runs/{run}/")["status"] == "queued"
    with connect(
        f"{site.server.ws_url}/ws/runs/{run}/",
        additional_headers={"Authorization": f"Bearer {site.server.token}"},
    ) as live:
        assert json.loads(live.recv(timeout=PATIENCE_S))["status"] == "queued"
    site.broker.start()
    is_as_if_nothing_happened(site, run, calm)
