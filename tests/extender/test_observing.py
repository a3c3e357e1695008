"""What a real scheduler tells becomes a run like any other, with nothing invented."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection

from kviz.accounts.services import local_workspace_ensure, token_create
from kviz.extenders import incoming, observer
from kviz.extenders import recorder as recorder_module
from kviz.extenders.incoming import Verb
from kviz.extenders.models import ExtenderSession
from kviz.extenders.observer import ObservedCall, Observer
from kviz.extenders.recorder import CallRecorder
from kviz.extenders.services import session_create, session_delete, session_revoke
from kviz.runs import services
from kviz.runs.execution.claim import run_claim
from kviz.runs.models import Run
from kviz.runs.portable import saved
from kviz.runs.reading.trace import chunk_headers
from kviz.runs.sharing import run_share
from kviz.runs.signals import run_advanced
from scheduler_core.trace.events import (
    Bound,
    CycleFinished,
    CycleStarted,
    ExtenderCalled,
    FilterFinished,
    NodeAdded,
    NominationChanged,
    PodAdded,
    PreemptionDryRun,
)
from scheduler_core.trace.records import Result
from tests.extender.recordings import EXCHANGES
from tests.web.cast import Person, person

SECOND_NS = 1_000_000_000
START_NS = 1_900_000_000 * SECOND_NS


def call(verb: Verb, second: int, body: object) -> ObservedCall:
    asked = incoming.answer(verb, json.dumps(body).encode())
    return ObservedCall(START_NS + second * SECOND_NS, verb, asked, duration_ns=7)


def pod(name: str, **status: object) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "250m"}}}
    spec = {"containers": [container], "priority": 7, "schedulerName": "real"}
    return {"metadata": metadata, "spec": spec, "status": status}


def asks(verb: Verb, second: int, name: str, *nodes: str, **status: object) -> ObservedCall:
    return call(verb, second, {"Pod": pod(name, **status), "NodeNames": nodes})


def would_evict(second: int, name: str, victims: dict[str, list[str]]) -> ObservedCall:
    sent = {
        node: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": 1}
        for node, uids in victims.items()
    }
    return call(Verb.PREEMPT, second, {"Pod": pod(name), "NodeNameToMetaVictims": sent})


def events_of(*calls: ObservedCall) -> list[Any]:
    """The events after the beginning, with all attempts over."""
    watch = Observer()
    watch.begin(START_NS, ())
    watch.drain()
    for each in calls:
        watch.take(each)
    watch.close()
    return watch.drain()


def of(kind: type, events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


# ---------------------------------------------------------------- words


def test_an_attempt_is_a_cycle_whose_end_is_unknown() -> None:
    events = events_of(
        asks(Verb.FILTER, 1, "web", "a", "b"),
        asks(Verb.PRIORITIZE, 1, "web", "a", "b"),
        asks(Verb.FILTER, 2, "db", "b"),
    )
    assert [(e.cycle, e.attempt) for e in of(CycleStarted, events)] == [(1, 1), (2, 1)]
    assert [(e.result, e.node) for e in of(CycleFinished, events)] == [(Result.UNKNOWN, -1)] * 2
    assert [e.name for e in of(NodeAdded, events)] == ["a", "b"]
    assert [(e.name, e.scheduler_name, e.priority, e.uid) for e in of(PodAdded, events)] == [
        ("web", "real", 7, "uid-web"),
        ("db", "real", 7, "uid-db"),
    ]
    assert [(e.n_examined, e.n_feasible, e.rejected) for e in of(FilterFinished, events)] == [
        (-1, 2, ()),
        (-1, 1, ()),
    ]
    assert [e.verb for e in of(ExtenderCalled, events)] == ["filter", "prioritize", "filter"]


def test_a_pod_that_comes_back_has_another_attempt_and_brings_what_its_status_says() -> None:
    conditions = [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}]
    events = events_of(
        asks(Verb.FILTER, 1, "web", "a"),
        asks(Verb.FILTER, 9, "web", "a", conditions=conditions, nominatedNodeName="z"),
    )
    assert [e.attempt for e in of(CycleStarted, events)] == [1, 2]
    first, second = of(ExtenderCalled, events)
    assert "status said" not in first.summary
    assert "0/2 nodes are available" in second.summary
    (nominated,) = of(NominationChanged, events)
    assert [e.name for e in of(NodeAdded, events)][nominated.node] == "z"


def test_scores_that_are_asked_for_late_belong_to_the_same_attempt() -> None:
    watch = Observer()
    watch.begin(START_NS, ())
    watch.take(asks(Verb.FILTER, 1, "web", "a", "b"))
    watch.close()
    watch.take(asks(Verb.PRIORITIZE, 3, "web", "a", "b"))
    watch.close()
    assert [e.attempt for e in of(CycleStarted, watch.drain())] == [1, 1]


def silence(observed: CallRecorder, seconds: float) -> None:
    """Have so much time pass without a call."""
    for run in observed._runs.values():
        run.called_at -= seconds
    observed.store([])


def test_calls_of_one_attempt_may_be_far_apart(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    recorder = CallRecorder()
    recorder.store([(session.run_id, asks(Verb.FILTER, 1, "web", "a", "b"))])
    silence(recorder, 5.0)
    recorder.store([(session.run_id, asks(Verb.PRIORITIZE, 6, "web", "a", "b"))])
    session.run.refresh_from_db()
    assert session.run.cycles == 1
    calls = ada.get(f"/runs/{session.run_id}/cycles/1/").json()["extenders"]
    assert [call["verb"] for call in calls] == ["filter", "prioritize"]


@pytest.mark.parametrize(("n_nodes", "seconds"), [(1, 0.3), (2, 30.0)])
def test_an_attempt_that_asks_no_more_is_shown(ada: Person, n_nodes: int, seconds: float) -> None:
    session = session_create(workspace=ada.workspace)
    recorder = CallRecorder()
    nodes = [f"n{i}" for i in range(n_nodes)]
    recorder.store([(session.run_id, asks(Verb.FILTER, 1, "web", *nodes))])
    session.run.refresh_from_db()
    assert session.run.cycles == 0
    silence(recorder, seconds)
    session.run.refresh_from_db()
    assert session.run.cycles == 1


def test_nodes_that_another_extender_dropped_are_counted() -> None:
    events = events_of(
        asks(Verb.FILTER, 1, "web", "a", "b", "c"), asks(Verb.PRIORITIZE, 1, "web", "a", "b")
    )
    assert "1 of 3 nodes are missing: another extender" in of(ExtenderCalled, events)[1].summary


def test_victims_are_recorded_on_their_nodes() -> None:
    events = events_of(
        asks(Verb.FILTER, 1, "web", "a", "b"),
        would_evict(5, "vip", {"a": ["uid-web", "uid-unknown"], "b": ["uid-other"]}),
    )
    (dry_run,) = of(PreemptionDryRun, events)
    pods = {e.pod: e for e in of(PodAdded, events)}
    nodes = [e.name for e in of(NodeAdded, events)]
    assert {nodes[c.node]: [pods[v].uid for v in c.victims] for c in dry_run.candidates} == {
        "a": ["uid-web", "uid-unknown"],
        "b": ["uid-other"],
    }
    assert (pods[dry_run.candidates[1].victims[0]].namespace) == "?"
    assert [c.n_pdb_violations for c in dry_run.candidates] == [1, 1]
    (bound,) = of(Bound, events)
    assert (pods[bound.pod].uid, nodes[bound.node]) == ("uid-web", "a")
    assert of(FilterFinished, events)[1].n_feasible == 0
    assert not of(CycleFinished, events)[1].node >= 0


def test_what_goes_on_is_not_handed_over() -> None:
    watch = Observer()
    watch.begin(START_NS, ())
    watch.take(asks(Verb.FILTER, 1, "web", "a"))
    assert not of(CycleStarted, watch.drain())
    assert watch.n_open == 1
    watch.take(asks(Verb.FILTER, 2, "db", "a"))
    assert len(of(CycleFinished, watch.drain())) == 1


def test_a_pod_that_cannot_be_read_has_a_name() -> None:
    body = {"Pod": {"metadata": {"name": "x", "namespace": "n"}, "spec": 3}, "NodeNames": ["a"]}
    (added,) = of(PodAdded, events_of(call(Verb.FILTER, 1, body)))
    assert (added.namespace, added.name, added.uid) == ("n", "x", "n/x")


# ---------------------------------------------------------------- the run


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def write(
    session: ExtenderSession, *calls: ObservedCall, recorder: CallRecorder | None = None
) -> Run:
    """Have calls written, and the last attempt settled."""
    recorder = recorder or CallRecorder()
    recorder.store([(session.run_id, each) for each in calls])
    for observed in recorder._runs.values():
        observed.called_at = float("-inf")
    recorder.store([])
    session.run.refresh_from_db()
    return session.run


def test_recorded_calls_become_cycles_of_a_run(ada: Person) -> None:
    session = session_create(workspace=ada.workspace, name="Staging")
    names = ("case-01-1-filter", "case-01-2-prioritize", "case-78-1-preempt")
    bodies = [(n.rsplit("-", 1)[1], EXCHANGES[f"{n}.json"]["request"]["body"]) for n in names]
    run = write(session, *(call(Verb(v), i, body) for i, (v, body) in enumerate(bodies)))
    assert (run.status, run.kind, run.cycles) == ("running", "observed", 2)
    document = ada.get(f"/runs/{run.pk}/").json()
    assert (document["cycles"], document["bound"], document["pending"]) == (2, None, None)
    rows = ada.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    assert [(row["pod"], row["result"], row["n_feasible"]) for row in rows] == [
        ("default/case-01", "unknown", 4),
        ("default/case-78", "unknown", 0),
    ]
    assert [row["now_ns"] for row in rows] == [START_NS, START_NS + 2 * SECOND_NS]
    first = ada.get(f"/runs/{run.pk}/cycles/1/").json()
    assert first["feasible"] == bodies[0][1]["NodeNames"]
    assert [call["verb"] for call in first["extenders"]] == ["filter", "prioritize"]
    assert first["filter"] == {}
    second = ada.get(f"/runs/{run.pk}/cycles/2/").json()
    assert set(second["preemption"]["candidates"]) == set(bodies[2][1]["NodeNameToVictims"])
    assert "winner" not in second["preemption"]


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        (Verb.FILTER, {"NodeNames": ["a", ""]}),
        (Verb.FILTER, {"Nodes": {"items": [{"metadata": {}}]}}),
        (Verb.PREEMPT, {"NodeNameToMetaVictims": {"": {"Pods": []}}}),
        (Verb.PREEMPT, {"NodeNameToMetaVictims": {"a": {"NumPDBViolations": 2**63}}}),
        (Verb.PREEMPT, {"NodeNameToVictims": {"a": {"NumPDBViolations": -1}}}),
    ],
)
def test_what_no_scheduler_sends_is_refused(verb: Verb, more: dict[str, Any]) -> None:
    with pytest.raises(incoming.BadRequest):
        call(verb, 0, {"Pod": pod("web-0"), **more})


def test_what_goes_wrong_with_one_run_costs_no_other(ada: Person) -> None:
    broken, fine = (session_create(workspace=ada.workspace, name=name) for name in ("a", "b"))
    bad = would_evict(1, "bad", {"n": ["victim"]})
    victims = {"n": incoming.CandidateVictims([("uid", "shop/victim")], 2**70)}
    unwritable = replace(bad, exchange=replace(bad.exchange, victims=victims))
    recorder = CallRecorder()
    first, third = (asks(Verb.FILTER, i, f"web-{i}", "n") for i in (0, 2))
    recorder.store([(fine.run_id, first), (broken.run_id, unwritable), (fine.run_id, third)])
    run = write(broken, asks(Verb.FILTER, 3, "web-3", "n"), recorder=recorder)
    fine.run.refresh_from_db()
    assert (fine.run.cycles, run.cycles) == (2, 1)


def test_what_the_database_did_not_take_is_recorded_later(ada: Person) -> None:
    session, recorder = session_create(workspace=ada.workspace), CallRecorder()

    def away(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(away):
        for second in range(2):
            call = asks(Verb.FILTER, second, f"web-{second}", "n")
            recorder.store([(session.run_id, call)])
    run = write(session, asks(Verb.FILTER, 2, "web-2", "n"), recorder=recorder)
    assert (run.cycles, run.calls_missed) == (3, 0)


@pytest.mark.django_db
def test_calls_that_could_not_be_recorded_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MAX_WAITING_BYTES", 0)
    workspace = local_workspace_ensure()
    owner = Person(workspace, token_create(workspace=workspace))
    session, recorder = session_create(workspace=workspace), CallRecorder()
    monkeypatch.setattr(recorder, "_ensure_thread", lambda: None)
    recorder.record(session.run_id, asks(Verb.FILTER, 1, "web", "n"))
    recorder.miss(session.token)
    recorder.miss("nobody's")
    recorder.store([])
    recorder.store([])
    assert owner.get(f"/runs/{session.run_id}/").json()["calls_missed"] == 2
    assert owner.get(f"/sessions/{session.pk}/").json()["calls_missed"] == 2
    for page in (f"/runs/{session.run_id}", f"/extender/{session.pk}"):
        shown = owner.client.get(page).content.decode()
        assert "2 calls of the scheduler could not be recorded" in shown


def test_the_nodes_of_a_snapshot_are_there_from_the_beginning(ada: Person) -> None:
    session = session_create(workspace=ada.workspace, snapshot=ada.snapshot())
    run = write(session, asks(Verb.FILTER, 1, "web", "north", "new"))
    names = [
        event
        for _, headers in chunk_headers(run_id=run.pk, after=-1, limit=9)
        for event in read(headers)
        if isinstance(event, NodeAdded)
    ]
    assert [each.name for each in names] == ["north", "south", "new"]
    assert names[0].allocatable
    assert not names[2].allocatable


def read(headers: bytes) -> list[Any]:
    from scheduler_core.trace.codec import read_headers

    return list(read_headers(headers)[1])


def test_another_process_goes_on_where_one_stopped(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    write(session, asks(Verb.FILTER, 1, "web", "a"))
    run = write(session, asks(Verb.FILTER, 9, "web", "a", "b"))
    assert [row.attempt for row in run.cycle_rows.order_by("number")] == [1, 2]
    events = all_events(run)
    assert len(of(PodAdded, events)) == 1
    assert [e.name for e in of(NodeAdded, events)] == ["a", "b"]


def all_events(run: Run) -> list[Any]:
    chunks = chunk_headers(run_id=run.pk, after=-1, limit=1_000)
    return [event for _, headers in chunks for event in read(headers)]


def test_two_processes_do_not_overwrite_each_other(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    one, two = CallRecorder(), CallRecorder()
    for second, (recorder, name) in enumerate([(one, "a"), (two, "b"), (one, "c"), (two, "d")]):
        run = write(session, asks(Verb.FILTER, second, name, "n"), recorder=recorder)
    assert [row.pod for row in run.cycle_rows.order_by("number")] == [
        f"shop/{name}" for name in "abcd"
    ]
    seqs = list(run.chunks.order_by("last_seq").values_list("first_seq", "last_seq"))
    assert [first for first, _ in seqs] == [0, *(last + 1 for _, last in seqs[:-1])]


def test_a_session_that_gets_too_long_says_so(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "MAX_CALLS", 3)
    session = session_create(workspace=ada.workspace)
    recorder = CallRecorder()
    for second in range(5):
        run = write(session, asks(Verb.FILTER, second, f"p-{second}", "n"), recorder=recorder)
    assert (run.status, run.cycles) == ("finished", 3)
    assert run.stop_reason == "a live session holds at most 3 calls"
    page = ada.client.get(f"/runs/{run.pk}?share={run_share(run=run).token}")
    assert run.stop_reason in page.content.decode()


def test_revoking_ends_the_run_and_deleting_keeps_it(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    recorder = CallRecorder()
    write(session, asks(Verb.FILTER, 1, "web", "a"), recorder=recorder)
    session_revoke(session=session)
    run = write(session, asks(Verb.FILTER, 2, "late", "a"), recorder=recorder)
    assert (run.status, run.cycles, run.stop_reason) == ("finished", 1, "")
    assert type(all_events(run)[-1]).__name__ == "RunFinished"
    session_delete(session=session)
    assert Run.objects.filter(pk=run.pk).exists()


def test_no_worker_claims_a_run_that_is_observed_and_nobody_pauses_it(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    Run.objects.filter(pk=session.run_id).update(heartbeat_at="2020-01-01T00:00:00Z")
    assert run_claim(worker="w") is None
    assert not services.run_pause(run=session.run)


def test_a_cycle_that_was_observed_is_not_simulated_again(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    run = write(session, asks(Verb.FILTER, 1, "web", "a"))
    answer = ada.get(f"/runs/{run.pk}/cycles/1/also/")
    assert answer.status_code == 409
    assert "A real scheduler decided this cycle" in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", ["", "/cycles", "/explore?c=1&view=tables", "/explore?c=2&view=tables",
             "/pods/shop/web/why", "/pods/shop/vip/why"],
)  # fmt: skip
def test_pages_say_what_is_unknown(ada: Person, path: str) -> None:
    session = session_create(workspace=ada.workspace, name="Staging")
    victims = {"a": ["uid-other"]}
    run = write(session, asks(Verb.FILTER, 1, "web", "a"), would_evict(2, "vip", victims))
    query = ("&" if "?" in path else "?") + f"share={run_share(run=run).token}"
    page = ada.client.get(f"/runs/{run.pk}{path}{query}")
    assert page.status_code == 200
    text = page.content.decode()
    assert "Staging" in text
    assert "unknown" in text or "does not report" in text
    assert ">pending<" not in text


def test_hints_name_the_run_and_its_last_event(ada: Person) -> None:
    session = session_create(workspace=ada.workspace)
    hints: list[tuple[UUID, int]] = []

    def advanced(run_id: UUID, seq: int, **_: object) -> None:
        hints.append((run_id, seq))

    run_advanced.connect(advanced)
    run = write(session, asks(Verb.FILTER, 1, "web", "a"))
    run_advanced.disconnect(advanced)
    assert hints[-1] == (run.pk, run.last_seq)


@pytest.mark.parametrize("with_snapshot", [True, False])
def test_a_run_is_saved_and_opened_again(ada: Person, with_snapshot: bool) -> None:
    snapshot = ada.snapshot() if with_snapshot else None
    session = session_create(workspace=ada.workspace, name="Staging", snapshot=snapshot)
    write(session, asks(Verb.FILTER, 1, "web", "north"), would_evict(2, "vip", {"north": ["u"]}))
    session_revoke(session=session)
    run = Run.objects.get(pk=session.run_id)
    opened = services.run_open(workspace=ada.workspace, file=BytesIO(b"".join(saved.pieces(run))))
    assert (opened.kind, opened.name, opened.cycles, opened.status) == (
        "observed",
        "Staging",
        2,
        "finished",
    )
    assert (opened.snapshot is not None) == with_snapshot
    assert all_events(opened) == all_events(run)
    assert ada.get(f"/runs/{opened.pk}/").json()["bound"] is None
