"""What a trace says in kviz's words goes ahead of its chunk, in the language of who follows."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator

from kviz.runs.models import Run
from kviz.runs.reading import trace
from kviz.runs.reading.said import said_in
from scheduler_core.trace.codec import MAX_CYCLES
from scheduler_core.wording import Text
from tests.web.cast import CLUSTER, Person, crowd, execute, person
from tests.web.test_live import Headers, next_frame, path, say, socket, token
from tests.web.test_offline_page import Parsed
from tests.web.test_veil import content

pytestmark = pytest.mark.django_db(transaction=True)

SCENARIO = "steps: [{at: 1s, cordon: north}, {at: 2s, drain: nowhere}]"
GROUP = "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
WITH_GROUP = f"{CLUSTER}\n---\n{GROUP}"
SAID = {
    "zh-hans": {
        "1 PodGroup": "1 个 PodGroup",
        "Cordon node north": "封锁节点 north",
        "Drain node nowhere: there is none": "腾空节点 nowhere\uff1a没有这个对象",
    },
    "zh-hant": {
        "1 PodGroup": "1 個 PodGroup",
        "Cordon node north": "封鎖節點 north",
        "Drain node nowhere: there is none": "排空節點 nowhere\uff1a沒有這個物件",
    },
}


async def frames(communicator: ApplicationCommunicator, *, until: str) -> list[Any]:
    """What comes up to a status that says so; chunks are acknowledged."""
    found: list[Any] = []
    while not found or not isinstance(found[-1], dict) or found[-1].get("status") != until:
        found.append(await next_frame(communicator))
        if isinstance(found[-1], tuple):
            await say(communicator, json.dumps({"ack": found[-1][1]}))
    return found


@sync_to_async
def finished() -> tuple[Person, Run]:
    ada = person()
    return ada, ada.finished(WITH_GROUP, scenario=SCENARIO)


def asks_for(language: str) -> Headers:
    return [(b"accept-language", language.encode())]


@pytest.mark.parametrize("language", SAID)
async def test_who_reads_chinese_is_told_ahead_of_the_chunk(language: str) -> None:
    ada, run = await finished()
    async with socket(path(run), [*token(ada), *asks_for(language)]) as communicator:
        first, second, *_ = await frames(communicator, until="finished")
    assert first == {"type": "said", "texts": SAID[language]}
    assert isinstance(second, tuple)


async def test_who_reads_english_is_sent_the_trace_alone() -> None:
    ada, run = await finished()
    for headers in ([], asks_for("en-GB"), asks_for("fr")):
        async with socket(path(run), [*token(ada), *headers]) as communicator:
            found = await frames(communicator, until="finished")
        assert [each for each in found if isinstance(each, dict) and each["type"] == "said"] == []


async def test_a_step_that_is_veiled_is_in_no_frame() -> None:
    @sync_to_async
    def veiled() -> tuple[Person, Run]:
        ada = person()
        scenario = "steps: [{at: 1s, note: Surprise, cordon: north}]"
        run = ada.queued(CLUSTER, scenario=scenario, veiled_after=1)
        execute(worker="w")
        run.refresh_from_db()
        return ada, run

    ada, run = await veiled()
    async with socket(path(run), [*token(ada), *asks_for("zh-hans")]) as communicator:
        found = await frames(communicator, until="paused")
    assert "Surprise" not in str(found)


def page_in(ada: Person, run: Run, language: str) -> str:
    return content(ada.get(f"/runs/{run.pk}/page/", HTTP_ACCEPT_LANGUAGE=language)).decode()


def test_a_page_for_the_disk_carries_its_words(ada: Person) -> None:
    run = ada.finished(WITH_GROUP, scenario=SCENARIO)
    for language, said in SAID.items():
        text = page_in(ada, run, language)
        [(_, words)] = Parsed(text).texts("data-said")
        assert msgspec.json.decode(words) == said
    assert Parsed(page_in(ada, run, "en")).texts("data-said") == []


def test_a_note_cannot_leave_its_element(ada: Person) -> None:
    note = "x</script><script>alert(1)</script>"
    run = ada.finished(scenario=f"steps: [{{at: 1s, note: '{note}', cordon: north}}]")
    [(_, words)] = Parsed(page_in(ada, run, "zh-hans")).texts("data-said")
    assert list(msgspec.json.decode(words)) == [f"{note} (cordon node north)"]


def test_what_is_a_schedulers_own_is_not_said(ada: Person) -> None:
    run = ada.finished(crowd(3 * MAX_CYCLES), scenario=SCENARIO)
    first, *others = [said_in(chunk.headers) for chunk in trace.chunks(run=run)]
    assert first == {}
    [said] = [each for each in others if each]
    assert list(said) == ["Cordon node north", "Drain node nowhere: there is none"]
    assert all(isinstance(text, Text) for text in said.values())
