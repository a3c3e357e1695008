"""A followed cluster fills in what a scheduler does not tell its extender: two sources, one run."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kviz.extenders import incoming
from kviz.extenders.incoming import Verb
from kviz.extenders.models import ExtenderSession
from kviz.extenders.observer import ObservedCall
from kviz.extenders.recorder import CallRecorder
from kviz.extenders.services import session_create, session_revoke
from kviz.following.recording import Replayed, replay
from kviz.runs.execution.observe import ObservedTrace, observed_run_create
from kviz.runs.models import Run
from kviz.runs.reading.trace import chunk_headers
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    CycleStarted,
    EventRecorded,
    NodeAdded,
    NodeUpdated,
    PodAdded,
)
from scheduler_core.trace.fold import fold
from tests.following.recorded import lines
from tests.web.cast import Person, person


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def told() -> Replayed:
    """The first seconds of the recording."""
    return replay(lines()[:120])


def split(events: list[AnyEvent]) -> tuple[list[AnyEvent], list[AnyEvent]]:
    """What is there when the session begins, and what comes later."""
    first = next(i for i, event in enumerate(events) if isinstance(event, CycleStarted))
    return events[:first], events[first:]


def followed_run(ada: Person, events: list[AnyEvent]) -> Run:
    return observed_run_create(
        workspace=ada.workspace, name="prod", snapshot=None, events=events, outcomes_told=True
    )


def events_of(run: Run) -> list[Any]:
    chunks = chunk_headers(run_id=run.pk, after=-1, limit=1_000)
    return [event for _, headers in chunks for event in read_headers(headers)[1]]


def asks(uid: str, name: str, *nodes: str) -> ObservedCall:
    pod = {"metadata": {"name": name, "namespace": "shop", "uid": uid}, "spec": {"containers": []}}
    body = msgspec.json.encode({"Pod": pod, "NodeNames": nodes})
    return ObservedCall(1, Verb.FILTER, incoming.answer(Verb.FILTER, body))


def stored(session: ExtenderSession, recorder: CallRecorder, *calls: ObservedCall) -> list[Any]:
    recorder.store([(session.run_id, None), *((session.run_id, call) for call in calls)])
    for run in recorder._runs.values():
        run.called_at = float("-inf")
    recorder.store([])
    session.refresh_from_db()
    return events_of(session.run)


def test_nodes_pods_and_outcomes_come_from_the_cluster_and_attempts_from_the_calls(
    ada: Person,
) -> None:
    early, late = split(told().events)
    cluster = followed_run(ada, early)
    session = session_create(workspace=ada.workspace, filled_by=cluster)
    recorder = CallRecorder()
    seen = stored(session, recorder)
    nodes = [event for event in seen if isinstance(event, NodeAdded)]
    assert len(nodes) == 26
    assert all(any(node.allocatable) for node in nodes)

    bound = next(event for event in late if isinstance(event, Bound))
    added = next(e for e in early + late if isinstance(e, PodAdded) and e.pod == bound.pod)
    stored(session, recorder, asks(added.uid, added.name, nodes[0].name))
    ObservedTrace.resume(cluster.pk, lambda event: None).append(late)
    seen = stored(session, recorder)
    (attempt,) = [event for event in seen if isinstance(event, CycleStarted)]
    (pod,) = [e for e in seen if isinstance(e, PodAdded) and e.uid == added.uid]
    assert attempt.pod == pod.pod
    names = {event.node: event.name for event in seen if isinstance(event, NodeAdded)}
    there = {event.node: event.name for event in early + late if isinstance(event, NodeAdded)}
    (its,) = [event for event in seen if isinstance(event, Bound) and event.pod == pod.pod]
    assert names[its.node] == there[bound.node]
    assert any(isinstance(event, EventRecorded) for event in seen)
    state = fold(seen)
    assert len(state.nodes) == 26
    run = ada.get(f"/runs/{session.run_id}/").json()
    assert run["bound"] is not None


def test_it_goes_on_behind_what_was_read_in_another_process(ada: Person) -> None:
    early, late = split(told().events)
    cluster = followed_run(ada, early)
    session = session_create(workspace=ada.workspace, filled_by=cluster)
    first = stored(session, CallRecorder())
    assert session.filled_seq == cluster.last_seq
    assert stored(session, CallRecorder()) == first
    ObservedTrace.resume(cluster.pk, lambda event: None).append(late)
    whole = stored(session, CallRecorder())
    assert whole[: len(first)] == first
    pods = [event.uid for event in whole if isinstance(event, PodAdded)]
    assert len(pods) == len(set(pods))
    assert len([event for event in whole if isinstance(event, NodeAdded)]) == 26


def test_a_node_that_only_had_a_name_gets_its_looks(ada: Person) -> None:
    early, _ = split(told().events)
    name = next(event.name for event in early if isinstance(event, NodeAdded))
    cluster = followed_run(ada, early)
    session = session_create(workspace=ada.workspace, filled_by=cluster)
    recorder = CallRecorder()
    recorder.store([(session.run_id, asks("uid-x", "x", name))])
    seen = stored(session, recorder)
    (bare,) = [event for event in seen if isinstance(event, NodeAdded) and event.name == name]
    assert bare.allocatable == ()
    (looks,) = [e for e in seen if isinstance(e, NodeUpdated) and e.node == bare.node]
    assert any(looks.allocatable)


def test_a_session_that_is_over_is_filled_no_longer(ada: Person) -> None:
    early, late = split(told().events)
    cluster = followed_run(ada, early)
    session = session_create(workspace=ada.workspace, filled_by=cluster)
    recorder = CallRecorder()
    stored(session, recorder)
    session_revoke(session=session)
    n_events = len(events_of(session.run))
    ObservedTrace.resume(cluster.pk, lambda event: None).append(late)
    assert len(stored(session, recorder)) == n_events
    assert recorder._runs == {}


def test_only_clusters_of_the_workspace_fill(ada: Person) -> None:
    early, _ = split(told().events)
    cluster = followed_run(person(), early)
    answer = ada.post("/sessions/", {"filled_by": str(cluster.pk)})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [{"field": "filled_by", "message": "Not found."}]
    own = followed_run(ada, early)
    session = session_create(workspace=ada.workspace, filled_by=own)
    assert ada.get(f"/sessions/{session.pk}/").json()["filled_by"] == str(own.pk)
