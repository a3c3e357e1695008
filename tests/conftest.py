"""What tests of several areas share: a database, data folders, and a real server.

Each parallel worker has its own; what is copied for them is made once.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from pytest_django import DjangoDbBlocker

from scheduler_core.api.gc_freeze import freeze
from tests import data_folder, real_servers
from tests.effort import choose_effort
from tests.running_server import Server, serving

pytest_plugins = ["tests.price"]

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
    settings.WHITENOISE_AUTOREFRESH = True  # not to look through all files for each browser
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # not to be slow
    if "postgresql" in str(settings.DATABASES["default"]["ENGINE"]):
        config.addinivalue_line("filterwarnings", "ignore:<psycopg.Connection:ResourceWarning")
    cache = cast("dict[str, Any]", settings.CACHES["default"])
    if str(cache.get("LOCATION", "")).startswith("redis://"):
        number = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        cache["LOCATION"] = urlsplit(settings.REDIS_URL)._replace(path=f"/{number}").geturl()


def pytest_collection_finish() -> None:
    """Let the garbage collector leave out what is here for good: thousands of tests."""
    gc.collect()
    freeze()


def pytest_runtest_setup() -> None:
    """Speak English: a request that a test made leaves its language to the thread."""
    from django.utils import translation

    translation.deactivate()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder that is copied, and shared by the parallel workers."""
    own = tmp_path_factory.getbasetemp()
    return data_folder.template(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture(scope="session")
def new_data_dir(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Makes data folders, each a copy of the template."""
    return lambda: data_folder.copy(template, tmp_path_factory.mktemp("data"))


@pytest.fixture
def data_dir(new_data_dir: Callable[[], Path]) -> Path:
    """A data folder of this test's own, ready to serve."""
    return new_data_dir()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    template: Path,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """SQLite in a file, as in production: threads and WAL behave differently in memory."""
    from django.conf import settings

    database = cast("dict[str, Any]", settings.DATABASES["default"])
    if database["ENGINE"].endswith("sqlite3"):
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database["TEST"]["NAME"] = shutil.copy(template / data_folder.MIGRATED, file)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool) -> bool:
    """Work on the copy of a migrated SQLite file as it is."""
    from django.db import connection

    return django_db_keepdb or connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """At the end, part PostgreSQL from threads that still hold it, or it cannot be dropped.

    A test that commits empties the database afterwards. Permissions and kinds of content, which
    Django would fill in again each time, are not what kviz asks for.
    """
    from django.contrib.auth.management import create_permissions
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db import connection
    from django.db.models.signals import post_migrate

    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(
        create_permissions, dispatch_uid="django.contrib.auth.management.create_permissions"
    )
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session")
def server(new_data_dir: Callable[[], Path]) -> Iterator[Server]:
    """One server for all tests that want a real one; its worker and websockets are real, too."""
    with serving(new_data_dir()) as running:
        yield running


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A PostgreSQL server besides whatever database the tests run on; the URL of one there."""
    if not real_servers.are_installed():
        pytest.skip("ADR 0039: PostgreSQL and Redis are not installed here")
    with real_servers.postgresql() as url:
        yield url
