"""`kviz bench --workers` is killed, as the operating system kills: its workers leave with it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.faults.servers import children_of
from tests.running_server import command, environment
from tests.waiting import ending, eventually


@pytest.mark.long
def test_a_killed_bench_leaves_no_workers_behind(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command("bench", "--workers"), env=env) as bench:

        def copies_of_workers() -> list[int]:
            workers = children_of(bench.pid)
            return [*workers, *(copy for worker in workers for copy in children_of(worker))]

        eventually(lambda: len(copies_of_workers()) > 1)  # one carries out variants
        with ending(copies_of_workers()):
            bench.kill()
