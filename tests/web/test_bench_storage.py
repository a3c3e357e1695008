"""`kviz bench --storage`: a run executed, stored and read back in a data folder of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.running_server import SQLITE, command, environment


@pytest.mark.long
def test_the_figures_are_those_of_a_real_run(tmp_path: Path) -> None:
    sizes = ["--nodes", "20", "--pods", "150"]
    done = subprocess.run(
        command("bench", "--storage", *sizes, "--json"),
        env=environment(tmp_path, **SQLITE),
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(done.stdout)
    assert figures["cycles"] == 150
    assert 0 < figures["cpu_s_per_1000_cycles"] < 60
    assert figures["database_bytes"] > 100_000
    assert figures["header_cycles_per_s"] > 10
    assert all(value > 0 for value in figures.values())
    assert list(tmp_path.iterdir()) == []  # the workspace that is in use is left alone
