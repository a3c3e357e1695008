"""Connections to the database are shared: given back with each answer, few however many come.

`KVIZ_EFFORT=long` has 1,000 page views and 1,000 newcomers of a class instead of 200.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection
from django.test import Client

from kviz.common.streaming import attachment
from kviz.runs.models import Run
from tests.real_servers import new_database
from tests.running_server import Server, serving
from tests.waiting import PATIENCE_S, eventually

N: Final = 1_000 if os.environ.get("KVIZ_EFFORT", "short") == "long" else 200
AT_A_TIME: Final = 100
BOUND: Final = 20
PAGES: Final = ("/", "/runs/", "/learn/", "/teach", "/class/")
OF_OTHERS: Final = """
    SELECT state, count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() GROUP BY state
"""
PLAIN: Final = {"name": "runs.txt", "media_type": "text/plain"}
IDLE_IN_TRANSACTION: Final = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
    AND state LIKE 'idle in transaction%' AND state_change < now() - interval '5 seconds'
"""


@dataclass
class Watched:
    """What PostgreSQL says of the connections of others."""

    most: int = 0
    left_in_transaction: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def look(self, url: str) -> None:
        with psycopg.connect(url, autocommit=True) as own:
            while not self.over.wait(0.05):
                now = sum(count for _, count in own.execute(OF_OTHERS).fetchall())
                [idle] = own.execute(IDLE_IN_TRANSACTION).fetchone() or (0,)
                self.most = max(self.most, now)
                self.left_in_transaction = max(self.left_in_transaction, idle)


@contextmanager
def watching(url: str) -> Iterator[Watched]:
    watched = Watched()
    thread = threading.Thread(target=watched.look, args=(url,))
    thread.start()
    try:
        yield watched
    finally:
        watched.over.set()
        thread.join()


@pytest.fixture
def site(postgresql: str, data_dir: Path) -> Iterator[tuple[Server, str]]:
    url = new_database(postgresql)
    of_a_crowd = {"KVIZ_GUEST_RATE": "100000/hour", "KVIZ_CLASS_SEATS_PER_ADDRESS": "2000"}
    server_mode = {"KVIZ_MODE": "server", "KVIZ_TLS": "no"}
    given = {"KVIZ_DATABASE_URL": url, **server_mode, **of_a_crowd}
    with serving(data_dir, "--workers", "0", **given) as server:
        yield server, url


def browser_at(base_url: str) -> httpx.AsyncClient:
    """A new browser, which begins a connection for each request."""
    anew = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=base_url, timeout=PATIENCE_S, limits=anew, verify=False)


async def crowd(
    n: int, come: Callable[[httpx.AsyncClient, int], Awaitable[int]], base_url: str
) -> Counter[int]:
    """Have `n` browsers come, some at a time; how many got which answer."""
    turn, statuses = asyncio.Semaphore(AT_A_TIME), Counter[int]()

    async def one(number: int) -> None:
        async with turn, browser_at(base_url) as browser:
            statuses[await come(browser, number)] += 1

    async with asyncio.TaskGroup() as all_of_them:
        for number in range(n):
            all_of_them.create_task(one(number))
    return statuses


async def _post(browser: httpx.AsyncClient, page: str, action: str, **form: str) -> httpx.Response:
    """Send the form of a page, as its visitor does."""
    shown = await browser.get(page)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', shown.text)
    assert token is not None, shown.text
    return await browser.post(action, data={"csrfmiddlewaretoken": token[1], **form})


async def _view(browser: httpx.AsyncClient, number: int) -> int:
    return (await browser.get(PAGES[number % len(PAGES)])).status_code


async def go_before_the_answer(base_url: str) -> None:
    """More visitors than there are connections ask and do not wait: none of those is lost."""
    host, port = base_url.removeprefix("http://").split(":")

    async def one(number: int) -> None:
        _, writer = await asyncio.open_connection(host, int(port))
        page = PAGES[number % len(PAGES)]
        writer.write(f"GET {page} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        await writer.drain()
        await asyncio.sleep(number % 10 / 100)
        writer.close()

    await asyncio.gather(*map(one, range(AT_A_TIME)))


async def _open_class(base_url: str) -> str:
    async with browser_at(base_url) as teacher:
        opened = await _post(teacher, "/class/open/", "/class/open/lesson/requests")
        return urlsplit(opened.headers["Location"]).path.split("/")[2]


@pytest.mark.long
def test_a_crowd_is_served_over_few_connections(site: tuple[Server, str]) -> None:
    server, url = site
    base_url = server.base_url

    async def come() -> tuple[Counter[int], Counter[int]]:
        code = await _open_class(base_url)

        async def join(browser: httpx.AsyncClient, number: int) -> int:
            door = f"/class/{code}/"
            return (await _post(browser, door, f"{door}join", name=f"N{number}")).status_code

        return await crowd(N, _view, base_url), await crowd(N, join, base_url)

    with watching(url) as watched:
        asyncio.run(go_before_the_answer(base_url))
        views, joins = asyncio.run(come())
    assert (views, joins) == (Counter({200: N}), Counter({302: N}))
    assert watched.most <= BOUND
    assert watched.left_in_transaction == 0
    with psycopg.connect(url, autocommit=True) as own:
        seats = own.execute("SELECT count(*) FROM classroom_participant").fetchone()
        assert seats == (N,)
        states: dict[str, int] = eventually(lambda: dict(own.execute(OF_OTHERS).fetchall()))
        assert set(states) <= {"idle"}


def no_connection() -> bool:
    return connection.connection is None


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_being_sent_holds_no_connection() -> None:
    assert Client().get("/runs/").status_code == 200
    assert no_connection()


@pytest.mark.django_db(transaction=True)
def test_a_download_holds_no_connection_between_two_pieces() -> None:
    answer = attachment((f"{Run.objects.count()}\n".encode() for _ in range(3)), **PLAIN)

    async def seen() -> list[tuple[bytes, bool]]:
        return [(piece, await sync_to_async(no_connection)()) async for piece in answer]

    assert async_to_sync(seen)() == [(b"0\n", True)] * 3
