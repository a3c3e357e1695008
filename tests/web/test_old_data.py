"""What a kviz stored before sentences had ids: its runs are computed again, the rest is read."""

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
from tests.running_server import SQLITE
from tests.web.cast import Person
from tests.web.test_saved_runs import opened

OLD: Final = Path(__file__).with_name("data_of_0_1")
NOT_MODELLED: Final = [
    "Pod broken left out: spec.containers: must be a list, not the number 5",
    "1 PodGroup",
]
IN_CHINESE: Final = [NOT_MODELLED[0], "1 个 PodGroup"]
"""That a pod was left out was noted when it was uploaded, in English."""
REFUSED_IN_CHINESE: Final = "腾空节点 nowhere：没有这个对象"  # noqa: RUF001
REFUSED: Final = "Drain node nowhere: there is none"


def run_in(folder: Path, *command: str) -> str:
    environment = {**os.environ, **SQLITE, "KVIZ_DATA_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode()


@pytest.mark.slow("migrates a database, starts a process that simulates its runs")
def test_a_data_folder_is_migrated_and_read(tmp_path: Path) -> None:
    database = tmp_path / "kviz.sqlite3"
    database.write_bytes(gzip.decompress((OLD / "kviz.sqlite3.gz").read_bytes()))
    run_in(tmp_path, "kviz.cli", "migrate")
    plain, scenario, observed = json.loads(run_in(tmp_path, "tests.web.read_old_data"))
    for run in (plain, scenario):
        assert (run["kind"], run["status"]) == ("simulated", "finished")
        assert run["older"] == "computed_again"
        assert run["not_modelled"] == IN_CHINESE
        assert run["on_page"]
        assert run["warnings"][0] == "已丢弃 1 个 Pod 的环境变量", "known by its template"
    assert (plain["refused"], plain["evicted"]) == ([], 0)
    assert (scenario["refused"], scenario["evicted"]) == ([REFUSED_IN_CHINESE], 1)
    assert (observed["kind"], observed["cycles"]) == ("observed", 1)
    assert (observed["older"], observed["not_modelled"]) == ("kept", [])


@pytest.mark.django_db
def test_a_run_file_is_opened(owner: Person) -> None:
    answer = opened(owner, (OLD / "scenario.kviz").read_bytes())
    assert answer.status_code == 201, answer.content
    run = Run.objects.get(pk=answer.json()["id"])
    assert (run.status, run.not_modelled, run.older) == ("finished", NOT_MODELLED, "waiting")
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
    assert REFUSED in owner.client.get(f"/runs/{run.pk}", **spoken).content.decode()
