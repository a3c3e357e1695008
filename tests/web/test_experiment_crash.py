"""An experiment whose worker is killed, as the operating system kills: nothing lost, none twice."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.running_server import Server, command, environment, serving
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import pod
from tests.web.test_serve import call, upload, workers_of

CLINIC = Path("kviz/samples/clusters/why-pending.yaml")
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


LOSSES = {"kind": "survive", "asked": {"of": "nodes"}}
LUCK = {"kind": "luck", "asked": {"runs": 20, "coins": ["arrival"]}}
MANIFEST = pod("more", "1m").removeprefix("---\n")
CAPACITY = {
    "kind": "capacity",
    "asked": {"templates": [{"manifest": MANIFEST}] * 3, "max": 100},
}


WAITING = (
    CLUSTER
    + "".join(pod(f"big-{i}", "3") for i in range(4))
    + "".join(
        pod(f"own-{i}", "1").replace(
            "namespace: shop",
            "namespace: shop, ownerReferences: [{kind: Job, name: own, controller: true}]",
        )
        for i in range(2)
    )
)
NODE_SETS = {"kind": "nodes", "asked": {"drain": 12}}


def begun(server: Server, snapshot: str, asked: Any) -> str:
    return str(call(server, "/experiments/", {"snapshot": snapshot, **asked})["id"])


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


def is_as_if_nothing_happened(server: Server, shaken: str, calm: str) -> Any:
    """Compare an experiment whose workers were killed with one that was left alone."""
    end, whole = finished(server, shaken), finished(server, calm)
    assert end["status"] == "finished", end["error"]
    assert end["n_done"] == end["n_variants"] == whole["n_variants"]
    shaken_results, calm_results = results(server, shaken), results(server, calm)
    assert [each["variant"] for each in shaken_results] == list(range(end["n_done"]))
    keys = ("variant", "name", "outcome")
    assert [[each[key] for key in keys] for each in shaken_results] == [
        [each[key] for key in keys] for each in calm_results
    ]
    assert end["answer"] == whole["answer"]
    return end


def kill_when(server: Server, experiment: str, n_done: int) -> None:
    eventually(lambda: has_done(server, experiment, n_done))
    [worker] = eventually(lambda: workers_of(server))
    os.kill(worker, signal.SIGKILL)


@pytest.fixture
def server(data_dir: Path) -> Iterator[Server]:
    with serving(data_dir) as server:
        yield server


def shaken(server: Server, cluster: str, asked: Any, kills: Sequence[int]) -> Any:
    """What becomes of an experiment whose worker is killed after so many results, and again."""
    snapshot = upload(server, cluster)
    calm = begun(server, snapshot, asked)
    finished(server, calm)
    killed = begun(server, snapshot, asked)
    for n_done in kills:
        kill_when(server, killed, n_done)
    return is_as_if_nothing_happened(server, killed, calm)


@pytest.mark.long
def test_a_worker_killed_twice_in_an_experiment(server: Server) -> None:
    end = shaken(server, CLUSTER, LOSSES, [2, 6])
    assert end["n_done"] == N_NODES + 1


@pytest.mark.long
def test_a_worker_killed_while_it_looks_for_nodes_to_add_and_to_drain(server: Server) -> None:
    end = shaken(server, WAITING, NODE_SETS, [1, 4])
    assert end["answer"]["add"]["nodes"]
    assert end["answer"]["drain"]["tried"] == N_NODES


@pytest.mark.long
def test_a_worker_killed_while_it_searches_for_what_would_help(server: Server) -> None:
    asked = {"kind": "unblock", "asked": {"pod": "clinic/train-2"}}
    snapshot = upload(server, CLINIC.read_text())
    calm = finished(server, begun(server, snapshot, asked))
    killed = begun(server, snapshot, asked)
    kill_when(server, killed, 2)
    end = finished(server, killed)
    assert (end["status"], end["answer"]) == ("finished", calm["answer"])
    # Which plans are run in vain beside the others depends on how fast those are.
    outcomes = {each["variant"]: each["outcome"] for each in results(server, calm["id"])}
    after = {each["variant"]: each["outcome"] for each in results(server, killed)}
    assert len(after) == end["n_done"] == len(results(server, killed))
    assert all(after[each] == outcomes[each] for each in after.keys() & outcomes.keys())


@pytest.mark.long
@pytest.mark.parametrize("asked", [LUCK, CAPACITY], ids=["luck", "capacity"])
def test_a_worker_killed_in_luck_and_in_capacity(server: Server, asked: Any) -> None:
    shaken(server, CLUSTER, asked, [1])


CORDONS = {
    "kind": "changes",
    "asked": {
        "variants": [
            {"name": str(i), "changes": [f"node/n{i % N_NODES:02} cordon"]} for i in range(80)
        ]
    },
}


@contextmanager
def one_more_worker(server: Server) -> Iterator[Path]:
    """A worker besides the server's own; where its log is."""
    path = server.data_dir / "one-more.log"
    env = environment(server.data_dir)
    with path.open("w") as log, subprocess.Popen(command("worker"), env=env, stderr=log) as worker:
        try:
            eventually(lambda: "is ready" in path.read_text())
            yield path
        finally:
            worker.terminate()
            assert worker.wait(PATIENCE_S) == 0


@pytest.mark.long
def test_two_workers_share_an_experiment_and_the_one_that_began_is_killed(server: Server) -> None:
    with one_more_worker(server) as log:
        end = shaken(server, CLUSTER, CORDONS, [10, 40])
    assert end["n_done"] == 81
    shared = log.read_text().count(f"experiment {end['id']} ")
    assert shared >= 1


@pytest.mark.long
def test_cancelling_reaches_all_workers(server: Server) -> None:
    with one_more_worker(server) as log:
        experiment = begun(server, upload(server, CLUSTER), CORDONS)
        eventually(lambda: f"experiment {experiment} " in log.read_text())
        eventually(lambda: has_done(server, experiment, 5))
        call(server, f"/experiments/{experiment}/cancel/", {"yes": True})
        left = f"experiment {experiment} is no longer ours"
        eventually(lambda: left in log.read_text())
        eventually(lambda: left in (server.data_dir / "serve.log").read_text())
        end = call(server, f"/experiments/{experiment}/")
        assert (end["status"], end["n_done"]) == ("cancelled", len(results(server, experiment)))
        assert 5 <= end["n_done"] < 81
