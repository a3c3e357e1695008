"""A run keeps what its extenders answered, and goes the same way again without them."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from kviz.runs.execution.claim import run_claim
from kviz.runs.execution.engine import simulate_run
from kviz.runs.execution.extender_answers import RecordingTransport
from kviz.runs.execution.record import run_execute
from kviz.runs.models import ExtenderAnswer, Run
from kviz.runs.portable import saved
from kviz.runs.services import run_create, run_open
from kviz.runs.sharing import run_share
from scheduler_core.extender.transport import Reply, RequestFailed, TLSSettings
from scheduler_core.trace.events import (
    CycleFinished,
    ExtenderCalled,
)
from tests.extender.recordings import configuration_text
from tests.web.cast import Person, person

CONFIGURATION = configuration_text(
    "- {urlPrefix: 'http://127.0.0.1:PORT/echo', filterVerb: f, nodeCacheCapable: true}"
)


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def run_of(ada: Person, configuration: str) -> Run:
    snapshot = ada.snapshot()
    return run_create(workspace=ada.workspace, snapshot=snapshot, scheduler_config=configuration)


def execute(run: Run) -> Run:
    """Have the run executed from the beginning by a worker."""

    run.chunks.all().delete()
    run.cycle_rows.all().delete()
    run.pod_outcomes.all().delete()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED, last_seq=-1, trace_hash="")
    claimed = run_claim(worker="w")
    assert claimed is not None
    run_execute(run=claimed, worker="w")
    claimed.refresh_from_db()
    return claimed


def test_a_run_is_replayed_without_its_extender(ada: Person, port: int, settings: object) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    run = execute(run_of(ada, CONFIGURATION.replace("PORT", str(port))))
    assert run.status == Run.Status.FINISHED
    first, n_answers = run.trace_hash, run.extender_answers.count()
    assert n_answers >= 4

    settings.EXTENDER_HOSTS = []  # type: ignore[attr-defined]
    again = execute(run)
    assert again.trace_hash == first
    assert again.extender_answers.count() == n_answers


def test_an_extender_off_the_list_is_not_called(ada: Person, port: int) -> None:
    run = run_of(ada, CONFIGURATION.replace("PORT", str(port)))
    trace = []
    for event in simulate_run(run):
        trace.append(event)
        if len([each for each in trace if isinstance(each, CycleFinished)]) == 1:
            break
    (call,) = [event for event in trace if isinstance(event, ExtenderCalled)]
    assert "the operator has not listed it in KVIZ_EXTENDER_HOSTS" in call.error
    assert call.status == 0


class Once:
    """A transport that answers the first call and fails the second, and then is gone."""

    def __init__(self) -> None:
        self.n_calls = 0

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        self.n_calls += 1
        if self.n_calls == 2:
            raise RequestFailed("EOF", 5)
        return Reply(200, body, 3)


def test_failures_are_recorded_and_other_questions_are_asked_again(ada: Person) -> None:
    run, outgoing = run_of(ada, ""), Once()
    for _ in range(2):
        kept = RecordingTransport(run, outgoing)
        assert kept.post("http://x/f", b"1", 0, None) == Reply(200, b"1", 3)
        with pytest.raises(RequestFailed) as raised:
            kept.post("http://x/f", b"2", 0, None)
        assert (raised.value.text, raised.value.duration_ns) == ("EOF", 5)
    assert outgoing.n_calls == 2

    kept = RecordingTransport(run, outgoing)
    assert kept.post("http://x/f", json.dumps({"other": 1}).encode(), 0, None).status == 200
    assert ExtenderAnswer.objects.filter(run=run).count() == 1


def test_pages_tell_that_an_extender_turned_nodes_down(
    ada: Person, port: int, settings: object
) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    configuration = CONFIGURATION.replace("PORT/echo", f"{port}/none")
    run = execute(run_of(ada, configuration))
    share = run_share(run=run).token
    cycle = ada.get(f"/runs/{run.pk}/cycles/1/").json()
    assert cycle["message"].startswith("0/2 nodes are available: 1 no license. ")
    for path in ("", "/cycles", "/pods/shop/web-0/why"):
        page = ada.client.get(f"/runs/{run.pk}{path}?share={share}")
        assert page.status_code == 200
    assert "no license" in page.content.decode()
    (call,) = cycle["extenders"]
    assert (call["verb"], call["status"], call["n_nodes_out"]) == ("filter", 200, 0)
    assert call["removed"] == {"north": "no license", "south": ""}
    assert call["duration_ns"] > 0
    tables = ada.client.get(
        f"/runs/{run.pk}/explore?c=1&view=tables&share={share}"
    ).content.decode()
    assert "Calls to extenders" in tables
    assert f"http://127.0.0.1:{port}/none" in tables


def test_a_cycle_is_re_enacted_with_the_recorded_answers(
    ada: Person, port: int, settings: object
) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    configuration = CONFIGURATION.replace("PORT/echo", f"{port}/none")
    run, unrecorded = (execute(run_of(ada, configuration)) for _ in range(2))
    settings.EXTENDER_HOSTS = []  # type: ignore[attr-defined]
    answer = ada.get(f"/runs/{run.pk}/cycles/1/also/")
    assert answer.status_code == 200, answer.content
    assert answer.json()["pod"] == ada.get(f"/runs/{run.pk}/cycles/1/").json()["pod"]

    unrecorded.extender_answers.all().delete()
    answer = ada.get(f"/runs/{unrecorded.pk}/cycles/1/also/")
    assert answer.status_code == 409
    assert "What its extenders answered was not recorded." in answer.json()["detail"]


def test_a_run_goes_on_after_its_worker_died_without_asking_again(
    ada: Person, port: int, settings: object
) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    run = execute(run_of(ada, CONFIGURATION.replace("PORT", str(port))))
    whole, answers = run.trace_hash, list(run.extender_answers.values_list("number", "duration_ns"))

    settings.EXTENDER_HOSTS = []  # type: ignore[attr-defined]
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED, trace_hash="", finished_at=None)
    claimed = run_claim(worker="v")
    assert claimed is not None
    run_execute(run=claimed, worker="v")
    claimed.refresh_from_db()
    assert (claimed.status, claimed.trace_hash) == (Run.Status.FINISHED, whole)
    assert list(claimed.extender_answers.values_list("number", "duration_ns")) == answers


def test_a_run_with_extenders_is_saved_and_opened_again(
    ada: Person, port: int, settings: object
) -> None:
    settings.EXTENDER_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    configuration = configuration_text(
        f"- {{urlPrefix: 'http://127.0.0.1:{port}/echo', filterVerb: f, prioritizeVerb: p, "
        "weight: 1, nodeCacheCapable: true}"
    )
    run = execute(run_of(ada, configuration))
    verbs = {call["verb"] for call in ada.get(f"/runs/{run.pk}/cycles/1/").json()["extenders"]}
    assert verbs >= {"filter"}
    file = BytesIO(b"".join(saved.pieces(run)))
    opened = run_open(workspace=ada.workspace, file=file)
    assert opened.trace_hash == run.trace_hash
    assert opened.extender_answers.count() == run.extender_answers.count()
