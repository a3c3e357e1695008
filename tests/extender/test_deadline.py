"""A scheduler that waits for kviz is answered in time, whatever hangs behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pytest
from django.utils import timezone

from kviz.extenders import asked, incoming, known
from kviz.extenders.incoming import Verb
from kviz.extenders.known import known_sessions
from kviz.extenders.models import ExtenderSession
from kviz.extenders.observer import ObservedCall
from kviz.extenders.recorder import recorder
from kviz.extenders.services import session_create
from kviz.project.extender_deadline import MAX_HANGING, ExtenderDeadline
from tests.extender.recordings import EXCHANGES
from tests.web.cast import Person, person

BODY = b'{"Pod": {"metadata": {"name": "web", "namespace": "shop"}}, "NodeNames": ["a"]}'
HOST: Final = "kviz.example:8000"
Message = MutableMapping[str, Any]


class Behind:
    """What stands behind the deadline: it answers, or hangs until it is let go."""

    def __init__(self) -> None:
        self.n_asked = 0
        self.goes = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.n_asked += 1
        await receive()
        await self.goes.wait()
        question = asked.current.get()
        if question is not None:
            question.says(scope["run"], Verb.FILTER, incoming.answer(Verb.FILTER, BODY))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


async def ask(app: ExtenderDeadline, token: str = "token", path: str = "") -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path or f"/api/v1/extender/{token}/filter"}
    heads = {"host": HOST, "content-length": str(len(BODY))}
    headers = [(name.encode(), value.encode()) for name, value in heads.items()]
    await app({**scope, "headers": headers, "run": "run"}, receive, send)
    return sent


@dataclass
class Recorded:
    """What the recorder is given."""

    calls: list[tuple[Any, ObservedCall]] = field(default_factory=list)
    missed: list[UUID | str] = field(default_factory=list)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    found = Recorded()
    monkeypatch.setattr(recorder, "record", lambda run_id, call: found.calls.append((run_id, call)))
    monkeypatch.setattr(recorder, "miss", found.missed.append)
    return found


def test_a_first_call_that_hangs_gets_503_and_costs_no_other(recorded: Recorded) -> None:
    async def scenario() -> None:
        behind = Behind()
        app = ExtenderDeadline(behind, 0.01)
        for _ in range(2 * MAX_HANGING):
            assert (await ask(app))[0]["status"] == 503
        assert behind.n_asked == MAX_HANGING
        behind.goes.set()
        await asyncio.gather(*app._hanging)
        assert (await ask(app))[0]["status"] == 200

    asyncio.run(scenario())
    assert len(recorded.calls) == 1  # of those that were not answered none
    assert recorded.missed == ["token"] * 2 * MAX_HANGING


def test_a_call_is_recorded_after_its_answer_with_the_time_since_it_came(
    recorded: Recorded,
) -> None:
    async def scenario() -> None:
        behind = Behind()
        behind.goes.set()
        await ask(ExtenderDeadline(behind, 60.0))

    asyncio.run(scenario())
    ((run_id, call),) = recorded.calls
    assert (run_id, call.verb, call.exchange.pod) == ("run", Verb.FILTER, "shop/web")
    assert call.duration_ns > 0


def test_a_session_that_is_known_is_answered_whatever_hangs(
    recorded: Recorded, ada: Person
) -> None:
    session = session_create(workspace=ada.workspace)
    known_sessions.expect(session, HOST)

    async def scenario() -> None:
        behind = Behind()
        app = ExtenderDeadline(behind, 0.0)
        for _ in range(3):
            start, answer = await ask(app, session.token)
            assert start["status"] == 200
            assert json.loads(answer["body"])["NodeNames"] == ["a"]
        assert behind.n_asked == 0

    asyncio.run(scenario())
    assert [run_id for run_id, _ in recorded.calls] == [session.run_id] * 3
    assert recorded.missed == []


@pytest.mark.django_db(transaction=True)
def test_a_session_that_another_process_revoked_is_forgotten(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_create(workspace=person().workspace)
    known_sessions.expect(session, HOST)
    ExtenderSession.objects.filter(pk=session.pk).update(revoked_at=timezone.now())
    monkeypatch.setattr(known, "LOOK_AGAIN_S", 0.0)

    async def scenario() -> None:
        app = ExtenderDeadline(Behind(), 0.0)
        assert (await ask(app, session.token))[0]["status"] == 200
        await asyncio.gather(*app._looking)

    asyncio.run(scenario())
    assert known_sessions.get(session.token, HOST) is None


def test_other_requests_may_take_their_time() -> None:
    async def scenario() -> None:
        behind = Behind()
        asyncio.get_running_loop().call_later(0.05, behind.goes.set)
        sent = await ask(ExtenderDeadline(behind, 0.001), path="/api/v1/snapshots/")
        assert [message.get("status") for message in sent] == [200, None]

    asyncio.run(scenario())


@pytest.fixture
def ada(db: None) -> Person:
    return person()


def test_a_scheduler_that_uses_another_name_reads_which_setting_has_the_names(ada: Person) -> None:
    body = EXCHANGES["case-01-1-filter.json"]["request"]["body"]
    answer = ada.client.post(
        "/api/v1/extender/token/filter",
        body,
        content_type="application/json",
        HTTP_HOST="10.0.0.9:8000",
    )
    assert answer.status_code == 400
    detail = answer.json()["detail"]
    assert "10.0.0.9:8000" in detail
    assert "KVIZ_ALLOWED_HOSTS" in detail
