"""While PostgreSQL is away or frozen, nobody waits for it long; when it is back, all is well."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Final

import httpx
import pytest

from tests.faults.servers import Killable, postgresql_at
from tests.running_server import Server, serving
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.long

PAGES: Final = ("/", "/runs/", "/learn/", "/api/v1/runs/", "/snapshots/")
AT_A_TIME: Final = 40
"""More than there are connections."""
AWAY_S: Final = 2.0
FROZEN_S: Final = 10.0
"""What docs/operation.md promises."""


@pytest.fixture(scope="module")
def site(new_data_dir: Callable[[], object]) -> Iterator[tuple[Server, Killable]]:
    with ExitStack() as stack:
        postgresql, url = stack.enter_context(postgresql_at())
        folder = new_data_dir()
        server = serving(folder, "--workers", "0", KVIZ_DATABASE_URL=url)  # type: ignore[arg-type]
        yield stack.enter_context(server), postgresql


async def _asked(browser: httpx.AsyncClient, page: str) -> tuple[int, float]:
    began_s = time.monotonic()
    answer = await browser.get(page)
    if answer.status_code == 503:
        assert answer.headers["Retry-After"] == "5"
        assert "Nothing was changed; try again" in answer.text
    return answer.status_code, time.monotonic() - began_s


def crowd(server: Server) -> tuple[Counter[int], float]:
    """Which answers many visitors get at once, and how long the last waited."""

    async def come() -> list[tuple[int, float]]:
        headers = {"Authorization": f"Bearer {server.token}"}
        pages = (PAGES[number % len(PAGES)] for number in range(AT_A_TIME))
        async with httpx.AsyncClient(
            base_url=server.base_url, headers=headers, timeout=PATIENCE_S, limits=httpx.Limits()
        ) as browser:
            return await asyncio.gather(*(_asked(browser, page) for page in pages))

    answers = asyncio.run(come())
    return Counter(status for status, _ in answers), max(took_s for _, took_s in answers)


def is_well(server: Server) -> bool:
    return crowd(server)[0] == Counter({200: AT_A_TIME})


def told(server: Server, away: Callable[[], None], back: Callable[[], None]) -> float:
    """How much longer than with a database a crowd waits without: both have the machine's load."""
    eventually(lambda: is_well(server))
    _, well_s = crowd(server)
    away()
    try:
        at_first, then = crowd(server), crowd(server)
    finally:
        back()
    began_s = time.monotonic()
    eventually(lambda: is_well(server))
    figures = {"well": well_s, "at first": at_first, "then": then}
    sys.stdout.write(f"{figures}, back after {time.monotonic() - began_s:.1f} s\n")
    assert at_first[0] == then[0] == Counter({503: AT_A_TIME})
    return max(at_first[1], then[1]) - well_s


def test_without_a_database_everybody_is_told_at_once(site: tuple[Server, Killable]) -> None:
    server, postgresql = site
    assert told(server, postgresql.kill, postgresql.start) < AWAY_S


def test_a_frozen_database_holds_nobody_for_long(site: tuple[Server, Killable]) -> None:
    server, postgresql = site
    stop = partial(postgresql.signal_all, signal.SIGSTOP)
    go_on = partial(postgresql.signal_all, signal.SIGCONT)
    assert told(server, stop, go_on) < FROZEN_S
