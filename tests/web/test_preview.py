"""A cycle with something changed, asked over REST and over the socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator

from kviz.live import previews
from kviz.live.consumers import BAD_REQUEST, MAX_MESSAGE
from kviz.live.details import DETAIL
from kviz.live.previews import PREVIEW
from kviz.runs.execution.engine import reenact
from kviz.runs.models import Run
from kviz.runs.reading import preview
from kviz.runs.reading.held_cycles import HELD
from kviz.runs.sharing import run_share
from tests.waiting import PATIENCE_S
from tests.web.cast import API, CLUSTER, Person, person, problem
from tests.web.test_live import path as socket_path
from tests.web.test_live import say, socket, token

pytestmark = pytest.mark.django_db(transaction=True)

CORDON = {"cordon": "north"}
MSGPACK = "application/vnd.msgpack"


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    HELD._cycles.clear()
    yield
    HELD._cycles.clear()


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished(CLUSTER)


def ask(someone: Person, run: Run, cycle: int, *changes: object, **more: Any) -> Any:
    address = f"{API}/runs/{run.pk}/cycles/{cycle}/preview/"
    return someone.client.post(
        address,
        json.dumps({"changes": changes}),
        content_type="application/json",
        headers={"authorization": f"Bearer {someone.token}", **more},
    )


# ---------------------------------------------------------------- REST


def test_without_changes_the_document_is_the_recorded_one(ada: Person, run: Run) -> None:
    later = ("points", "moves", "nominations", "events", "devices")
    for cycle in range(1, run.cycles + 1):
        recorded = ada.get(f"/runs/{run.pk}/cycles/{cycle}/").json()
        answer = ask(ada, run, cycle)
        assert answer.status_code == 200
        document = answer.json()
        assert document.pop("as_recorded") is True
        assert document.pop("elapsed_us") >= 0
        assert (document.pop("gated"), document.pop("without_effect")) == (None, [])
        assert document.pop("limits") == []
        assert document.pop("verdict").startswith("The pod still ")
        for key in later:
            recorded.pop(key), document.pop(key)
        assert document == recorded


def test_a_change_decides_otherwise(ada: Person, run: Run) -> None:
    before = ada.get(f"/runs/{run.pk}/cycles/1/").json()
    document = ask(ada, run, 1, {"cordon": before["node"]}).json()
    assert document["node"] not in ("", before["node"])
    assert document["filter"][before["node"]]["plugin"] == "NodeUnschedulable"
    assert document["as_recorded"] is False
    assert ada.get(f"/runs/{run.pk}/cycles/1/").json() == before


def test_a_pod_that_would_be_held_back(ada: Person, run: Run) -> None:
    namespace, name = ada.get(f"/runs/{run.pk}/cycles/1/").json()["pod"].split("/")
    gates = {"path": "spec.schedulingGates", "value": [{"name": "wait"}]}
    change = {"set": {"kind": "Pod", "namespace": namespace, "name": name, **gates}}
    document = ask(ada, run, 1, change).json()
    assert document["gated"]["plugin"] == "SchedulingGates"
    assert "filter" not in document


def test_what_a_real_cluster_may_say_to_a_change_is_said(ada: Person, run: Run) -> None:
    namespace, name = ada.get(f"/runs/{run.pk}/cycles/1/").json()["pod"].split("/")
    change = {"path": "spec.nodeSelector.disk", "value": "ssd"}
    pod = {"kind": "Pod", "namespace": namespace, "name": name}
    [limit] = ask(ada, run, 1, CORDON, {"set": pod | change}).json()["limits"]
    assert limit["field"] == "changes[1]"
    assert limit["message"].startswith("spec.nodeSelector of an existing pod cannot change")


def test_scripts_may_have_the_events(ada: Person, run: Run) -> None:
    answer = ask(ada, run, 1, CORDON, accept=MSGPACK)
    assert answer["Content-Type"] == MSGPACK
    found = msgspec.msgpack.decode(answer.content)
    assert [event[0] for event in found["events"]][:2] == ["NodeUpdated", "CycleStarted"]
    assert found["world"] == 1
    assert next(event[0] for event in found["details"]) == "FilterColumns"
    assert ask(ada, run, 99, accept=MSGPACK)["Content-Type"] == "application/problem+json"


def test_what_is_wrong_is_named_with_its_field(ada: Person, run: Run) -> None:
    taint = {"taint": {"node": "north", "key": "k", "effect": "Never"}}
    document = problem(ask(ada, run, 1, CORDON, taint), 400)
    assert [each["field"] for each in document["errors"]] == ["changes[1].taint.effect"]
    document = problem(ask(ada, run, 1, {"cordon": "nowhere"}), 400)
    assert [each["field"] for each in document["errors"]] == ["changes[0]"]
    bad = {"config": "kind: KubeSchedulerConfiguration\nprofiles: 3\n"}
    document = problem(ask(ada, run, 1, bad), 400)
    assert document["errors"][0]["field"].startswith("changes[0]")
    many = [CORDON] * (preview.MAX_CHANGES + 1)
    assert "at most 100" in problem(ask(ada, run, 1, *many), 400)["errors"][0]["message"]


def test_whoever_has_the_link_may_ask(ben: Person, run: Run) -> None:
    share = run_share(run=run).token
    response = ben.client.post(
        f"{API}/runs/{run.pk}/cycles/1/preview/?share={share}",
        json.dumps({"changes": []}),
        content_type="application/json",
        headers={"authorization": f"Bearer {ben.token}"},
    )
    assert response.status_code == 200


def test_one_run_is_simulated_at_a_time(ada: Person, run: Run) -> None:
    with HELD.one_at_a_time:
        answer = ask(ada, run, 1)
    assert problem(answer, 503)["type"] == "urn:kviz:problem:busy"
    assert answer["Retry-After"]
    assert ask(ada, run, 1).status_code == 200
    with HELD.one_at_a_time:
        assert ask(ada, run, 1, CORDON).status_code == 200, "it is held by now"


# ---------------------------------------------------------------- over the socket


async def request(line: ApplicationCommunicator, id: int, cycle: int, *changes: object) -> None:
    await say(line, json.dumps({"preview": {"id": id, "cycle": cycle, "changes": changes}}))


async def answer(line: ApplicationCommunicator) -> Any:
    """Return what next is about a preview: text as it is, an answer with its `id`."""
    while True:
        message = await line.receive_output(timeout=PATIENCE_S)
        if message["type"] == "websocket.close":
            return message["code"]
        if message.get("text") is not None:
            text = json.loads(message["text"])
            if text["type"] == "preview":
                return text
        elif message["bytes"][0] == PREVIEW:
            found = msgspec.msgpack.decode(gzip.decompress(message["bytes"][5:]))
            return {"id": int.from_bytes(message["bytes"][1:5], "big"), **found}


async def final(line: ApplicationCommunicator) -> Any:
    """Return what is said next that is no progress."""
    while "reenacting" in (found := await answer(line)):
        pass
    return found


@sync_to_async
def finished() -> tuple[Person, Run]:
    ada = person()
    return ada, ada.finished(CLUSTER)


async def test_a_preview_comes_in_the_encoding_of_details() -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        await request(line, 7, 1)
        progress = await answer(line)
        assert progress["reenacting"]["of"] == 1
        assert progress["reenacting"]["cycles"] == 0
        found = await final(line)
        await say(line, json.dumps({"details": [1]}))
        while (message := await line.receive_output(timeout=PATIENCE_S)).get("bytes", b" ")[
            0
        ] != DETAIL:
            pass
    assert found["id"] == 7
    assert found["as_recorded"]
    assert found["details"] == msgspec.msgpack.decode(gzip.decompress(message["bytes"][5:]))


async def test_the_next_preview_of_a_cycle_is_answered_at_once() -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        await request(line, 1, 1)
        await final(line)
        await request(line, 2, 1, CORDON)
        found = await answer(line)
    assert found["id"] == 2
    assert [event[0] for event in found["events"][: found["world"]]] == ["NodeUpdated"]


async def test_the_newest_request_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, run = await finished()
    at_work, go_on = threading.Event(), threading.Event()
    packed = previews._packed

    def slowly(*args: Any) -> bytes:
        at_work.set()
        assert go_on.wait(PATIENCE_S)
        return packed(*args)

    monkeypatch.setattr(previews, "_packed", slowly)
    async with socket(socket_path(run), token(ada)) as line:
        await request(line, 1, 1)
        await asyncio.to_thread(at_work.wait, PATIENCE_S)
        for id in (2, 3, 4):
            await request(line, id, 1, CORDON)
        go_on.set()
        assert (await final(line))["id"] == 1
        assert (await final(line))["id"] == 4


async def test_answers_wait_until_earlier_ones_are_acknowledged() -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        for id in range(1, previews.WINDOW + 1):
            await request(line, id, 1)
            assert (await final(line))["id"] == id
        await request(line, 8, 1)
        await request(line, 9, 1)
        assert await line.receive_nothing(0.3)
        await say(line, json.dumps({"previewed": 1}))
        assert (await final(line))["id"] == 9


async def test_another_cycle_ends_the_simulation_for_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada, run = await finished()
    at_work = threading.Event()

    def endlessly(run: Run, cycle: int, progress: Any) -> Any:
        until = time.monotonic() + PATIENCE_S
        while cycle == 2 and time.monotonic() < until:
            at_work.set()
            progress(0)
        return reenact(run, cycle, progress)

    monkeypatch.setattr("kviz.runs.reading.held_cycles.reenact", endlessly)
    async with socket(socket_path(run), token(ada)) as line:
        await request(line, 1, 2)
        await asyncio.to_thread(at_work.wait, PATIENCE_S)
        await request(line, 2, 1)
        assert (await final(line))["id"] == 2
    assert [cycle for _, cycle in HELD._cycles] == [1]


async def test_a_preview_waits_while_another_cycle_is_simulated() -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        with HELD.one_at_a_time:
            await request(line, 1, 1)
            while not (told := await answer(line))["reenacting"].get("waiting"):
                pass
            assert told["id"] == 1
        assert (await final(line))["id"] == 1


async def test_problems_are_those_of_rest() -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        await request(line, 1, 1, {"cordon": "nowhere"})
        refused = (await final(line))["problem"]
        assert (refused["status"], refused["errors"][0]["field"]) == (400, "changes[0]")
        await request(line, 2, 99)
        assert (await final(line))["problem"]["status"] == 404
        await sync_to_async(Run.objects.filter(pk=run.pk).update)(engine_version="0")
        await request(line, 3, 2)
        refused = (await final(line))["problem"]
        assert (refused["status"], refused["type"]) == (409, "urn:kviz:problem:cannot-reenact")


@pytest.mark.parametrize(
    "text",
    [
        '{"preview": {"id": -1, "cycle": 1, "changes": []}}',
        '{"preview": {"id": 1, "cycle": 0, "changes": []}}',
        '{"preview": {"id": 1, "cycle": 1, "changes": {}}}',
        '{"preview": {"id": 1, "cycle": 1}}',
        '{"previewed": "1"}',
        " " * (MAX_MESSAGE + 1),
    ],
)
async def test_nonsense_ends_the_connection(text: str) -> None:
    ada, run = await finished()
    async with socket(socket_path(run), token(ada)) as line:
        await say(line, text)
        assert await answer(line) == BAD_REQUEST
