"""Variants that begin in the middle of a run, in copies of the worker that rested there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kviz.runs.execution import fork_points
from kviz.runs.models import Run
from tests.running_server import environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ADR 0035: Linux only")

NO_INPUTS = {
    "id", "workspace", "name", "changes", "n_inherited", "parent", "forked_at", "engine_version",
    "not_modelled", "status", "cycles", "bound", "pending", "last_seq", "trace_hash", "stop_reason",
    "error", "claimed_by", "claims", "heartbeat_at", "created_at", "started_at", "finished_at",
    "luck", "veiled_after", "veiled_part", "outcomes_told",
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.web.forking"],
        env=environment(tmp_path_factory.mktemp("forking")),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "by_copy"),
    [
        ("no changes", True),
        ("early", False),
        ("middle", True),
        ("of a variant", True),
        ("before the parent's fork", True),
        ("where it was expected", True),
        ("of a variant, where it was expected", True),
        ("behind where it was expected", True),
        ("another first event", False),
        ("killed", True),
    ],
)
def test_a_variant_is_the_same_from_a_point_as_from_its_beginning(
    found: dict[str, Any], what: str, by_copy: bool
) -> None:
    from_a_point, from_the_beginning, _ = found[what]
    assert from_a_point.pop("by_copy") == by_copy
    assert not from_the_beginning.pop("by_copy")
    assert from_a_point["status"] == "finished"
    assert from_a_point == from_the_beginning


@pytest.mark.long
def test_a_variant_without_changes_equals_its_parent(found: dict[str, Any]) -> None:
    assert found["no changes"][0]["hash"] == found["parent"]["hash"]
    assert found["middle"][0]["hash"] != found["parent"]["hash"]


@pytest.mark.long
def test_a_point_is_made_right_before_an_expected_fork(found: dict[str, Any]) -> None:
    assert found["got ready"] == [True, True, False]
    assert found["prepared"] == [True, True]


@pytest.mark.long
def test_points_are_bounded_and_leave_with_their_worker(found: dict[str, Any]) -> None:
    assert 0 < found["n_points"] <= 20
    deadline_s = time.monotonic() + 60
    while any(_is_running(pid) for pid in found["copies"]):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        return "tests.web.forking" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def test_all_that_decides_a_run_decides_whether_a_point_is_on_its_way() -> None:
    """A new field of a run is one of its inputs, or is known not to be."""
    names = {field.name for field in Run._meta.concrete_fields}
    inputs = {name.removesuffix("_id") for name in fork_points._INPUTS}
    assert names - NO_INPUTS == inputs
    run, other = Run(seed=1), Run(seed=2)
    assert fork_points.Place.of(run, 3) != fork_points.Place.of(other, 3)
    run.changes = [{"cycle": 4, "change": {"cordon": "n"}, "sentence": ""}]
    assert fork_points.Place.of(run, 3) == fork_points.Place.of(Run(seed=1), 3)
    assert fork_points.Place.of(run, 4) != fork_points.Place.of(Run(seed=1), 4)
