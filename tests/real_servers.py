"""PostgreSQL and Redis for tests: their own processes, ports and folders, gone afterwards.

    python -m tests.real_servers COMMAND ...

runs a command with both, as `KVIZ_DATABASE_URL` and `KVIZ_REDIS_URL` name them.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from tests.waiting import eventually

DEBIAN = Path("/usr/lib/postgresql")
SUPERUSER = "kviz"


def program(name: str) -> str | None:
    """Where a server's program is, if it is installed: Debian keeps PostgreSQL's out of PATH."""
    found = [str(path) for path in sorted(DEBIAN.glob(f"*/bin/{name}"), reverse=True)]
    return shutil.which(name) or next(iter(found), None)


def are_installed() -> bool:
    return all(program(name) for name in ("initdb", "postgres", "redis-server"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def unprivileged() -> str | None:
    """Who PostgreSQL is run as by root, whom it refuses."""
    return "nobody" if os.getuid() == 0 else None


@contextlib.contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """A folder that PostgreSQL may use."""
    folder = Path(tempfile.mkdtemp(prefix="kviz-servers-"))
    if user := unprivileged():
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _running(command: Sequence[str], port: int, folder: Path) -> Iterator[None]:
    log = folder / "server.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command, user=unprivileged(), stdout=file, stderr=file, cwd=folder
        )
    try:
        eventually(lambda: process.poll() is not None or _answers(port))
        assert process.poll() is None, log.read_text()
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def postgresql_command(folder: Path, port: int) -> list[str]:
    """Make an empty PostgreSQL in a folder; what runs it."""
    initdb, postgres = program("initdb"), program("postgres")
    assert initdb, "PostgreSQL is not installed"
    assert postgres, "PostgreSQL is not installed"
    made = ["--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
    subprocess.run(
        [initdb, "--pgdata", str(folder / "data"), "--username", SUPERUSER, *made],
        user=unprivileged(),
        stdout=subprocess.DEVNULL,
        cwd=folder,
        check=True,
    )
    places = ["-D", str(folder / "data"), "-p", str(port), "-k", str(folder)]
    return [postgres, *places, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """A PostgreSQL server; the URL of its empty database `kviz`."""
    port = free_port()
    with (
        folder_of_its_own() as folder,
        _running(postgresql_command(folder, port), port, folder),
    ):
        server = f"postgresql://{SUPERUSER}@127.0.0.1:{port}"
        eventually(lambda: accepts(f"{server}/postgres"))
        yield new_database(f"{server}/postgres", "kviz")


def accepts(url: str) -> bool:
    """Whether a PostgreSQL takes connections."""
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:  # it says so while it starts
        return False
    return True


def new_database(url: str, name: str = "", *, like: str = "template1") -> str:
    """Make a database on the server of `url`, empty or like another one there; its URL."""
    import psycopg

    name = name or f"kviz_{uuid.uuid4().hex}"
    source = urlsplit(like).path.removeprefix("/")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
    return urlsplit(url)._replace(path=f"/{name}").geturl()


@contextlib.contextmanager
def redis() -> Iterator[str]:
    """A Redis server that stores nothing; the URL of its first database."""
    server, port = program("redis-server"), free_port()
    assert server, "Redis is not installed"
    with folder_of_its_own() as folder:
        options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with _running([server, "--port", str(port), *options], port, folder):
            yield f"redis://127.0.0.1:{port}/0"


def main(command: Sequence[str]) -> int:
    with postgresql() as database, redis() as cache:
        also = {"KVIZ_DATABASE_URL": database, "KVIZ_REDIS_URL": cache}
        return subprocess.run(command, env={**os.environ, **also}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
