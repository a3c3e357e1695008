"""`kubectl kviz`: questions about a pod of a real cluster."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kviz.cli import kubectl
from tests.clusters.api_server import TOKEN, ApiServer
from tests.clusters.cluster import kubeconfig, small_cluster, written


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        monkeypatch.setenv("KUBECONFIG", str(written(tmp_path, kubeconfig(server.url))))
        yield server


def test_why_a_pod_is_pending(server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    """The namespace is that of the context."""
    assert kubectl.main(["why", "big-0"]) == 0
    out, err = capsys.readouterr()
    assert "0/2 nodes are available: 2 Insufficient cpu." in out
    assert TOKEN not in out + err
    assert kubectl.main(["why", "pod/big-0", "-n", "shop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pod"] == "shop/big-0"


def test_kubectl_finds_it_and_its_context_and_namespace_count(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kubectl that does what the real one does with a command it does not know."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = folder / "kubectl"
    fake.write_text('#!/bin/sh\nplugin="kubectl-$1"; shift; exec "$plugin" "$@"\n')
    fake.chmod(0o755)
    scripts = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{scripts}{os.pathsep}{os.environ['PATH']}")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["kubectl", "kviz", *arguments]
        return subprocess.run(command, capture_output=True, check=False, text=True)

    of_context = call("why", "big-0", "--format", "json")
    assert json.loads(of_context.stdout)["pod"] == "shop/big-0", of_context.stderr
    elsewhere = call("why", "big-0", "-n", "default")
    assert (elsewhere.returncode, elsewhere.stdout) == (1, "")
    assert "default/big-0" in elsewhere.stderr
    assert TOKEN not in of_context.stderr + elsewhere.stderr


def test_what_would_help(server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert kubectl.main(["unblock", "big-0", "--json", "--context", "prod"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert answers[0]["changes"] == [
        "pod/shop/big-0 set spec.containers[0].resources.requests.cpu=2"
    ]


def test_what_is_wrong_is_said(server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert kubectl.main(["why", "big-0", "-n", "default"]) == 1
    assert "kubectl kviz: " in capsys.readouterr().err
    assert kubectl.main(["why", "big-0", "--context", "staging"]) == 1
    assert "There is no context 'staging'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        kubectl.main(["why", "big-0", "--nonsense"])
    assert capsys.readouterr().err.startswith("usage: kubectl kviz why ")


@pytest.mark.slow("starts a server")
def test_open_shows_a_run_where_kviz_is_served_already(server: ApiServer, data_dir: Path) -> None:
    environment = {**os.environ, "KVIZ_DATA_DIR": str(data_dir), "KVIZ_MODE": "local"}
    command = [sys.executable, "-m", "kviz.cli.kubectl", "open", "--no-browser"]
    with (data_dir / "serve.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("http://127.0.0.1:8123")
        lock.flush()
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert re.fullmatch(r"http://127\.0\.0\.1:8123/runs/[0-9a-f-]{36}/explore\n", done.stdout)
