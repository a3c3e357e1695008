"""Runs and variants executed as a worker does, for `test_fork_points`; prints JSON.

It is a program of its own, started with a fresh KVIZ_DATA_DIR: what copies of a process store is to
be seen in a database file only.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from kviz.cli.django_setup import start_django

start_django(migrate=True)

from kviz.accounts.services import local_workspace_ensure  # noqa: E402
from kviz.live.tasks import execute  # noqa: E402
from kviz.runs import services  # noqa: E402
from kviz.runs.execution.claim import run_claim  # noqa: E402
from kviz.runs.execution.expected_forks import (  # noqa: E402
    expected_fork_prepare,
    expected_forks,
)
from kviz.runs.execution.fork_points import ForkPoints, Place  # noqa: E402
from kviz.runs.models import Run  # noqa: E402
from kviz.runs.signals import run_advanced  # noqa: E402
from kviz.snapshots.services import snapshot_create  # noqa: E402
from scheduler_core.changes import read_lines  # noqa: E402
from tests.web.cast import NODES, pod  # noqa: E402
from tests.web.test_workers import index_of, trace_of  # noqa: E402

N_PODS = 230
SCENARIO = """\
steps:
- at: 40ms
  delete: {kind: Pod, namespace: shop, name: p-003}
- at: 90ms
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: late, namespace: shop}
    spec: {priority: 5, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""
CORDON, SMALL = (
    "node/north cordon",
    "pod/shop/giant set spec.containers[0].resources.requests.cpu=1m",
)
NOT_MODELLED = json.dumps(
    {
        "create": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "grouped", "namespace": "shop"},
                "spec": {
                    "containers": [{"name": "c"}],
                    "workloadRef": {"name": "w", "podGroup": "g"},
                },
            }
        ]
    }
)

folder = Path(os.environ["KVIZ_DATA_DIR"])
workspace = local_workspace_ensure()
the_worker = os.getpid()


def in_a_copy(run_id: object, seq: int, **_: object) -> None:
    """Note that a copy stores a run; be killed in it if that is asked for."""
    if os.getpid() == the_worker:
        return
    with (folder / "by-copies").open("a") as file:
        file.write(f"{run_id}\n")
    if (folder / "die").exists() and seq > int((folder / "die").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)


run_advanced.connect(in_a_copy)


def by_copies() -> set[str]:
    file = folder / "by-copies"
    return set(file.read_text().split()) if file.exists() else set()


def work(points: ForkPoints) -> None:
    while (run := run_claim(worker="w")) is not None:
        execute(run, "w", points)
        points.tidy()


def vary(parent: Run, cycle: int, *changes: str) -> Run:
    return services.run_vary(
        workspace=workspace, parent=parent, changes=read_lines("\n".join(changes)), cycle=cycle
    )


def told(run: Run) -> dict[str, Any]:
    run.refresh_from_db()
    headers, details = trace_of(run)
    cycles, pods = index_of(run)
    return {
        "status": run.status, "hash": run.trace_hash, "last_seq": run.last_seq,
        "counts": [run.cycles, run.bound, run.pending], "claimed_by": run.claimed_by,
        "events": repr(headers), "details": repr(details), "cycles": repr(cycles),
        "pods": repr(pods), "by_copy": str(run.pk) in by_copies(),
    }  # fmt: skip


def both_ways(parent: Run, points: ForkPoints, cycle: int, *changes: str) -> list[Any]:
    """The same variant, first with the points, then from its beginning."""
    from_a_point = vary(parent, cycle, *changes)
    work(points)
    from_the_beginning = vary(parent, cycle, *changes)
    work(ForkPoints("w", most=0))
    return [told(from_a_point), told(from_the_beginning), str(from_a_point.pk)]


def main() -> None:
    crowd = "".join(pod(f"p-{i:03}", "20m", priority=str(i % 3)) for i in range(N_PODS))
    text = NODES + crowd + pod("giant", "64") + pod("gated", schedulingGates="[{name: later}]")
    files: Any = [("cluster.yaml", io.BytesIO(text.encode()))]
    snapshot = snapshot_create(workspace=workspace, files=files)
    parent = services.run_create(
        workspace=workspace, snapshot=snapshot, scenario=SCENARIO, tie_break="draw", seed=7
    )
    points = ForkPoints("w", most=20, every_s=0)
    work(points)
    found: dict[str, Any] = {"parent": told(parent)}
    found["no changes"] = both_ways(parent, points, 200)
    found["early"] = both_ways(parent, points, 1, CORDON)
    found["middle"] = both_ways(parent, points, 150, CORDON, SMALL)
    variant = Run.objects.get(pk=found["middle"][2])
    found["of a variant"] = both_ways(variant, points, 220, "node/north uncordon")
    found["before the parent's fork"] = both_ways(variant, points, 100, SMALL)
    services.fork_expect(run=parent, cycle=180)
    services.fork_expect(run=variant, cycle=190)
    found["got ready"] = [
        any(expected_fork_prepare(key=key, fork_points=points) for key in expected_forks())
        for _ in range(3)
    ]
    places = [point.place for point in points._points]
    found["prepared"] = [Place.of(parent, 179) in places, Place.of(variant, 189) in places]
    found["where it was expected"] = both_ways(parent, points, 180, SMALL)
    found["of a variant, where it was expected"] = both_ways(variant, points, 190, SMALL)
    found["behind where it was expected"] = both_ways(parent, points, 183, SMALL)
    found["another first event"] = both_ways(parent, points, 150, NOT_MODELLED)
    (folder / "die").write_text(str(told(parent)["last_seq"] * 3 // 4))
    found["killed"] = both_ways(parent, points, 151, SMALL)
    found["n_points"] = len(points._points)
    found["copies"] = [point.pid for point in points._points]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
