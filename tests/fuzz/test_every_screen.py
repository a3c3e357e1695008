"""Whatever was uploaded: every page, document and file of its run is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, given

from kviz.runs.models import Run
from kviz.runs.portable import offline
from kviz.runs.reading.trace import chunk_headers
from kviz.snapshots.models import Snapshot
from tests.effort import examples
from tests.fuzz.dumps import as_file, dumps, scenarios
from tests.generator.draw import Json
from tests.web.cast import API, Person, execute, problem
from tests.web.test_saved_runs import body

FILE = "cluster.json"
CYCLES_READ = 4
PODS_READ = 6


@given(items=dumps(), scenario=scenarios())
@examples(3, suppress_health_check=list(HealthCheck))
def test_every_screen_of_a_run(local: Person, items: list[Json], scenario: str) -> None:
    snapshot = uploaded(local, items)
    if snapshot is None:
        return
    run = executed(local, snapshot, scenario)
    if run is not None:
        for address in addresses(run):
            response = local.client.get(address, headers=local.headers)
            if response.status_code == 409:
                assert "bug" not in problem(response, 409)["detail"], address
            else:
                assert response.status_code == 200, (address, response.content[:300])
        assert chunk_headers(run_id=run.pk, after=-1, limit=1000)
        saved_and_opened(local, run)
    Snapshot.objects.filter(pk=snapshot.pk).delete()


def uploaded(who: Person, items: list[Json]) -> Snapshot | None:
    """Upload a dump; None if it is refused, which says the file and the field."""
    response = who.upload((FILE, as_file(items)))
    if response.status_code != 201:
        for error in problem(response, 400)["errors"]:
            assert error["file"].startswith(FILE)
            assert error["path"]
            assert error["message"]
        return None
    snapshot = Snapshot.objects.get(pk=response.json()["id"])
    for address in (f"{API}/snapshots/{snapshot.pk}/", f"/snapshots/{snapshot.pk}"):
        assert who.client.get(address, headers=who.headers).status_code == 200, address
    return snapshot


def executed(who: Person, snapshot: Snapshot, scenario: str) -> Run | None:
    """Run the scheduler to its end; None if the scenario is refused, which says where."""
    wanted = {"snapshot": str(snapshot.pk), "scenario": scenario}
    response = who.post("/runs/", wanted)
    if response.status_code != 201:
        assert all(
            error["field"] == "scenario" and error["message"]
            for error in problem(response, 400)["errors"]
        )
        return None
    execute(worker="fuzz")
    run = Run.objects.get(pk=response.json()["id"])
    assert run.status == Run.Status.FINISHED, run.error
    return run


def addresses(run: Run) -> Iterator[str]:
    """Yield the addresses of a run's pages, tables and documents."""
    page, rest = f"/runs/{run.pk}", f"{API}/runs/{run.pk}"
    yield from (page, f"{page}/cycles", f"{page}/cycles.csv", f"{page}/pods.csv", "/runs/")
    yield from (f"{page}/explore", f"/runs/new?snapshot={run.snapshot_id}")
    yield from (f"{rest}/", f"{rest}/cycles/")
    numbers = {*range(1, CYCLES_READ), run.cycles} if run.cycles else set()
    for number in sorted(numbers):
        if number <= run.cycles:
            yield f"{page}/explore?c={number}&view=tables"
            yield from (f"{rest}/cycles/{number}/{more}" for more in ("", "detail/"))
    if run.cycles:
        yield from (f"{rest}/cycles/1/{more}/" for more in ("also", "state"))
    for pod in run.pod_outcomes.all()[:PODS_READ]:
        yield f"{page}/pods/{pod.pod}/why"
        yield f"{rest}/pods/{pod.pod}/why/"
        yield f"{page}/cycles?pod={pod.pod}"


def saved_and_opened(who: Person, run: Run) -> None:
    """Save the run as a file and as a page; open the file again: it is the same run."""
    assert b"".join(offline.pieces(run))
    file = body(who.get(f"/runs/{run.pk}/file/"))
    sent = {"file": SimpleUploadedFile("run.kviz", file)}
    opened: Any = who.client.post(f"{API}/runs/file/", sent, headers=who.headers)
    assert opened.status_code == 201, opened.content[:300]
    document = opened.json()
    assert document["trace_hash"] == run.trace_hash
    assert document["not_modelled"] == run.not_modelled
