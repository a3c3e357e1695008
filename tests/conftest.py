"""What tests of several areas share: a database of their own, and a real server."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from pytest_django import DjangoDbBlocker

from tests import real_servers
from tests.effort import choose_effort
from tests.running_server import Server, start_server, stop_server

STARTERS = {"tests.running_server", "tests.faults.site"}
"""Modules whose functions start servers and workers."""

choose_effort()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell begins what is in its background so
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Give each parallel worker a Redis database of its own: tests empty the cache.

    Runs of tests are followed by nothing that was not asked for.

    Threads that a test leaves to their pool keep their connections, of which psycopg warns.
    """
    from django.conf import settings

    settings.LUCK_OF_RUNS = False  # but where a test is about it
    if "postgresql" in str(settings.DATABASES["default"]["ENGINE"]):
        config.addinivalue_line("filterwarnings", "ignore:<psycopg.Connection:ResourceWarning")
    cache = cast("dict[str, Any]", settings.CACHES["default"])
    if str(cache.get("LOCATION", "")).startswith("redis://"):
        number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        cache["LOCATION"] = urlsplit(settings.REDIS_URL)._replace(path=f"/{number}").geturl()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all tests with a real server, browser tests among them, to one parallel worker.

    They share the server and the browser that way, and two browsers never starve each other.

    A failed test that starts processes of its own or uses that server is tried once more, and this
    is said: what it expects of them comes late on two busy cores.
    """
    for item in items:
        names = cast("pytest.Function", item).fixturenames
        if "server" in names:
            item.add_marker(pytest.mark.xdist_group("server"))
        if "server" in names or _starts_processes(cast("pytest.Function", item).module):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _starts_processes(module: ModuleType) -> bool:
    from_there = {getattr(each, "__module__", "") for each in vars(module).values()}
    return not from_there.isdisjoint(STARTERS)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """SQLite in a file, as in production: threads and WAL behave differently in memory."""
    from django.conf import settings

    database = cast("dict[str, Any]", settings.DATABASES["default"])
    if database["ENGINE"].endswith("sqlite3"):
        folder = tmp_path_factory.mktemp("database")
        database["TEST"]["NAME"] = str(folder / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """At the end, part PostgreSQL from threads that still hold it, or it cannot be dropped."""
    from django.db import connection

    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that want a real one; its worker and websockets are real, too."""
    running = start_server(tmp_path_factory.mktemp("server"))
    yield running
    assert stop_server(running) == 0


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A PostgreSQL server besides whatever database the tests run on; the URL of one there."""
    if not real_servers.are_installed():
        pytest.skip("ADR 0039: PostgreSQL and Redis are not installed here")
    with real_servers.postgresql() as url:
        yield url
