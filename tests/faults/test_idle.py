"""A worker that has nothing to do takes next to nothing of a processor."""

from __future__ import annotations

import os
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

WATCHED_S: Final = 30.0
"""The last digit of what is measured is 0.03 % then."""
AT_MOST: Final = 0.01
"""Of a core. It is 0.004 (docs/operation.md), also on a busy machine."""


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
    """The processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_idle_worker_takes_next_to_nothing(server: Server) -> None:
    eventually(lambda: get(server, "/readyz")[1]["workers"] == "ok")
    [worker] = workers_of(server)
    pids = [worker, *children_of(worker)]
    before_s = sum(map(seconds_of, pids))
    time.sleep(WATCHED_S)
    taken_s = sum(map(seconds_of, pids)) - before_s
    assert taken_s < AT_MOST * WATCHED_S
