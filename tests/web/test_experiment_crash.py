"""An experiment whose worker is killed, as the operating system kills: nothing lost, none twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from tests.running_server import Server, start_server, stop_server
from tests.waiting import eventually
from tests.web.cast import pod
from tests.web.test_serve import call, upload, workers_of

N_NODES = 12
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {{name: n{i:02}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}}}
"""
CLUSTER = "".join(NODE.format(i=i) for i in range(N_NODES)) + "".join(
    pod(f"web-{i:03}", "1") for i in range(4 * N_NODES - 2)
)


def begun(server: Server, snapshot: str) -> str:
    asked = {"snapshot": snapshot, "kind": "survive", "asked": {"of": "nodes"}}
    return str(call(server, "/experiments/", asked)["id"])


def has_done(server: Server, experiment: str, n_done: int) -> Any:
    found = call(server, f"/experiments/{experiment}/")
    assert found["status"] in ("queued", "running", "finished"), found
    return found if found["n_done"] >= n_done or found["status"] == "finished" else None


def results(server: Server, experiment: str) -> list[Any]:
    found = call(server, f"/experiments/{experiment}/results/?limit=1000")["results"]
    assert [each["number"] for each in found] == list(range(1, len(found) + 1))
    return sorted(found, key=lambda each: int(each["variant"]))


def finished(server: Server, experiment: str) -> Any:
    return eventually(lambda: has_done(server, experiment, 1_000))


def test_a_worker_killed_twice_in_an_experiment(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    try:
        snapshot = upload(server, CLUSTER)
        calm = begun(server, snapshot)
        finished(server, calm)
        shaken = begun(server, snapshot)
        for n_done in (2, 6):
            found = eventually(lambda n_done=n_done: has_done(server, shaken, n_done))  # type: ignore[misc]
            assert found["status"] == "running"
            [worker] = eventually(lambda: workers_of(server))
            os.kill(worker, signal.SIGKILL)

        end = finished(server, shaken)

        assert end["n_done"] == end["n_variants"] == N_NODES + 1
        shaken_results, calm_results = results(server, shaken), results(server, calm)
        assert [each["variant"] for each in shaken_results] == list(range(N_NODES + 1))
        keys = ("variant", "name", "outcome")
        assert [[each[key] for key in keys] for each in shaken_results] == [
            [each[key] for key in keys] for each in calm_results
        ]
        assert end["answer"] == call(server, f"/experiments/{calm}/")["answer"]
    finally:
        assert stop_server(server) == 0
