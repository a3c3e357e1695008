"""A worker that has nothing to do takes next to nothing of a processor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.faults.servers import children_of, postgresql_at, redis_at
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.test_health import get
from tests.web.test_serve import workers_of

pytestmark = pytest.mark.long

WATCHED_S: Final = 20.0
"""Four looks into SQLite's tables, two of Celery's."""
AT_MOST: Final = 0.01
"""Of a core. It is less than half of that (docs/operation.md); a busy machine doubles it."""


@pytest.fixture(params=["SQLite", "Celery"])
def server(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[Server]:
    with ExitStack() as stack:
        more = {}
        if request.param == "Celery":
            _, database = stack.enter_context(postgresql_at())
            redis = stack.enter_context(redis_at(data_dir / "redis"))
            url = f"redis://127.0.0.1:{redis.port}"
            more = {
                "KVIZ_DATABASE_URL": database,
                "KVIZ_REDIS_URL": f"{url}/0",
                "KVIZ_CELERY_BROKER_URL": f"{url}/1",
            }
        yield stack.enter_context(serving(data_dir, **more))


def seconds_of(pid: int) -> float:
    """The processor time that a process has taken, to the nanosecond."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


def test_an_idle_worker_takes_next_to_nothing(server: Server) -> None:
    eventually(lambda: get(server, "/readyz")[1]["workers"] == "ok")
    [worker] = workers_of(server)
    pids = [worker, *children_of(worker)]
    before_s = sum(map(seconds_of, pids))
    time.sleep(WATCHED_S)
    taken_s = sum(map(seconds_of, pids)) - before_s
    assert taken_s < AT_MOST * WATCHED_S
