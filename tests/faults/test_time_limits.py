"""Work that takes longer than it may: it fails and says so, and its worker goes on with the next.

By the embedded worker and by Celery's, which are to keep the same promise.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.faults.servers import redis_at
from tests.faults.site import LONG
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, begun
from tests.web.test_serve import call, run_of, upload, wait_for

pytestmark = pytest.mark.long

LIMITS = {"KVIZ_RUN_SECONDS": "1", "KVIZ_EXPERIMENT_SECONDS": "1", "KVIZ_GRACE_SECONDS": "2"}
SILENT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: 'http://127.0.0.1:PORT', filterVerb: filter, nodeCacheCapable: true, httpTimeout: 1h}
"""


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of an extender that takes calls and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@pytest.fixture(params=["embedded", "Redis"])
def server(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[Server]:
    more = dict(LIMITS, KVIZ_EXTENDER_HOSTS="127.0.0.1")
    with ExitStack() as stack:
        if request.param == "Redis":
            redis = stack.enter_context(redis_at(data_dir / "redis"))
            more["KVIZ_CELERY_BROKER_URL"] = f"redis://127.0.0.1:{redis.port}/1"
        yield stack.enter_context(serving(data_dir, **more))


def log_of(server: Server) -> str:
    return (server.data_dir / "serve.log").read_text()


def test_what_takes_longer_than_its_limit_fails_and_says_so(server: Server) -> None:
    run = wait_for(server, run_of(server, crowd(8_000)))
    assert (run["status"], run["error"]) == (
        "failed",
        "It took longer than the limit of 1 s for a run (KVIZ_RUN_SECONDS).",
    )
    stored = call(server, f"/runs/{run['id']}/cycles/?limit=1000")["cycles"]
    assert len(stored) == min(run["cycles"], 1000)  # what came before is there
    experiment = begun(server, upload(server, CLUSTER), LONG)

    def over() -> Any:
        found = call(server, f"/experiments/{experiment}/")
        return found if found["finished_at"] else None

    found = eventually(over)
    assert (found["status"], found["error"]) == (
        "failed",
        "It took longer than the limit of 1 s for an experiment (KVIZ_EXPERIMENT_SECONDS).",
    )
    assert log_of(server).count(f"run {run['id']} begins or goes on") == 1
    assert log_of(server).count(f"experiment {experiment} begins or goes on") == 1


def test_what_hangs_is_ended_with_its_process_and_is_not_tried_again(
    server: Server, silent: int
) -> None:
    snapshot, configuration = upload(server, crowd(3)), SILENT.replace("PORT", str(silent))
    body = {"snapshot": snapshot, "scheduler_config": configuration}
    hangs = str(call(server, "/runs/", body)["id"])
    run = wait_for(server, hangs)
    assert (run["status"], run["error"]) == (
        "failed",
        "It took longer than the limit of 1 s for a run (KVIZ_RUN_SECONDS).",
    )
    assert wait_for(server, run_of(server, crowd(3)))["status"] == "finished"
    assert log_of(server).count(f"run {hangs} begins or goes on") == 1
    assert call(server, f"/runs/{hangs}/")["status"] == "failed"
