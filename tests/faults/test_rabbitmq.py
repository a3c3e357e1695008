"""RabbitMQ as the broker: the same promises as with Redis, by another protocol.

The short form kills it, and lets it take no messages; `KVIZ_EFFORT=long` tries the rest, too. They
are skipped where it is not installed (Debian: rabbitmq-server), as nothing else needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.faults.servers import RabbitMQ, rabbitmq_at
from tests.faults.site import (
    BEGINS,
    Site,
    delivered_again,
    killed_in_the_middle_of_a_run,
    second_worker,
    site_at,
)
from tests.faults.test_kills import IS_LONG
from tests.waiting import eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, CORDONS, LOSSES, begun, has_done
from tests.web.test_experiment_crash import is_as_if_nothing_happened as experiments_are_alike
from tests.web.test_serve import call, has_begun, run_of, upload, wait_for

pytestmark = pytest.mark.long

long_form = pytest.mark.skipif(not IS_LONG, reason="ADR 0040: the long form")
N_KILLS = 10 if IS_LONG else 1
ALARM = "rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []})."
ALL_CLEAR = "rabbit_alarm:clear_alarm({resource_limit, memory, node()})."


@pytest.fixture(scope="module")
def rabbitmq() -> Iterator[RabbitMQ]:
    with rabbitmq_at() as found:
        yield found


@pytest.fixture(scope="module")
def site(new_data_dir: Callable[[], Path], rabbitmq: RabbitMQ) -> Iterator[Site]:
    address = f"amqp://guest:guest@127.0.0.1:{rabbitmq.port}//"
    with site_at(new_data_dir(), rabbitmq, KVIZ_CELERY_BROKER_URL=address) as found:
        yield found


@pytest.fixture(scope="module")
def calm(site: Site) -> Any:
    return wait_for(site.server, run_of(site.server, crowd(400)))


def test_it_is_killed_while_two_workers_share_an_experiment(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    with second_worker(site):
        calm = begun(site.server, snapshot, CORDONS)
        eventually(lambda: has_done(site.server, calm, 1_000))
        for n_done in range(1, 1 + N_KILLS):
            shaken = begun(site.server, snapshot, CORDONS)
            eventually(partial(has_done, site.server, shaken, 7 * n_done))
            site.broker.kill()
            eventually(partial(has_done, site.server, shaken, 7 * n_done + 5))
            site.broker.start()
            experiments_are_alike(site.server, shaken, calm)
            run = wait_for(site.server, run_of(site.server, crowd(3)))
            assert (run["status"], site.executions(run["id"])) == ("finished", 1)


def test_nobody_waits_for_one_that_takes_no_messages(site: Site, rabbitmq: RabbitMQ) -> None:
    """It lacks memory or disk, and does not answer who publishes; a page waited without end."""
    rabbitmq.evaluate(ALARM)
    run = run_of(site.server, crowd(3))
    under_way, waiting = run_of(site.server, crowd(3_000)), run_of(site.server, crowd(3))
    call(site.server, f"/runs/{waiting}/cancel/", {"yes": True})
    call(site.server, f"/runs/{under_way}/cancel/", {"yes": True})
    rabbitmq.evaluate(ALL_CLEAR)
    assert "the broker did not take a message" in site.log
    assert wait_for(site.server, run)["status"] == "finished"


@long_form
def test_a_message_delivered_again_executes_nothing_twice(site: Site, calm: Any) -> None:
    assert calm["status"] == "finished"
    delivered_again(site, run_of(site.server, crowd(400)), calm)


@long_form
def test_runs_go_before_experiments_and_what_is_cancelled_is_revoked(site: Site) -> None:
    snapshot, busy = upload(site.server, CLUSTER), run_of(site.server, crowd(3_000))
    eventually(lambda: has_begun(site.server, busy))
    first, second = (begun(site.server, snapshot, LOSSES) for _ in range(2))
    run = run_of(site.server, crowd(3))
    call(site.server, f"/experiments/{second}/cancel/", {"yes": True})
    eventually(lambda: f"experiment-{second}" in site.celery("inspect", "--json", "revoked"))
    wait_for(site.server, run)
    eventually(lambda: has_done(site.server, first, 1_000))
    log = site.log
    assert log.index(f"run {run} {BEGINS}") < log.index(f"experiment {first} {BEGINS}")
    assert f"experiment {second} {BEGINS}" not in log


@long_form
@pytest.mark.parametrize("who", ["the receiver", "the process that works"])
def test_a_worker_killed_in_the_middle_of_a_run(site: Site, calm: Any, who: str) -> None:
    killed_in_the_middle_of_a_run(site, calm, who)
