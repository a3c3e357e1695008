"""A run file that was altered is refused with a reason, or opened and shown: never a failure."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import get_resolver
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kviz.runs.execution.engine import simulate_run
from kviz.runs.models import Run
from kviz.samples import FOLDER
from tests.effort import examples
from tests.fuzz.altered_runs import altered, altered_events, file_of, plain
from tests.web.cast import API, CLUSTER, Person, problem
from tests.web.test_every_address import routes
from tests.web.test_saved_runs import SCENARIO, body, records, saved

CLINIC = (FOLDER / "why-pending.yaml").read_text()
CYCLES_READ = 3
PODS_READ = 4


class Saved:
    """A run as its file has it."""

    def __init__(self, run: Run) -> None:
        self.inputs = plain(records(saved(run))[0])
        self.events = [plain(event) for event in simulate_run(run)]


@pytest.fixture
def saved_runs(local: Person) -> list[Saved]:
    runs = local.finished(CLINIC), local.finished(CLUSTER, scenario=SCENARIO)
    return [Saved(run) for run in runs]


@given(seed=st.integers(0, 2**32))
@examples(2, suppress_health_check=list(HealthCheck))
def test_what_was_altered_is_refused_or_shown(
    local: Person, saved_runs: list[Saved], seed: int
) -> None:
    draw = random.Random(seed)
    base = draw.choice(saved_runs)
    inputs, events = base.inputs, base.events
    if draw.random() < 0.15:
        inputs = [inputs[0], *altered(inputs[1:], draw)]
    else:
        events = altered_events(events, draw)
    opened_and_read(local, file_of(inputs, events))


def opened_and_read(who: Person, file: bytes) -> None:
    """Open a file and ask for all there is of its run, unless the file is refused."""
    sent = {"file": SimpleUploadedFile("run.kviz", file)}
    opened: Any = who.client.post(f"{API}/runs/file/", sent, headers=who.headers)
    if opened.status_code != 201:
        assert problem(opened, 400)["detail"]
        return
    run = Run.objects.get(pk=opened.json()["id"])
    for address in addresses(run):
        answer = who.client.get(address, headers=who.headers)
        assert answer.status_code < 500, (address, answer.content[:300])
        if answer.streaming and answer.status_code == 200:
            body(answer)
    snapshot = run.snapshot
    run.delete()
    if snapshot is not None and not Run.objects.filter(snapshot=snapshot).exists():
        snapshot.delete()


def addresses(run: Run) -> Iterator[str]:
    """Every address that names a run, and those that show it among others."""
    cycles = [
        *range(1, min(run.cycles, CYCLES_READ) + 1),
        *[run.cycles][: run.cycles > CYCLES_READ],
    ]
    pods = [pod.pod.split("/", 1) for pod in run.pod_outcomes.all()[:PODS_READ]]
    for route in routes(get_resolver().url_patterns):
        if "<uuid:run_id>" not in route:
            continue
        address = "/" + route.replace("<uuid:run_id>", str(run.pk)).replace(
            "<uuid:other_id>", str(run.pk)
        )
        for cycle in cycles if "<int:cycle>" in route else [0]:
            of_cycle = address.replace("<int:cycle>", str(cycle))
            if "<str:node>" in route:
                yield of_cycle.replace("<str:node>", "worker-1")
            elif "<str:namespace>" in route:
                for namespace, name in pods:
                    yield of_cycle.replace("<str:namespace>", namespace).replace("<str:name>", name)
            else:
                yield of_cycle
    yield from (f"/runs/compare?a={run.pk}&b={run.pk}", "/runs/", "/", f"{API}/runs/", "/runs/?q=a")
    yield from (f"/runs/new?run={run.pk}", f"/experiments/new?run={run.pk}")
    if run.snapshot_id:
        yield from (f"/snapshots/{run.snapshot_id}", f"{API}/snapshots/{run.snapshot_id}/")
