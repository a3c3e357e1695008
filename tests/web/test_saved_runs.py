"""A run leaves as a file and comes back as it was; files that are none, or were changed, do not."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from kviz.cli import main
from kviz.run_file import (
    MAGIC,
    MEDIA_TYPE,
    AnyRecord,
    Inputs,
    Outcome,
    Part,
    encoded,
    read_records,
)
from kviz.runs import services
from kviz.runs.models import Cycle, PodOutcome, Run
from kviz.runs.portable.saved import pieces
from kviz.runs.reading import trace
from kviz.runs.reading.findings import findings
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.api.packing import pack
from scheduler_core.api.types import Node
from scheduler_core.trace.codec import TraceWriter, read_headers
from scheduler_core.trace.events import ClockAdvanced, CycleFinished
from tests.web.cast import API, CLUSTER, Person, crowd, execute, problem
from tests.web.test_runs import CONFIG

SCENARIO = "steps: [{at: 1m, delete: {kind: Pod, namespace: shop, name: web-0}}]"


def body(response: Any) -> bytes:
    """The whole of a streamed answer."""

    async def collected() -> list[bytes]:
        return [piece async for piece in response.streaming_content]

    assert response.status_code == 200
    return b"".join(async_to_sync(collected)())


def saved(run: Run) -> bytes:
    return b"".join(pieces(run))


def opened(who: Person, file: bytes) -> Any:
    return who.client.post(
        f"{API}/runs/file/",
        {"file": SimpleUploadedFile("some.kviz", file)},
        headers=who.headers,
    )


def records(file: bytes) -> list[AnyRecord]:
    return list(read_records(io.BytesIO(file)))


def joined(*parts: AnyRecord) -> bytes:
    return MAGIC + b"".join(encoded(part).removeprefix(MAGIC) for part in parts)


def rows(model: type[Cycle] | type[PodOutcome], run: Run) -> list[dict[str, object]]:
    order = "number" if model is Cycle else "pod"
    found = model.objects.filter(run=run).order_by(order).values()
    return [{k: v for k, v in row.items() if k not in ("id", "run_id")} for row in found]


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (crowd(130), {}),
        (None, {"scheduler_config": CONFIG, "scenario": SCENARIO, "seed": 7}),
    ],
    ids=["several chunks", "all inputs"],
)
def test_a_run_comes_back_as_it_was(
    ada: Person, ben: Person, text: str | None, inputs: dict[str, Any]
) -> None:
    run = ada.finished(**({"text": text} if text else {}), **inputs)

    response = opened(ben, saved(run))

    assert response.status_code == 201, response.json()
    again = Run.objects.get(pk=response.json()["id"])
    assert again.workspace == ben.workspace
    assert again.trace_hash == run.trace_hash != ""
    kept = ("status", "cycles", "bound", "pending", "last_seq", "engine_version", "not_modelled",
            "scheduler_config", "scenario", "seed", "stop_reason", "error")  # fmt: skip
    assert [getattr(again, name) for name in kept] == [getattr(run, name) for name in kept]
    assert list(trace.chunks(run=again)) == list(trace.chunks(run=run))
    assert rows(Cycle, again) == rows(Cycle, run)
    assert rows(PodOutcome, again) == rows(PodOutcome, run)
    mine, theirs = findings(run=run), findings(run=again)
    assert mine.causes == theirs.causes
    assert (mine.n_ties, mine.n_scheduled) == (theirs.n_ties, theirs.n_scheduled)
    for number in (1, run.cycles):
        cycle = f"cycles/{number}/"
        theirs_now = ben.get(f"/runs/{again.pk}/{cycle}").json()
        assert theirs_now == ada.get(f"/runs/{run.pk}/{cycle}").json()
    assert again.snapshot is not None
    assert run.snapshot is not None
    assert snapshot_objects(snapshot=again.snapshot) == snapshot_objects(snapshot=run.snapshot)
    assert again.snapshot.counts == run.snapshot.counts
    assert saved(again) == saved(run)


def test_what_simulate_writes_is_opened_as_a_run(
    ada: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / "scenario").write_text(SCENARIO)
    out = tmp_path / "out.kviz"
    main(
        ["simulate", str(tmp_path / "cluster.yaml"), "--config", str(tmp_path / "config"),
         "--scenario", str(tmp_path / "scenario"), "--format", "json", "--trace", str(out)]
    )  # fmt: skip
    trace_hash = json.loads(capsys.readouterr().out)["traceHash"]

    response = opened(ada, out.read_bytes())

    assert response.status_code == 201, response.json()
    run = Run.objects.get(pk=response.json()["id"])
    assert run.trace_hash == trace_hash
    assert run.snapshot is not None
    assert (run.snapshot.name, run.scenario, run.scheduler_config) == ("cluster", SCENARIO, CONFIG)
    same = ada.finished(scheduler_config=CONFIG, scenario=SCENARIO)
    assert same.trace_hash == trace_hash
    assert same.snapshot is not None
    assert same.snapshot.sha256 == run.snapshot.sha256
    assert rows(Cycle, run) == rows(Cycle, same)


def test_it_can_be_simulated_again_to_the_same_hash(ada: Person, ben: Person) -> None:
    run = ada.finished()
    again = Run.objects.get(pk=opened(ben, saved(run)).json()["id"])
    assert again.snapshot is not None
    services.run_create(workspace=ben.workspace, snapshot=again.snapshot)
    assert execute(worker="test").trace_hash == run.trace_hash


FAR = """\
---
apiVersion: v1
kind: Node
metadata: {name: far, creationTimestamp: "9999-01-01T00:00:00Z"}
"""


def test_what_could_not_be_read_of_the_cluster_goes_along(ada: Person, ben: Person) -> None:
    run = ada.finished(CLUSTER + FAR)
    there = Run.objects.get(pk=opened(ben, saved(run)).json()["id"])
    assert there.snapshot is not None
    services.run_create(workspace=ben.workspace, snapshot=there.snapshot)
    again = execute(worker="test")
    assert again.trace_hash == run.trace_hash
    again.refresh_from_db()
    assert [text.partition(":")[0] for text in again.not_modelled] == ["Node far left out"]


def test_the_same_cluster_is_not_kept_twice(ada: Person, ben: Person) -> None:
    file = saved(ada.finished())
    ids = {opened(who, file).json()["snapshot"] for who in (ada, ben, ben)}
    assert len(ids) == Snapshot.objects.count() == 2
    assert Run.objects.count() == 4


def test_a_pod_that_was_bound_to_a_node_that_is_not_there_comes_back(ada: Person) -> None:
    put = (
        "steps: [{at: 1s, put: {apiVersion: v1, kind: Pod, metadata: {name: giant, "
        "namespace: shop}, spec: {nodeName: nowhere, containers: [{name: c}]}}}]"
    )
    run = ada.finished(scenario=put)

    answer = opened(ada, saved(run))

    assert answer.status_code == 201, answer.content
    assert answer.json()["trace_hash"] == run.trace_hash


def test_a_run_that_was_stopped_comes_back_as_far_as_it_got(ada: Person, ben: Person) -> None:
    run = ada.finished(crowd(130))
    Run.objects.filter(pk=run.pk).update(status=Run.Status.CANCELLED, trace_hash="")
    run.refresh_from_db()
    again = Run.objects.get(pk=opened(ben, saved(run)).json()["id"])
    assert (again.status, again.cycles, again.trace_hash) == ("cancelled", 130, "")


def test_a_run_that_failed_before_it_began_comes_back(ada: Person, ben: Person) -> None:
    run = ada.queued()
    services.run_cancel(run=run)
    run.refresh_from_db()
    assert opened(ben, saved(run)).json()["status"] == "cancelled"


# ---------------------------------------------------------------- over HTTP


def test_it_is_downloaded_as_a_file_and_sent_as_a_body(ada: Person) -> None:
    run = ada.finished()
    response = ada.get(f"/runs/{run.pk}/file/")
    assert response["Content-Type"] == MEDIA_TYPE
    assert (
        response["Content-Disposition"] == f'attachment; filename="cluster-{str(run.pk)[:8]}.kviz"'
    )
    sent = ada.client.post(
        f"{API}/runs/file/", body(response), content_type=MEDIA_TYPE, headers=ada.headers
    )
    assert sent.status_code == 201, sent.json()
    assert sent.json()["trace_hash"] == run.trace_hash


def test_a_run_that_goes_on_is_not_saved(ada: Person) -> None:
    told = problem(ada.get(f"/runs/{ada.queued().pk}/file/"), 409)
    assert "not over yet" in told["detail"]


def test_a_browser_opens_a_file_on_the_page_of_runs(ada: Person) -> None:
    browser = Client()
    file = SimpleUploadedFile("some.kviz", saved(ada.finished()))
    response = browser.post(reverse("run-open"), {"file": file}, follow=True)
    assert response.status_code == 200
    assert b"The run was opened from the file" in response.content
    run = Run.objects.get(pk=response.resolver_match.kwargs["run_id"])
    assert run.workspace != ada.workspace

    refused = browser.post(reverse("run-open"), {"file": SimpleUploadedFile("x", b"kind: Pod")})
    assert refused.status_code == 400
    assert b"not a run saved by kviz" in refused.content
    assert browser.post(reverse("run-open")).status_code == 400


def test_a_run_among_uploaded_clusters_is_sent_to_the_right_form(ada: Person) -> None:
    told = problem(ada.upload(("some.kviz", saved(ada.finished()))), 400)
    assert "a run saved by kviz" in told["errors"][0]["message"]


# ---------------------------------------------------------------- files that are not to be trusted


def with_headers(part: Part, events: object) -> Part:
    first = read_headers(part.chunk.headers)[0]
    headers = gzip.compress(msgspec.msgpack.encode((first, events)))
    return Part(msgspec.structs.replace(part.chunk, headers=headers))


def test_nothing_of_a_bad_file_is_kept(ada: Person, ben: Person) -> None:
    inputs, *parts, outcome = records(saved(ada.finished(crowd(130))))
    assert isinstance(inputs, Inputs)
    assert isinstance(outcome, Outcome)
    first, *later = (part for part in parts if isinstance(part, Part))
    assert later
    _, events = read_headers(first.chunk.headers)
    ended_again = next(event for event in events if isinstance(event, CycleFinished))
    ended = msgspec.structs.replace(outcome, trace_hash="0" * 64)
    for bad, told in (
        (joined(inputs, first, *later), "cut off"),
        (joined(inputs, *later, outcome), "missing"),
        (joined(inputs, first, outcome), "does not end"),
        (joined(inputs, first, *later, ended), "its hash is another"),
        (joined(inputs, with_headers(first, events[:-1]), *later, outcome), "damaged"),
        (joined(inputs, with_headers(first, [events[0], *events[9:]]), outcome), "stands for"),
        (joined(inputs, with_headers(first, [*events, ended_again]), outcome), "contradicts"),
        (joined(inputs, inputs, first, *later, outcome), "two runs"),
        (joined(first, *later, outcome), "does not begin"),
        (joined(msgspec.structs.replace(inputs, objects=b"?"), outcome), "cluster in this file"),
        (joined(msgspec.structs.replace(inputs, sha256="x"), outcome), "damaged"),
        (
            joined(inputs, first, *later, msgspec.structs.replace(outcome, status="queued")),
            "ends as",
        ),
    ):
        before = (Run.objects.count(), Snapshot.objects.count())
        detail = problem(opened(ben, bad), 400)["detail"]
        assert told in detail
        assert (Run.objects.count(), Snapshot.objects.count()) == before


def test_a_cluster_that_no_page_could_show_is_refused(ada: Person) -> None:
    inputs, *rest = records(saved(ada.finished()))
    assert isinstance(inputs, Inputs)
    objects = list(snapshot_objects(snapshot=Snapshot.objects.get()))
    node = next(item for item in objects if isinstance(item, Node))
    node.status.allocatable["cpu"] = "much"
    packed = pack(type(snapshot_objects(snapshot=Snapshot.objects.get()))(objects))
    told = problem(opened(ada, joined(msgspec.structs.replace(inputs, objects=packed), *rest)), 400)
    assert "not a valid one" in told["detail"]


def test_another_engine_is_named_when_it_matters(ada: Person) -> None:
    inputs, first, *_ = records(saved(ada.finished()))
    assert isinstance(inputs, Inputs)
    assert isinstance(first, Part)
    newer = msgspec.structs.replace(inputs, engine_version="9.0")
    told = problem(opened(ada, joined(newer, with_headers(first, [["Invented", 1]]))), 400)
    assert "made by engine 9.0" in told["detail"]


def test_numbers_no_database_holds_are_refused(ada: Person) -> None:
    inputs, first, *_ = records(saved(ada.finished()))
    assert isinstance(first, Part)
    writer = TraceWriter()
    start, *events = read_headers(first.chunk.headers)[1]
    for event in (start, ClockAdvanced(2**64 - 1), *events):
        writer.add(event)
    chunk = writer.cut()
    assert chunk is not None
    file = joined(inputs, Part(chunk), Outcome("finished", writer.trace_hash()))
    before = Snapshot.objects.count()
    assert "stands for nothing" in problem(opened(ada, file), 400)["detail"]
    assert (Run.objects.count(), Snapshot.objects.count()) == (1, before)


def test_what_a_file_unpacks_to_is_bounded(ada: Person, settings: Settings) -> None:
    file = saved(ada.finished())
    settings.MAX_UNPACKED_BYTES = 1000
    assert "larger than" in problem(opened(ada, file), 400)["detail"]


def test_extender_answers_go_along(ada: Person, ben: Person) -> None:
    run = ada.finished()
    kept = {"number": 0, "request_sha256": "a" * 64, "kind": "request_failed", "status": 0,
            "body": b"", "error": "refused", "duration_ns": 5}  # fmt: skip
    run.extender_answers.create(**kept)
    again = Run.objects.get(pk=opened(ben, saved(run)).json()["id"])
    found = again.extender_answers.values(*kept).get()
    assert found | {"body": b""} == kept
