"""`kviz import`: a real cluster becomes a snapshot of the local workspace, or a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.cli.real_cluster import CLEAR_LINE
from kviz.clusters.rbac import READER_ROLE
from kviz.clusters.reading import problems
from kviz.distribution import with_extra
from tests.clusters.api_server import TOKEN, ApiServer
from tests.clusters.cluster import kubeconfig, node, pod, small_cluster, written


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        yield server


def test_the_role_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--rbac"]) == 0
    assert capsys.readouterr().out == READER_ROLE


def test_a_cluster_becomes_a_file(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"services"}
    config = written(tmp_path, kubeconfig(server.url))
    output = tmp_path / "cluster.json"
    assert main(["import", "--kubeconfig", str(config), "--output", str(output)]) == 0
    out, err = capsys.readouterr()
    assert out == f"prod: 1 Namespace, 2 Node, 2 Pod written to {output}\n"
    assert "services: prod does not let kviz list them" in err
    assert TOKEN not in out + err + output.read_text()
    assert main(["explain", str(output), "--pod", "shop/big-0", "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert "Insufficient cpu" in out
    assert "the API server says v1." in out


def test_without_the_client_the_extra_is_named(
    server: ApiServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problems, "find_spec", lambda name: None)
    config = written(tmp_path, kubeconfig(server.url))
    assert main(["import", "--kubeconfig", str(config), "--output", str(tmp_path / "c")]) == 1
    assert f"{with_extra('cluster')}." in capsys.readouterr().err


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_says_what_is_being_read_and_takes_it_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kviz.clusters.importing.PAGE_OBJECTS", 5)
    many = {"nodes": [node("n1")], "pods": [pod(f"p-{i:02}", node_name="n1") for i in range(11)]}
    with ApiServer(many) as server:
        config = str(written(tmp_path, kubeconfig(server.url)))
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        output = tmp_path / "cluster.json"
        assert main(["import", "--kubeconfig", config, "--output", str(output)]) == 0
    lines = terminal.getvalue().split(CLEAR_LINE)
    assert [line for line in lines if line.startswith("reading pods")] == [
        "reading pods, 6 left",
        "reading pods, 1 left",
        "reading pods",
    ]
    assert not lines[-1].startswith("reading")


def test_what_is_wrong_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(written(tmp_path, kubeconfig("https://127.0.0.1:9")))
    arguments = ["import", "--kubeconfig", config, "--output", str(tmp_path / "out")]
    assert main([*arguments, "--context", "staging"]) == 1
    assert "There is no context 'staging'; there are: prod." in capsys.readouterr().err
    assert main(arguments) == 1
    assert "Nothing listens at https://127.0.0.1:9." in capsys.readouterr().err


@pytest.mark.slow("starts commands")
def test_a_cluster_becomes_a_snapshot(server: ApiServer, tmp_path: Path, data_dir: Path) -> None:
    """In a process of its own, with a data folder of its own."""
    config = written(tmp_path, kubeconfig(server.url))
    environment = {
        **os.environ,
        "KVIZ_DATA_DIR": str(data_dir),
        "KUBECONFIG": str(config),
        "KVIZ_MODE": "local",
    }
    command = [sys.executable, "-m", "kviz.cli", "import", "--context", "prod", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    document = json.loads(done.stdout)
    assert document["name"] == "prod"
    assert document["counts"] == {"Namespace": 1, "Node": 2, "Pod": 2}
    assert document["refused"] == []
    assert TOKEN.encode() not in (data_dir / "kviz.sqlite3").read_bytes()
    assert TOKEN not in done.stdout + done.stderr
