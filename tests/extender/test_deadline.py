"""A scheduler that waits for kviz is answered in time, whatever hangs behind it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from kviz.extenders import asked, incoming
from kviz.extenders.incoming import Verb
from kviz.extenders.observer import ObservedCall
from kviz.extenders.recorder import recorder
from kviz.project.extender_deadline import MAX_HANGING, PROBE_S, ExtenderDeadline
from tests.extender.recordings import EXCHANGES
from tests.web.cast import Person, person

BODY = b'{"Pod": {"metadata": {"name": "web", "namespace": "shop"}}, "NodeNames": ["a"]}'
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


async def ask(app: ExtenderDeadline, path: str = "/api/v1/extender/token/filter") -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app({"type": "http", "method": "POST", "path": path, "run": "run"}, receive, send)
    return sent


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ObservedCall]]:
    calls: list[tuple[Any, ObservedCall]] = []
    monkeypatch.setattr(recorder, "record", lambda run_id, call: calls.append((run_id, call)))
    return calls


def test_a_question_that_hangs_gets_503_and_the_next_are_refused_unasked(
    recorded: list[tuple[Any, ObservedCall]],
) -> None:
    async def scenario() -> None:
        behind, now_s = Behind(), [0.0]
        app = ExtenderDeadline(behind, 0.01, lambda: now_s[0])
        assert (await ask(app))[0]["status"] == 503
        assert (await ask(app))[0]["status"] == 503
        assert behind.n_asked == 1
        now_s[0] += PROBE_S
        assert (await ask(app))[0]["status"] == 503
        assert behind.n_asked == 2
        for _ in range(2 * MAX_HANGING):
            now_s[0] += PROBE_S
            await ask(app)
        assert behind.n_asked == MAX_HANGING
        behind.goes.set()
        await asyncio.gather(*app._hanging)
        assert (await ask(app))[0]["status"] == 200
        assert not [message for message in await ask(app) if message.get("status") == 503]

    asyncio.run(scenario())
    assert len(recorded) == 2  # of the two that were answered, none of those that were not


def test_a_call_is_recorded_after_its_answer_with_the_time_since_it_came(
    recorded: list[tuple[Any, ObservedCall]],
) -> None:
    async def scenario() -> None:
        behind = Behind()
        behind.goes.set()
        await ask(ExtenderDeadline(behind, 60.0))

    asyncio.run(scenario())
    ((run_id, call),) = recorded
    assert (run_id, call.verb, call.exchange.pod) == ("run", Verb.FILTER, "shop/web")
    assert call.duration_ns > 0


def test_other_requests_may_take_their_time() -> None:
    async def scenario() -> None:
        behind = Behind()
        asyncio.get_running_loop().call_later(0.05, behind.goes.set)
        sent = await ask(ExtenderDeadline(behind, 0.001), "/api/v1/snapshots/")
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
