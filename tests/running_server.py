"""A real `kviz serve` for tests: started, found, asked for its token, stopped."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests import data_folder
from tests.real_servers import new_database

READY = re.compile(r"kviz is ready: (http://\S+)")


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


SQLITE: Final = {"KVIZ_DATABASE_URL": "", "KVIZ_REDIS_URL": ""}
"""For a test about SQLite's own file, also where the tests run against other servers."""


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """What a command sees: nothing of `KVIZ_*` but the data folder, what is given, and servers.

    Where tests run against PostgreSQL, each data folder has its own database there.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVIZ_")}
    folder = {"KVIZ_DATA_DIR": str(data_dir), "PYTHONWARNINGS": "default"}
    folder["KVIZ_EXTENDER_DEADLINE_MS"] = "60000"  # however busy the machine that tests is
    folder["KVIZ_LUCK_OF_RUNS"] = "no"  # but where a test is about it
    return {**kept, **folder, **_servers(data_dir), **more}


@cache
def _servers(data_dir: Path) -> dict[str, str]:
    if not (server := os.environ.get("KVIZ_DATABASE_URL", "")):
        return {}
    copied = data_dir / data_folder.DATABASE
    database = copied.read_text() if copied.exists() else new_database(server)
    return {"KVIZ_DATABASE_URL": database, "KVIZ_REDIS_URL": os.environ["KVIZ_REDIS_URL"]}


def start_server(data_dir: Path, *arguments: str, **more: str) -> Server:
    """Start `kviz serve` on a free port and wait until it says where it is."""
    with (data_dir / "serve.log").open("w") as log:
        process = subprocess.Popen(
            command("serve", "--port", "0", *arguments),
            env=environment(data_dir, **more),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = READY.search(line)
    if found is None:
        process.kill()
        process.wait()
        raise AssertionError(f"kviz serve did not start: {(data_dir / 'serve.log').read_text()}")
    token = (data_dir / "token").read_text().strip()
    return Server(found[1], token, data_dir, process)


def stop_server(server: Server) -> int:
    server.process.terminate()
    try:
        code = server.process.wait(60)
    finally:
        server.process.kill()
        if server.process.stdout is not None:
            server.process.stdout.close()
    return code


@contextlib.contextmanager
def serving(data_dir: Path, *arguments: str, **more: str) -> Iterator[Server]:
    """A server until the block is over, which ends it as a user does."""
    server = start_server(data_dir, *arguments, **more)
    try:
        yield server
    finally:
        code = stop_server(server)
    assert code == 0
