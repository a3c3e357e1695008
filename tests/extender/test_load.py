"""A scheduler calls kviz on a machine that has too much to do: all is answered and recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.running_server import serving
from tests.waiting import PATIENCE_S, eventually
from tests.web.test_serve import call

pytestmark = pytest.mark.long

ATTEMPTS: Final = 102
PER_CORE: Final = 2
NODES: Final = [f"node-{number:04}" for number in range(1_000)]


@contextmanager
def busy_machine() -> Iterator[None]:
    """Processes that compute without end."""
    n = PER_CORE * (os.cpu_count() or 1)
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


def test_every_call_is_answered_and_recorded(data_dir: Path) -> None:
    deadline = {"KVIZ_EXTENDER_DEADLINE_MS": "150"}
    with serving(data_dir, "--workers", "0", **deadline) as server, busy_machine():
        session = call(server, "/sessions/", {"name": "busy"})
        statuses = []
        with httpx.Client(timeout=PATIENCE_S) as scheduler:
            for number in range(ATTEMPTS):
                pod = {"metadata": {"name": f"p-{number}", "namespace": "n", "uid": f"u-{number}"}}
                for verb in ("filter", "prioritize"):
                    question = {"Pod": pod, "NodeNames": NODES}
                    answer = scheduler.post(f"{session['url_prefix']}/{verb}", json=question)
                    statuses.append(answer.status_code)
        assert statuses == [200] * 2 * ATTEMPTS

        def attempts() -> bool:
            found = call(server, f"/sessions/{session['id']}/")
            assert found["calls_missed"] == 0
            return bool(found["attempts"] == ATTEMPTS)

        eventually(attempts)
