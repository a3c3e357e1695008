"""A clock that is moved while kviz runs: libfaketime tells its processes another time of day."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import urllib.request
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from tests.faults.site import followed
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.cast import crowd
from tests.web.test_serve import has_begun, run_of, wait_for, workers_of

pytestmark = pytest.mark.long

LIBRARIES = Path("/usr/lib")
PODS = 200


class Clock:
    """The time of day that processes are told; what measures durations is not touched."""

    def __init__(self, folder: Path) -> None:
        found = sorted(LIBRARIES.glob("*/faketime/libfaketimeMT.so.1"))
        if not found:
            pytest.skip("ADR 0040: libfaketime is not installed")
        self._offset = folder / "offset"
        self.move(0)
        self.environment = {
            "LD_PRELOAD": str(found[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._offset),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def move(self, hours: int) -> None:
        new = self._offset.with_suffix(".new")
        new.write_text(f"{hours:+d}h\n")
        new.replace(self._offset)


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(tmp_path)


@pytest.fixture
def server(data_dir: Path, clock: Clock) -> Iterator[Server]:
    with serving(data_dir, **clock.environment) as found:
        yield found


def time_of_day(server: Server) -> dt.datetime:
    with urllib.request.urlopen(f"{server.base_url}/healthz") as answer:
        told: str = answer.headers["Date"]
    return parsedate_to_datetime(told)


@pytest.mark.parametrize("hours", [-3, 3], ids=["put back", "put forward"])
def test_a_run_goes_on_when_the_clock_is_moved(server: Server, clock: Clock, hours: int) -> None:
    calm = wait_for(server, run_of(server, crowd(PODS)))
    run = run_of(server, crowd(PODS))
    eventually(lambda: has_begun(server, run))
    before = time_of_day(server)
    clock.move(hours)
    eventually(lambda: abs(time_of_day(server) - before) > dt.timedelta(hours=2))
    next_one = run_of(server, crowd(PODS))
    # libfaketime lets some sleeps fail, by which a worker ends: another one is under way then.
    [worker] = eventually(lambda: workers_of(server))
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)

    for each in (run, next_one):
        end = wait_for(server, each)
        assert (end["status"], end["trace_hash"]) == ("finished", calm["trace_hash"])
        assert followed(server, each) == calm["last_seq"]
