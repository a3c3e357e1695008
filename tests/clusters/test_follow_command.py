"""`kviz follow`: a real cluster's decisions as they come, recorded, resumed and checked."""

from __future__ import annotations

import _thread
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kviz.cli import main
from tests.clusters.api_server import TOKEN, ApiServer, Json
from tests.clusters.cluster import kubeconfig, pod, small_cluster, written
from tests.waiting import eventually

PASSWORD = "correct-horse-battery"


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with ApiServer(small_cluster()) as server:
        yield server


def watches(server: ApiServer) -> int:
    return sum("watch" in query for query in server.asked("pods"))


def bind_soon(server: ApiServer, name: str, node: str, recording: Path) -> threading.Thread:
    """Create a pod and bind it, once pods are watched; when both are recorded, press Ctrl-C."""
    n_before = watches(server)

    def bind() -> None:
        eventually(lambda: watches(server) > n_before)
        server.change("ADDED", "pods", pod(name))
        server.change("MODIFIED", "pods", pod(name, node_name=node))
        eventually(lambda: recording.read_text().count(f'"name":"{name}"') == 2)
        _thread.interrupt_main()

    thread = threading.Thread(target=bind)
    thread.start()
    return thread


def test_decisions_come_as_they_are_made(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(written(tmp_path, kubeconfig(server.url)))
    recording = tmp_path / "prod.jsonl"
    command = ["follow", "--kubeconfig", config, "--record", str(recording)]
    for number, node in enumerate(("n2", "n1"), 1):
        binding = bind_soon(server, f"new-{number}", node, recording)
        assert main([*command, "--json"]) == 0
        binding.join()
        lines = capsys.readouterr().out.splitlines()
        found: list[Json] = [json.loads(line) for line in lines]
        assert [(each["number"], each["pod"], each["node"]) for each in found] == [
            (number, f"shop/new-{number}", node)
        ]
        # What was being written when the process was killed is no line.
        with recording.open("ab") as file:
            file.write(b'{"type": "MODI')
    text = recording.read_text()
    assert TOKEN not in text
    assert PASSWORD not in text
    recording.write_text(text.rpartition("\n")[0] + "\n")
    assert main(["follow", str(recording), "--check", "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["decisions"] == 2
    assert checked["compared"][0]["agreement"] == "same"


def test_what_is_wrong_is_said(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(written(tmp_path, kubeconfig(server.url)))
    server.forbidden = {"pods"}
    assert main(["follow", "--kubeconfig", config]) == 1
    assert "pods cannot be read" in capsys.readouterr().err
