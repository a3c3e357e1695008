"""Everything is killed, again and again, at moments that a seed draws; what was stored stays.

Web, worker, Redis (broker, hints and cache) and PostgreSQL, as the operating system kills. What
was stored is neither lost nor doubled, what comes out is what comes out undisturbed, and whatever
can be asked meanwhile is answered with the truth or with an error, never with a failed run.

`KVIZ_EFFORT=long` kills two hundred times, and draws other moments each time.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.faults.servers import Killable, postgresql_at, redis_at
from tests.faults.site import followed, the_one_that_works
from tests.running_server import Server, start_server, stop_server
from tests.waiting import ending, eventually
from tests.web.cast import crowd
from tests.web.test_serve import call, run_of, workers_of

pytestmark = pytest.mark.long

IS_LONG = os.environ.get("KVIZ_EFFORT", "short") == "long"
N_KILLS = 200 if IS_LONG else 20
SEED = random.SystemRandom().getrandbits(32) if IS_LONG else 20
PODS = 400
FAILURES = (urllib.error.URLError, OSError)


class Site:
    """All that a site consists of, each of which can be killed."""

    def __init__(self, folder: Path, redis: Killable, postgresql: Killable, database: str) -> None:
        self.redis, self.postgresql = redis, postgresql
        url = f"redis://127.0.0.1:{redis.port}"
        self._folder = folder
        self._more = {
            "KVIZ_DATABASE_URL": database,
            "KVIZ_CELERY_BROKER_URL": f"{url}/1",
            "KVIZ_REDIS_URL": f"{url}/0",
        }
        self.server = self._start()

    def _start(self) -> Server:
        return start_server(self._folder, **self._more)

    def kill_web(self) -> None:
        with ending(workers_of(self.server)):
            self.server.process.kill()
            stop_server(self.server)
            self.server = self._start()

    def kill_worker(self) -> None:
        [receiver] = eventually(lambda: workers_of(self.server))
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.kill(receiver, signal.SIGKILL)

    def kill_the_one_that_works(self) -> None:
        _, child = the_one_that_works(self.server)
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.kill(child, signal.SIGKILL)

    def kill_redis(self) -> None:
        self.redis.kill()
        self.redis.start()

    def kill_postgresql(self) -> None:
        self.postgresql.kill()
        self.postgresql.start()


VICTIMS = (
    Site.kill_web,
    Site.kill_worker,
    Site.kill_the_one_that_works,
    Site.kill_redis,
    Site.kill_postgresql,
)


@pytest.fixture(scope="module")
def site(new_data_dir: Callable[[], Path]) -> Iterator[Site]:
    folder = new_data_dir()
    with ExitStack() as stack:
        postgresql, database = stack.enter_context(postgresql_at())
        redis = stack.enter_context(redis_at(folder / "redis"))
        found = Site(folder, redis, postgresql, database)
        stack.callback(lambda: stop_server(found.server))
        yield found


def seen(server: Server, run: str) -> Any:
    """What a person is told of a run; None while nobody answers."""
    try:
        found = call(server, f"/runs/{run}/")
    except urllib.error.HTTPError as refused:
        refused.close()
        return is_away(refused)
    except FAILURES:
        return None
    assert found["status"] in ("queued", "running", "finished"), found
    return found


def is_away(refused: urllib.error.HTTPError) -> None:
    """Whoever cannot read a run says when to come back, and not that there is none."""
    assert (refused.code, refused.headers["Retry-After"]) == (503, "5")


class Watching:
    """What was told of a run so far: it only grows."""

    def __init__(self, site: Site, run: str) -> None:
        self._site, self.run = site, run
        self.last_seq = -1
        self.is_over = False

    def has_come_to(self, last_seq: int) -> bool:
        found = seen(self._site.server, self.run)
        if found is None:
            return False
        assert found["last_seq"] >= self.last_seq
        self.last_seq, self.is_over = found["last_seq"], found["status"] == "finished"
        return self.is_over or self.last_seq >= last_seq


def begun(site: Site) -> str:
    """Ask for a run until somebody takes it."""

    def asked() -> str:
        try:
            return run_of(site.server, crowd(PODS))
        except FAILURES:
            return ""

    return eventually(asked)


def end_of(site: Site, run: str) -> Any:
    watching = Watching(site, run)
    eventually(lambda: watching.has_come_to(1 << 60))
    return eventually(lambda: seen(site.server, run))


def test_nothing_is_lost_or_doubled_whoever_is_killed(site: Site) -> None:
    draw = random.Random(SEED)
    calm = end_of(site, begun(site))
    killed: Counter[str] = Counter()
    runs: list[str] = []
    while killed.total() < N_KILLS:
        watching = Watching(site, begun(site))
        runs.append(watching.run)
        for _ in range(draw.randint(1, 4)):
            moment = draw.randint(0, calm["last_seq"])
            eventually(lambda w=watching, m=moment: w.has_come_to(m))  # type: ignore[misc]
            if watching.is_over:
                break
            victim = VICTIMS[killed.total() % len(VICTIMS)] if not IS_LONG else draw.choice(VICTIMS)
            victim(site)
            killed[victim.__name__] += 1
    for run in runs:
        end = end_of(site, run)
        told = f"seed {SEED}, {dict(killed)}: run {run}"
        assert end["trace_hash"] == calm["trace_hash"], told
        assert [end[key] for key in ("cycles", "bound", "pending", "last_seq", "error")] == [
            calm[key] for key in ("cycles", "bound", "pending", "last_seq", "error")
        ], told
        assert followed(site.server, run) == calm["last_seq"], told
        numbers = call(site.server, f"/runs/{run}/cycles/?limit=1000")
        assert [each["cycle"] for each in numbers["cycles"]] == list(range(1, calm["cycles"] + 1))
