"""Several processes that begin at the same moment on one PostgreSQL."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from kviz.samples import sample_texts
from tests.real_servers import new_database
from tests.running_server import command, environment


@pytest.mark.long
def test_migrations_that_start_together_do_the_work_once(postgresql: str, tmp_path: Path) -> None:
    url = new_database(postgresql)
    begun = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        env = environment(folder, KVIZ_DATABASE_URL=url)
        begun.append(subprocess.Popen(command("migrate"), env=env, stdout=subprocess.DEVNULL))

    assert [process.wait(300) for process in begun] == [0, 0, 0]
    with psycopg.connect(url) as database:
        found = database.execute("SELECT name FROM snapshots_snapshot WHERE is_sample").fetchall()
    assert sorted(name for (name,) in found) == sorted(sample.slug for sample in sample_texts())
