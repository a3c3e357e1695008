"""What probes are told, and that they are told it whatever else goes on."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.executor import MigrationExecutor

from kviz.project import health
from kviz.project.health import HealthChecks
from tests.running_server import SQLITE, Server, command, environment, serving
from tests.waiting import eventually
from tests.web.test_serve import workers_of


async def _nowhere(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("a probe went on to the application")


async def ask(path: str, checks: HealthChecks) -> tuple[int, Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("a probe has no body")

    await checks({"type": "http", "path": path, "headers": []}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def get(server: Server, path: str, **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(server.base_url + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def test_a_server_is_ready_whatever_host_it_is_asked_as(server: Server) -> None:
    fine = {"status": "ok", "database": "ok", "channel_layer": "ok", "workers": "ok"}

    assert get(server, "/healthz", Host="10.1.2.3:8000") == (200, {"status": "ok"})
    eventually(lambda: get(server, "/readyz", Host="10.1.2.3:8000") == (200, fine))


@pytest.mark.django_db(transaction=True)
async def test_that_no_worker_is_alive_is_told_and_takes_nobody_out_of_service() -> None:
    status, said = await ask("/readyz", HealthChecks(_nowhere))

    assert (status, said["status"], said["workers"]) == (200, "degraded", "not ready")


@pytest.mark.django_db(transaction=True)
async def test_a_database_that_lacks_a_migration_is_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: [("runs", "9999_later")])

    status, said = await ask("/readyz", HealthChecks(_nowhere))

    assert (status, said["database"], said["channel_layer"]) == (503, "not ready", "ok")


async def test_a_database_that_is_gone_is_not_ready_and_the_process_is_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone() -> None:
        raise OSError("secret-host refused the password")

    checks = HealthChecks(_nowhere)
    monkeypatch.setattr(checks, "_ask_database", gone)

    status, said = await ask("/readyz", checks)

    assert (status, said["database"]) == (503, "not ready")
    assert "secret-host" not in json.dumps(said)
    assert await ask("/healthz", checks) == (200, {"status": "ok"})


async def test_a_channel_layer_that_does_not_answer_is_told_and_takes_nobody_out_of_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Deaf:
        async def new_channel(self) -> str:
            raise ConnectionError

    checks = HealthChecks(_nowhere)
    monkeypatch.setattr(health, "get_channel_layer", Deaf)
    monkeypatch.setattr(checks, "_ask_database", lambda: None)

    status, said = await ask("/readyz", checks)

    assert (status, said["status"]) == (200, "degraded")
    assert (said["database"], said["channel_layer"]) == ("ok", "not ready")


def test_a_server_without_a_worker_leaves_runs_to_others(data_dir: Path) -> None:
    with serving(data_dir, "--workers", "0") as server:
        assert workers_of(server) == []
        assert get(server, "/readyz")[0] == 200


@pytest.mark.slow("migrates a database, starts a server")
def test_migrate_makes_a_database_ready_before_anything_serves(tmp_path: Path) -> None:
    made = subprocess.run(
        command("migrate"),
        env=environment(tmp_path, **SQLITE),
        capture_output=True,
        text=True,
        check=True,
    )

    assert "Applying runs.0001_initial" in made.stdout
    assert os.path.getsize(tmp_path / "kviz.sqlite3") > 0
