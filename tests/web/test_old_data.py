"""What a kviz stored before sentences had ids is still read: rows, traces, run files."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from kviz.runs.models import Run
from tests.web.cast import Person
from tests.web.test_saved_runs import opened

OLD: Final = Path(__file__).with_name("data_of_0_1")
NOT_MODELLED: Final = [
    "Pod broken left out: spec.containers: must be a list, not the number 5",
    "1 PodGroup",
]
REFUSED: Final = "Drain node nowhere: there is none"


def run_in(folder: Path, *command: str) -> str:
    environment = {**os.environ, "KVIZ_DATA_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode()


def test_a_data_folder_is_migrated_and_read(tmp_path: Path) -> None:
    database = tmp_path / "kviz.sqlite3"
    database.write_bytes(gzip.decompress((OLD / "kviz.sqlite3.gz").read_bytes()))
    run_in(tmp_path, "kviz.cli", "migrate")
    plain, scenario, observed = json.loads(run_in(tmp_path, "tests.web.read_old_data"))
    for run in (plain, scenario):
        assert (run["kind"], run["status"]) == ("simulated", "finished")
        assert run["not_modelled"] == NOT_MODELLED
        assert run["on_page"]
        assert run["warnings"][0] == "已丢弃 1 个 Pod 的环境变量", "known by its template"
    assert (plain["refused"], plain["evicted"]) == ([], 0)
    assert (scenario["refused"], scenario["evicted"]) == ([REFUSED], 1)
    assert (observed["kind"], observed["cycles"]) == ("observed", 1)


@pytest.mark.django_db
def test_a_run_file_is_opened(owner: Person) -> None:
    answer = opened(owner, (OLD / "scenario.kviz").read_bytes())
    assert answer.status_code == 201, answer.content
    run = Run.objects.get(pk=answer.json()["id"])
    assert (run.status, run.not_modelled) == ("finished", NOT_MODELLED)
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    assert REFUSED in owner.client.get(f"/runs/{run.pk}", **spoken).content.decode()
