"""What Prometheus reads of a worker, embedded or of Celery: its own work, by any process of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.servers import children_of, redis_at
from tests.real_servers import free_port
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, LOSSES, begun, finished
from tests.web.test_observed import read_at, samples
from tests.web.test_serve import call, has_begun, run_of, upload, wait_for, workers_of

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Site:
    server: Server
    address: str

    def value(self, name: str, **labels: str) -> float:
        status, text = read_at(self.address)
        assert status == 200
        return samples(text)[f"kviz_worker_{name}", tuple(sorted(labels.items()))]


@pytest.fixture(params=["embedded", "Redis"])
def site(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[Site]:
    port = free_port()
    more = {"KVIZ_WORKER_METRICS_PORT": str(port)}
    with ExitStack() as stack:
        if request.param == "Redis":
            redis = stack.enter_context(redis_at(data_dir / "redis"))
            more["KVIZ_CELERY_BROKER_URL"] = f"redis://127.0.0.1:{redis.port}/1"
        server = stack.enter_context(serving(data_dir, **more))
        yield Site(server, f"http://127.0.0.1:{port}/metrics")


def test_what_a_worker_did(site: Site) -> None:
    run = wait_for(site.server, run_of(site.server, crowd(400)))
    experiment = finished(site.server, begun(site.server, upload(site.server, CLUSTER), LOSSES))

    def tasks() -> list[float]:
        kinds = ("run", "experiment")
        return [site.value("tasks_total", kind=kind, state="finished") for kind in kinds]

    eventually(lambda: tasks() == [1, 1])
    assert site.value("cycles_total") == run["cycles"]
    assert site.value("variants_total") == experiment["n_done"]
    assert site.value("wait_seconds_count", kind="run") == 1
    assert site.value("wait_seconds_bucket", kind="run", le="+Inf") == 1
    assert 0 < site.value("wait_seconds_sum", kind="run") < 120
    assert site.value("task_seconds_total", kind="run") > 0
    assert site.value("busy", kind="run") == 0


def test_what_a_copy_did_is_counted_and_a_killed_worker_leaves_the_port(site: Site) -> None:
    parent = wait_for(site.server, run_of(site.server, crowd(1_000)))
    body = {"parent": parent["id"], "cycle": 950, "changes": ["node/south cordon"]}
    variant = wait_for(site.server, call(site.server, "/runs/", body)["id"])
    eventually(lambda: site.value("tasks_total", kind="run", state="finished") == 2)
    assert parent["cycles"] < site.value("cycles_total") <= parent["cycles"] + variant["cycles"]
    busy = run_of(site.server, crowd(1_000))
    eventually(lambda: has_begun(site.server, busy))
    assert site.value("busy", kind="run") == 1
    [worker] = workers_of(site.server)
    for pid in (*children_of(worker), worker):
        os.kill(pid, signal.SIGKILL)
    assert wait_for(site.server, busy)["status"] == "finished"
    eventually(lambda: site.value("tasks_total", kind="run", state="finished") == 1)


def test_another_name_reads_nothing_of_a_worker(site: Site) -> None:
    eventually(lambda: "is ready" in (site.server.data_dir / "serve.log").read_text())
    assert read_at(site.address)[0] == 200
    assert read_at(site.address, Host="rebound.example")[0] == 404
    assert read_at(site.address + "/more")[0] == 404


def test_on_a_server_a_worker_wants_the_token(data_dir: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}/metrics"
    more = {"KVIZ_WORKER_METRICS_PORT": str(port), "KVIZ_METRICS_TOKEN": "s3cret"}
    with serving(data_dir, KVIZ_MODE="server", **more):
        eventually(lambda: "is ready" in (data_dir / "serve.log").read_text())
        assert read_at(address)[0] == 401
        assert read_at(address, Authorization="Bearer wrong")[0] == 401
        assert read_at(address, Authorization="Bearer s3cret", Host="10.0.0.7:9")[0] == 200
