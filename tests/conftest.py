"""What tests of several areas share: a database of their own, and a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

READY = re.compile(r"kviz is ready: (http://\S+)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright leaves an event loop running in this thread."""
    items.sort(key=lambda item: "e2e" in item.path.parts)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    tmp_path_factory: pytest.TempPathFactory, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """SQLite in a file, as in production: threads and WAL behave differently in memory."""
    from django.conf import settings

    folder = tmp_path_factory.mktemp("database")
    settings.DATABASES["default"]["TEST"]["NAME"] = str(folder / "test.sqlite3")


@dataclass(frozen=True)
class Server:
    """A running `kviz serve` with its own data folder."""

    base_url: str
    token: str
    data_dir: Path
    process: subprocess.Popen[str]

    @property
    def ws_url(self) -> str:
        return self.base_url.replace("http", "ws", 1)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kviz.cli", *arguments]


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVIZ_")}
    return {**kept, "KVIZ_DATA_DIR": str(data_dir), "PYTHONWARNINGS": "default", **more}


def start_server(data_dir: Path, **more: str) -> Server:
    """Start `kviz serve` on a free port and wait until it says where it is."""
    log = (data_dir / "serve.log").open("w")
    env = environment(data_dir, **more)
    process = subprocess.Popen(
        command("serve", "--port", "0"), env=env, stdout=subprocess.PIPE, stderr=log, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = READY.search(line)
    if found is None:
        process.kill()
        process.wait()
        raise AssertionError(f"kviz serve did not start: {(data_dir / 'serve.log').read_text()}")
    token = subprocess.check_output(command("token"), env=env, text=True).strip()
    return Server(found[1], token, data_dir, process)


def stop_server(server: Server) -> int:
    server.process.terminate()
    try:
        code = server.process.wait(15)
    finally:
        server.process.kill()
        if server.process.stdout is not None:
            server.process.stdout.close()
    return code


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that want a real one; its worker and websockets are real, too."""
    running = start_server(tmp_path_factory.mktemp("server"))
    yield running
    assert stop_server(running) == 0
