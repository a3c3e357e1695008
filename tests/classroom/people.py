"""Who is in a class: a teacher who leads a lesson, and browsers that come in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from kviz.classroom.documents import class_document
from kviz.classroom.models import Room
from kviz.runs.execution.claim import run_claim
from kviz.runs.execution.record import run_execute

SLUG = "requests"
ASKS = 2
"""The first step that asks: how many nodes `default/web` fits; one of three."""
RIGHT, WRONG = 1, 2


def work() -> None:
    """Let a worker do what waits."""
    while (run := run_claim(worker="w")) is not None:
        run_execute(run=run, worker="w")


@dataclass
class Browser:
    """Somebody's browser: its session says who they are."""

    code: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def say(self, what: str, **more: Any) -> Any:
        """Lead the class, as far as this browser may."""
        return self._post("control", {"do": what, **more})

    def answer(self, vote: int, answer: object) -> Any:
        return self._post("answer", {"vote": vote, "answer": answer})

    def propose(self, changes: str) -> Any:
        return self._post("propose", {"changes": changes})

    def mine(self) -> Any:
        """What only this browser is told."""
        return self.client.get(f"/api/v1/classes/{self.code}/answer/").json()

    def get(self, path: str = "") -> Any:
        return self.client.get(f"/class/{self.code}/{path}")

    def _post(self, path: str, body: object) -> Any:
        url = f"/api/v1/classes/{self.code}/{path}/"
        return self.client.post(url, json.dumps(body), content_type="application/json")

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """What it opens a websocket with."""
        cookie = f"kviz_session={self.client.cookies['kviz_session'].value}"
        return [
            (b"host", b"testserver"),
            (b"origin", b"http://testserver"),
            (b"cookie", cookie.encode()),
        ]


@dataclass
class Lesson:
    """A class about a lesson, and the browser that leads it."""

    teacher: Browser

    @property
    def room(self) -> Room:
        return Room.objects.select_related("run", "run__snapshot").get(code=self.teacher.code)

    @property
    def seen(self) -> Any:
        """What the class is sent now."""
        document: Any = json.loads(json.dumps(class_document(self.room)))
        return document

    @property
    def vote(self) -> int:
        return int(self.seen["question"]["vote"])

    def lead(self, what: str, **more: Any) -> None:
        response = self.teacher.say(what, **more)
        assert response.status_code == 204, response.content
        work()

    def enter(self, name: str = "") -> Browser:
        browser = Browser(self.teacher.code)
        response = browser.client.post(f"/class/{browser.code}/join", {"name": name})
        assert response.status_code == 302
        return browser


def open_lesson(slug: str = SLUG, client: Client | None = None) -> Lesson:
    browser = Browser("", client or Client(raise_request_exception=False))
    response = browser.client.post(f"/class/open/lesson/{slug}")
    assert response.status_code == 302, response.content
    browser.code = response.headers["Location"].split("/")[2]
    work()
    return Lesson(browser)
