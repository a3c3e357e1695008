"""What is hidden is nowhere: not in a frame, not in an answer, not in the database."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.urls import URLPattern, URLResolver, get_resolver

from kviz.runs import services
from kviz.runs.known import Known
from kviz.runs.models import Run
from kviz.runs.sharing import run_share
from scheduler_core.trace import codec
from scheduler_core.trace.events import CycleStarted
from tests.classroom.people import work
from tests.waiting import PATIENCE_S
from tests.web.cast import API, CLUSTER, Person, execute, person, problem
from tests.web.test_live import path, say, socket, token

HIDDEN = "0/2 nodes are available"
"""What the last cycle, giant's, would say; nothing that was uploaded says it."""


def hidden(who: Person, after: int) -> Run:
    run = who.queued(CLUSTER, hidden_after=after)
    execute(worker="w")
    run.refresh_from_db()
    return run


def routes() -> Iterator[str]:
    """All configured addresses of a run, with the names of what stands in them."""

    def below(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for each in patterns:
            route = prefix + str(each.pattern)
            if isinstance(each, URLResolver):
                yield from below(each.url_patterns, route)
            elif "<uuid:run_id>" in route:
                yield route

    yield from below(get_resolver().url_patterns, "/")


def content(answer: Any) -> bytes:
    """All of an answer, also of one that is sent piece by piece."""

    async def pieces() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(pieces)() if answer.streaming else answer.content


def addresses(run: Run, cycle: int, pod: str) -> set[str]:
    filled = {
        "<uuid:run_id>": str(run.pk), "<int:cycle>": str(cycle), "<str:node>": "north",
        "<str:namespace>": "shop", "<str:name>": pod, "<uuid:other_id>": str(run.pk),
    }  # fmt: skip
    found = set()
    for route in routes():
        for name, value in filled.items():
            route = route.replace(name, value)
        assert "<" not in route
        found.add(route)
    return found


@pytest.mark.django_db
def test_nothing_that_is_hidden_is_stored(ada: Person) -> None:
    run = hidden(ada, 2)
    assert (run.status, run.cycles, run.is_hidden) == (Run.Status.PAUSED, 2, True)
    assert list(run.cycle_rows.values_list("number", flat=True).order_by("number")) == [1, 2]
    assert max(run.chunks.values_list("last_cycle", flat=True)) == 2
    placed = run.pod_outcomes.exclude(node="").count()
    assert placed == 2


@pytest.mark.django_db
def test_no_answer_tells_what_is_hidden(ada: Person) -> None:
    run = hidden(ada, 4)
    assert services.run_resume(run=run)  # until it is revealed it stops again
    execute(worker="w")
    shared = f"?share={run_share(run=run).token}"
    asked = sorted(addresses(run, 4, "giant") | addresses(run, 5, "giant"))
    for address in asked:
        answers = [ada.client.get(address + shared, headers=ada.headers)]
        if address.startswith(API) and "cancel" not in address:
            sent = {"changes": [], "rules": [], "cycle": 5}
            answers.append(ada.post(address.removeprefix(API) + shared, sent))
        for answer in answers:
            assert answer.status_code != 500, address
            assert HIDDEN.encode() not in content(answer), address
    assert len(asked) > 40
    assert Run.objects.get(pk=run.pk).cycles == 4


LISTS = ("/", "/runs/", "/experiments/", "/teach", "/learn/", "/class/", "/by-hand/")


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["options", "post", "put"])
def test_no_other_method_tells_what_is_hidden(ada: Person, method: str) -> None:
    run = hidden(ada, 4)
    shared = f"?share={run_share(run=run).token}"
    asked = sorted(addresses(run, 4, "giant") | addresses(run, 5, "giant"))
    for address in asked:
        if any(word in address for word in ("cancel", "delete", "reveal")):
            continue
        answer = getattr(ada.client, method)(address + shared, headers=ada.headers)
        assert answer.status_code != 500, address
        told = content(answer) + json.dumps(dict(answer.headers)).encode()
        assert HIDDEN.encode() not in told, address
    work()
    assert Run.objects.get(pk=run.pk).cycles == 4


@pytest.mark.django_db
def test_no_list_tells_what_is_hidden(ada: Person) -> None:
    run = hidden(ada, 4)
    for address in (*LISTS, f"{API}/runs/", f"{API}/snapshots/", f"{API}/experiments/"):
        answer = ada.client.get(address, headers=ada.headers)
        assert answer.status_code == 200, address
        assert HIDDEN.encode() not in content(answer), address
    assert Run.objects.get(pk=run.pk).cycles == 4


@pytest.mark.django_db
def test_what_is_refused_says_so(ada: Person) -> None:
    run = hidden(ada, 4)
    of_cycle = problem(ada.get(f"/runs/{run.pk}/cycles/5/"), 409)
    assert of_cycle["type"] == "urn:kviz:problem:veiled"
    assert problem(ada.get(f"/runs/{run.pk}/pods/shop/giant/why/"), 409)["type"] == (
        "urn:kviz:problem:veiled"
    )
    variant = {"parent": str(run.pk), "changes": ["seed 1"]}
    refused = problem(ada.post("/runs/", variant), 400)
    assert "hidden until it is revealed" in refused["errors"][0]["message"]
    for what in ("rules", "luck"):
        problem(ada.post(f"/runs/{run.pk}/{what}/", {"rules": []}), 400)
    asked = {"run": str(run.pk), "kind": "unblock", "asked": {"pod": "shop/giant"}}
    problem(ada.post("/experiments/", asked), 400)


@pytest.mark.django_db
def test_a_run_that_was_revealed_is_the_run_of_which_nothing_was_hidden(ada: Person) -> None:
    run, whole = hidden(ada, 1), ada.finished(CLUSTER)
    services.run_reveal(run=run, upto=Known(3))
    execute(worker="w")
    run.refresh_from_db()
    assert (run.status, run.cycles) == (Run.Status.PAUSED, 3)
    services.run_reveal(run=run, upto=Known(2))  # what is known stays known
    run.refresh_from_db()
    assert (run.hidden_after, run.cycles) == (3, 3)
    services.run_reveal(run=run, upto=None)
    execute(worker="w")
    run.refresh_from_db()
    assert (run.status, run.is_hidden) == (Run.Status.FINISHED, False)
    assert run.trace_hash == whole.trace_hash
    told = ada.get(f"/runs/{run.pk}/pods/shop/giant/why/").content.decode()
    assert HIDDEN in told


@sync_to_async
def _hidden() -> tuple[Person, Run]:
    ada = person()
    return ada, hidden(ada, 4)


@sync_to_async
def _reveal(run: Run) -> None:
    services.run_reveal(run=run, upto=None)
    execute(worker="w")


async def frames(line: Any, until: str) -> list[Any]:
    """Every frame up to one that holds a text, acknowledged."""
    found: list[Any] = []
    while True:
        message = await line.receive_output(timeout=PATIENCE_S)
        assert message["type"] == "websocket.send", message
        if message.get("text") is not None:
            found.append(message["text"])
            if until in message["text"]:
                return found
            continue
        found.append(message["bytes"])
        first, events = msgspec.msgpack.decode(gzip.decompress(message["bytes"]))
        await say(line, json.dumps({"ack": first + len(events) - 1}))


def cycles_in(found: list[Any]) -> list[int]:
    events = [event for each in found if isinstance(each, bytes) for event in _events(each)]
    return [event.cycle for event in events if isinstance(event, CycleStarted)]


def _events(frame: bytes) -> Any:
    return codec.read_headers(frame)[1]


@pytest.mark.django_db(transaction=True)
async def test_no_frame_tells_what_is_hidden() -> None:
    ada, run = await _hidden()
    async with socket(path(run), token(ada)) as line:
        before = await frames(line, '"paused"')
        await say(line, '{"details": [5]}')
        before += await frames(line, '"missing"')
        asked = {"preview": {"id": 1, "cycle": 5, "changes": []}}
        await say(line, json.dumps(asked))
        before += await frames(line, '"problem"')
        assert cycles_in(before) == [1, 2, 3, 4]
        told = b"".join(
            gzip.decompress(each) if isinstance(each, bytes) else each.encode() for each in before
        )
        assert b"Insufficient" not in told
        await _reveal(run)
        after = await frames(line, '"finished"')
        assert cycles_in(after) == [5]
        told = b"".join(gzip.decompress(each) for each in after if isinstance(each, bytes))
        assert b"Insufficient cpu" in told


def test_addresses_of_a_run_are_found() -> None:
    run = Run(pk=UUID(int=1))
    found = addresses(run, 1, "giant")
    assert f"{API}/runs/{run.pk}/cycles/1/" in found
    assert f"/runs/{run.pk}/explore" in found
