"""The websocket: replay, live and reconnect are one path; strangers stay outside."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import msgspec
import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.test import Client
from pytest_django import Settings

from kviz.live import advances
from kviz.live.consumers import BAD_REQUEST, MOST_WANTED, NOT_FOUND, WINDOW
from kviz.live.details import DETAIL
from kviz.live.details import WINDOW as DETAILS_WINDOW
from kviz.project.asgi import application
from kviz.runs import services
from kviz.runs.execution.claim import run_claim
from kviz.runs.execution.record import run_execute
from kviz.runs.models import Run, TraceChunk
from kviz.runs.reading.trace import cycle_details
from kviz.runs.sharing import run_share
from kviz.runs.signals import run_advanced
from scheduler_core.trace.codec import MAX_CYCLES
from tests.waiting import PATIENCE_S
from tests.web.cast import NODES, Person, crowd, execute, person

pytestmark = pytest.mark.django_db(transaction=True)

Headers = list[tuple[bytes, bytes]]


async def connect(path: str, headers: Headers) -> tuple[ApplicationCommunicator, bool]:
    """Open a websocket as uvicorn would; tell whether it was accepted."""
    plain, _, query = path.partition("?")
    scope = {
        "type": "websocket",
        "path": plain,
        "query_string": query.encode(),
        "headers": headers,
        "subprotocols": [],
    }
    communicator = ApplicationCommunicator(application, scope)
    await communicator.send_input({"type": "websocket.connect"})
    answer = await communicator.receive_output(timeout=PATIENCE_S)
    return communicator, answer["type"] == "websocket.accept"


@asynccontextmanager
async def socket(path: str, headers: Headers) -> AsyncIterator[ApplicationCommunicator]:
    communicator, accepted = await connect(path, [(b"host", b"testserver"), *headers])
    assert accepted
    try:
        yield communicator
    finally:
        await leave(communicator)


async def leave(communicator: ApplicationCommunicator) -> None:
    await communicator.send_input({"type": "websocket.disconnect", "code": 1000})
    await communicator.wait(PATIENCE_S)


async def say(communicator: ApplicationCommunicator, text: str) -> None:
    await communicator.send_input({"type": "websocket.receive", "text": text})


def token(someone: Person) -> Headers:
    return [(b"authorization", f"Bearer {someone.token}".encode())]


def path(run: Run, after: int = -1, more: str = "") -> str:
    return f"/ws/runs/{run.pk}/?after={after}{more}"


class Detail(NamedTuple):
    """The details of a cycle as they came over the line."""

    cycle: int
    details: bytes


async def next_frame(communicator: ApplicationCommunicator) -> Any:
    """A status as a dict, a chunk as `(first_seq, last_seq, n_events)`, or a `Detail`."""
    message = await communicator.receive_output(timeout=PATIENCE_S)
    if message["type"] == "websocket.close":
        return message["code"]
    if message.get("text") is not None:
        return json.loads(message["text"])
    if message["bytes"][0] == DETAIL:
        cycle = int.from_bytes(message["bytes"][1:5], "big")
        return Detail(cycle, gzip.decompress(message["bytes"][5:]))
    first_seq, events = msgspec.msgpack.decode(gzip.decompress(message["bytes"]))
    return first_seq, first_seq + len(events) - 1, len(events)


async def follow(communicator: ApplicationCommunicator, *, until: str) -> tuple[list[Any], Any]:
    """Acknowledge every chunk until a status says so; return the chunks and that status."""
    chunks: list[Any] = []
    while True:
        frame = await next_frame(communicator)
        if isinstance(frame, dict):
            if frame["status"] == until:
                return chunks, frame
        else:
            chunks.append(frame)
            await say(communicator, json.dumps({"ack": frame[1]}))


@sync_to_async
def finished(n_pods: int = 0) -> tuple[Person, Run]:
    ada = person()
    return ada, ada.finished(crowd(n_pods)) if n_pods else ada.finished()


async def test_a_finished_run_is_replayed() -> None:
    ada, run = await finished(2 * MAX_CYCLES)
    async with socket(path(run), token(ada)) as communicator:
        chunks, status = await follow(communicator, until="finished")

    assert chunks[0][0] == 0
    assert [c[0] for c in chunks[1:]] == [c[1] + 1 for c in chunks[:-1]]
    assert chunks[-1][1] == status["last_seq"] == run.last_seq
    assert status == {
        "type": "status",
        "status": "finished",
        "cycles": 2 * MAX_CYCLES,
        "bound": 2 * MAX_CYCLES,
        "pending": 0,
        "last_seq": run.last_seq,
    }


async def test_a_client_that_comes_back_gets_what_it_misses() -> None:
    ada, run = await finished(2 * MAX_CYCLES)
    async with socket(path(run), token(ada)) as communicator:
        whole, _ = await follow(communicator, until="finished")

    async with socket(path(run, after=whole[0][1]), token(ada)) as communicator:
        rest, _ = await follow(communicator, until="finished")
    async with socket(path(run, after=run.last_seq), token(ada)) as communicator:
        nothing, _ = await follow(communicator, until="finished")

    assert rest == whole[1:]
    assert nothing == []


async def test_a_slow_client_gets_no_more_than_the_window() -> None:
    ada, run = await finished((WINDOW + 3) * MAX_CYCLES)
    async with socket(path(run), token(ada)) as communicator:
        received = [await next_frame(communicator) for _ in range(WINDOW)]
        assert await communicator.receive_nothing(timeout=0.3)

        await say(communicator, json.dumps({"ack": received[1][1]}))
        received += [await next_frame(communicator) for _ in range(2)]
        assert await communicator.receive_nothing(timeout=0.3)

        await say(communicator, json.dumps({"ack": received[-1][1]}))
        rest, status = await follow(communicator, until="finished")

    assert [*received, *rest][-1][1] == status["last_seq"]


async def test_a_run_is_followed_while_it_runs() -> None:
    ada = await sync_to_async(person)()
    run = await sync_to_async(ada.queued)(crowd(2 * MAX_CYCLES))

    def work() -> None:
        claimed = run_claim(worker="w")
        assert claimed is not None
        run_execute(run=claimed, worker="w")

    run_advanced.connect(advances.deliver)
    async with socket(path(run), token(ada)) as communicator:
        assert (await next_frame(communicator))["status"] == "queued"
        working = asyncio.create_task(sync_to_async(work, thread_sensitive=False)())
        chunks, status = await follow(communicator, until="finished")
        await working
    run_advanced.disconnect(advances.deliver)

    assert chunks[0][0] == 0
    assert chunks[-1][1] == status["last_seq"]
    assert status["cycles"] == 2 * MAX_CYCLES


async def test_news_arrive_even_when_every_hint_is_lost() -> None:
    ada = await sync_to_async(person)()
    run = await sync_to_async(ada.queued)()

    async with socket(path(run), token(ada)) as communicator:
        assert (await next_frame(communicator))["status"] == "queued"
        await sync_to_async(services.run_cancel)(run=run)
        _, status = await follow(communicator, until="cancelled")

    assert status["last_seq"] == -1


async def test_why_a_run_failed_is_sent() -> None:
    ada = await sync_to_async(person)()
    run = await sync_to_async(ada.queued)()
    await Run.objects.filter(pk=run.pk).aupdate(status="failed", error="No memory.")

    async with socket(path(run), token(ada)) as communicator:
        _, status = await follow(communicator, until="failed")

    assert status["error"] == "No memory."


async def test_a_run_that_is_deleted_ends_the_connection() -> None:
    ada = await sync_to_async(person)()
    run = await sync_to_async(ada.queued)()
    async with socket(path(run), token(ada)) as communicator:
        await next_frame(communicator)
        await sync_to_async(services.run_delete)(run=run)
        assert await next_frame(communicator) == NOT_FOUND


@pytest.mark.parametrize("share", ["", "&share=guess"])
async def test_strangers_see_nothing(share: str) -> None:
    _, run = await finished()
    ben = await sync_to_async(person)()

    async with socket(path(run, more=share), token(ben)) as communicator:
        assert await next_frame(communicator) == NOT_FOUND
    headers = [(b"authorization", b"Bearer wrong")]
    async with socket(path(run, more=share), headers) as communicator:
        assert await next_frame(communicator) == NOT_FOUND


async def test_a_share_token_opens_the_run(settings: Settings) -> None:
    settings.MODE = "server"
    _, run = await finished()
    share = (await sync_to_async(run_share)(run=run)).token
    browser = [(b"origin", b"http://testserver")]

    async with socket(path(run, more=f"&share={share}"), browser) as communicator:
        _, status = await follow(communicator, until="finished")
    assert status["cycles"] == 5


async def test_a_browser_follows_its_own_run(settings: Settings) -> None:
    settings.MODE = "server"
    client = Client()
    await sync_to_async(client.post)("/snapshots/new", {"text": NODES})
    _, run = await finished()
    workspace = await sync_to_async(lambda: client.session["workspace"])()
    await Run.objects.filter(pk=run.pk).aupdate(workspace=workspace)
    cookie = f"kviz_session={client.cookies['kviz_session'].value}".encode()
    headers = [(b"origin", b"http://testserver"), (b"cookie", cookie)]

    async with socket(path(run), headers) as communicator:
        _, status = await follow(communicator, until="finished")
    assert status["cycles"] == 5


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (b"testserver", b"http://evil.example"),
        (b"testserver", b"http://testserver:3000"),
        (b"testserver", b"null"),
        (b"testserver", None),
        (b"rebound.example", b"http://rebound.example"),
    ],
)
async def test_a_page_of_another_site_is_refused(host: bytes, origin: bytes | None) -> None:
    headers = [(b"host", host)] + ([(b"origin", origin)] if origin else [])

    communicator, accepted = await connect(f"/ws/runs/{uuid.uuid4()}/", headers)

    assert not accepted
    await leave(communicator)


@pytest.mark.parametrize("after", ["x", "", "1.5", "--1", "9" * 30])
async def test_after_must_be_a_number(after: str) -> None:
    ada, run = await finished()
    url = f"/ws/runs/{run.pk}/?after={after or '%20'}"
    async with socket(url, token(ada)) as communicator:
        assert await next_frame(communicator) == BAD_REQUEST


@sync_to_async
def recorded(run: Run, cycle: int) -> Detail:
    details = cycle_details(run_id=run.pk, cycle=cycle)
    assert details is not None
    return Detail(cycle, details)


async def ask(communicator: ApplicationCommunicator, *cycles: int) -> None:
    await say(communicator, json.dumps({"details": cycles}))


async def test_details_come_over_the_same_line_as_they_are_stored() -> None:
    ada, run = await finished()
    async with socket(path(run), token(ada)) as communicator:
        await follow(communicator, until="finished")
        await ask(communicator, 5, 2)
        received = [await next_frame(communicator) for _ in range(2)]

    assert received == [await recorded(run, 5), await recorded(run, 2)]


async def test_a_cycle_that_is_not_recorded_is_named() -> None:
    ada, run = await finished()
    async with socket(path(run), token(ada)) as communicator:
        await follow(communicator, until="finished")
        await ask(communicator, 99, 1)
        assert await next_frame(communicator) == {"type": "missing", "cycle": 99}
        assert await next_frame(communicator) == await recorded(run, 1)


async def test_details_are_sent_as_fast_as_they_are_taken_and_only_what_is_still_wanted() -> None:
    ada, run = await finished(40)
    async with socket(path(run), token(ada)) as communicator:
        await follow(communicator, until="finished")
        await ask(communicator, *range(1, 9))
        received = [await next_frame(communicator) for _ in range(DETAILS_WINDOW)]
        assert [frame.cycle for frame in received] == [1, 2, 3]
        assert await communicator.receive_nothing(timeout=0.3)

        await ask(communicator, 3, 30)  # 3 is on its way, 4 to 8 were passed
        assert await communicator.receive_nothing(timeout=0.3)
        await say(communicator, json.dumps({"got": 1}))
        assert (await next_frame(communicator)).cycle == 30
        await say(communicator, json.dumps({"got": 2}))
        assert await communicator.receive_nothing(timeout=0.3)


async def test_who_does_not_take_chunks_gets_details_all_the_same() -> None:
    ada, run = await finished((WINDOW + 1) * MAX_CYCLES)
    async with socket(path(run), token(ada)) as communicator:
        for _ in range(WINDOW):
            await next_frame(communicator)
        await ask(communicator, 7)
        assert (await next_frame(communicator)).cycle == 7


@pytest.mark.parametrize("is_following", [True, False])
async def test_the_newest_cycle_is_sent_unasked_to_who_follows(is_following: bool) -> None:
    ada = await sync_to_async(person)()
    run = await sync_to_async(ada.queued)(crowd(3))
    async with socket(path(run), token(ada)) as communicator:
        assert (await next_frame(communicator))["status"] == "queued"
        await say(communicator, json.dumps({"following": is_following}))
        await sync_to_async(execute)(worker="w")
        unasked = await details_until(communicator, cycle=3 if is_following else 0)
        await ask(communicator, 1)  # what was to come unasked comes before the second answer
        assert await next_frame(communicator) == await recorded(run, 1)
        await ask(communicator, 2)
        assert await next_frame(communicator) == await recorded(run, 2)

    assert unasked[-1:] == ([await recorded(run, 3)] if is_following else [])


async def details_until(communicator: ApplicationCommunicator, *, cycle: int) -> list[Detail]:
    """The details that come until the run is finished and those of a cycle are there; 0: of none.

    A run that takes a while is stored in parts, so others may be the newest before.
    """
    found: list[Detail] = []
    is_over = False
    while not is_over or (cycle and [each.cycle for each in found[-1:]] != [cycle]):
        frame = await next_frame(communicator)
        if isinstance(frame, Detail):
            found.append(frame)
            await say(communicator, json.dumps({"got": frame.cycle}))
        elif isinstance(frame, dict):
            is_over = frame["status"] == "finished"
    return found


async def test_what_a_viewer_says_does_not_wait_for_slow_pages() -> None:
    ada, run = await finished()
    is_read, may_go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def read_slowly() -> None:
        loop.call_soon_threadsafe(is_read.set)
        may_go_on.wait(PATIENCE_S)

    async with socket(path(run), token(ada)) as communicator:
        await follow(communicator, until="finished")
        slow_page = asyncio.create_task(sync_to_async(read_slowly)())
        await is_read.wait()
        await ask(communicator, 2)
        frame = await next_frame(communicator)
        assert not slow_page.done()
        may_go_on.set()
        await slow_page

    assert frame == await recorded(run, 2)


@pytest.mark.parametrize(
    "message",
    [
        "", "x", "[]", '{"ack": "1"}', '{"seq": 1}', "{}", '{"details": [0]}', '{"details": 1}',
        '{"ack": 1, "got": 1}', json.dumps({"details": [1] * (MOST_WANTED + 1)}),
        '{"preview": {"id": 1, "cycle": 1, "changes": ' + "[" * 3000 + "]" * 3000 + "}}",
    ],
)  # fmt: skip
async def test_nonsense_ends_the_connection(message: str) -> None:
    ada, run = await finished()
    async with socket(path(run), token(ada)) as communicator:
        await follow(communicator, until="finished")
        await say(communicator, message)
        assert await next_frame(communicator) == BAD_REQUEST


async def test_nothing_is_sent_after_nonsense() -> None:
    ada, run = await finished()
    async with socket(path(run), token(ada)) as communicator:
        await say(communicator, "x")
        while await next_frame(communicator) != BAD_REQUEST:
            pass
        assert await communicator.receive_nothing()


@pytest.fixture
def reads_of_chunks() -> Iterator[list[str]]:
    """The queries that read chunks, of whatever thread."""
    seen: list[str] = []
    watched: list[BaseDatabaseWrapper] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT") and TraceChunk._meta.db_table in sql:
            seen.append(sql)
        return execute(sql, params, many, context)

    def watch(connection: BaseDatabaseWrapper, **_: object) -> None:
        if note not in connection.execute_wrappers:
            connection.execute_wrappers.append(note)
            watched.append(connection)

    connection_created.connect(watch)
    yield seen
    connection_created.disconnect(watch)
    for connection in watched:
        connection.execute_wrappers.remove(note)


async def test_a_chunk_is_read_once_for_all_viewers(reads_of_chunks: list[str]) -> None:
    ada, run = await finished(3 * MAX_CYCLES)
    reads_of_chunks.clear()
    async with AsyncExitStack() as stack:
        viewers = [
            await stack.enter_async_context(socket(path(run), token(ada))) for _ in range(25)
        ]
        each = await asyncio.gather(*(follow(viewer, until="finished") for viewer in viewers))

    chunks, _ = each[0]
    assert len(chunks) >= 3
    assert all(found == each[0] for found in each)
    assert 1 <= len(reads_of_chunks) <= len(chunks)
