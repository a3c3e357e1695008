"""A class that knows a cycle up to a point: no student is sent what comes after that point."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from kviz.snapshots.services import samples_load
from tests.classroom.people import Browser, Lesson, open_lesson
from tests.classroom.test_class_socket import path, until
from tests.web.test_live import socket

pytestmark = pytest.mark.django_db(transaction=True)

TOTALS = re.compile(r"(?<![\w-])(423|419)(?![\w-])")
"""What the two feasible nodes of the lesson's first cycle come to, as a number of its own."""

ASKED = (
    *("", "cycles/", "cycles/1/", "cycles/1/model/", "cycles/1/nodes/compare-1/"),
    *("cycles/1/evidence/", "pods/batch/join-0/why/"),
)
"""Below the run's address."""


@sync_to_async
def opened(slug: str = "scores") -> tuple[Lesson, Browser]:
    samples_load()
    lesson = open_lesson(slug)
    return lesson, lesson.enter("Mina")


@sync_to_async
def looked_up(mina: Browser, explore: str) -> list[str]:
    """All that Mina finds by asking for what the moment is made of."""
    address, _, query = explore.partition("?")
    run = address.split("/")[2]
    share = re.search(r"share=([^&]+)", query)
    assert share is not None
    answers = [mina.get(), mina.client.get(explore), mina.client.get(f"{explore}&view=tables")]
    answers += [mina.client.get(f"/api/v1/runs/{run}/{what}?share={share[1]}") for what in ASKED]
    assert {each.status_code for each in answers} <= {200, 409}
    return [each.content.decode() for each in answers]


def states(frame: dict[str, Any]) -> dict[str, tuple[str, str]]:
    nodes = frame["picture"]["nodes"]
    return {node["name"]: (node["state"], node["says"]) for node in nodes}


async def test_no_total_reaches_a_student_before_it_is_revealed() -> None:
    lesson, mina = await opened()
    lead, seen = sync_to_async(lesson.lead), list[str]()
    async with socket(path(mina), mina.headers) as line:
        await until(line, lambda frame: frame["number"] == 1, seen)
        await lead("go", step=2)  # without "Reveal": the step before reveals normalised scores
        frame = await until(line, lambda frame: frame["picture"] and frame["cycle"] == 1, seen)
        assert not frame["is_waiting"]
        assert states(frame)["compare-1"] == states(frame)["compare-2"] == ("feasible", "")
        assert "chosen" not in json.dumps(frame["picture"])
        await lead("ask")
        await until(line, lambda frame: frame["question"], seen)
        for told in (*seen, *await looked_up(mina, frame["explore"])):
            assert not TOTALS.search(told), told
        await lead("reveal")
        after = await until(
            line, lambda frame: states(frame)["compare-2"] != ("feasible", ""), seen
        )
        assert states(after)["compare-2"] == ("feasible", "419")
        assert any(TOTALS.search(told) for told in await looked_up(mina, frame["explore"]))


async def test_a_node_is_nominated_only_when_that_is_revealed() -> None:
    """The dry runs are known before; the projector goes on all the while."""
    lesson, mina = await opened("preemption")
    lead, seen = sync_to_async(lesson.lead), list[str]()
    async with socket(path(mina), mina.headers) as line:
        await until(line, lambda frame: frame["number"] == 1, seen)
        await lead("reveal")
        frame = await until(line, lambda frame: frame["picture"] and frame["cycle"] == 1, seen)
        assert states(frame)["node-5"] == ("rejected", "NodeResourcesFit")
        await lead("go", step=2)
        await until(line, lambda frame: frame["number"] == 2, seen)
        assert '"nominated"' not in "".join(seen)
        await lead("reveal")
        after = await until(line, lambda frame: frame["question"] and not frame["is_waiting"], seen)
        assert states(after)["node-5"] == ("nominated", "")
