"""A misbehaving HTTP server in a process of its own, with and without TLS."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extender.recordings import DATA
from tests.waiting import PATIENCE_S


def start(*arguments: str) -> tuple[subprocess.Popen[str], int]:
    script = Path(__file__).parent / "misbehaving_server.py"
    process = subprocess.Popen(
        [sys.executable, str(script), *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(PATIENCE_S)
    assert process.stdout is not None
    process.stdout.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    process, port = start()
    yield port
    stop(process)


@pytest.fixture(scope="module")
def tls_port() -> Iterator[int]:
    process, port = start(str(DATA / "server.pem"), str(DATA / "server-key.pem"))
    yield port
    stop(process)
