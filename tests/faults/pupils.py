"""A class of many browsers over real sockets: they stay connected and answer what is asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.waiting import PATIENCE_S

ASKS: Final = 2
"""The step of the lesson `requests` that asks."""
RIGHT: Final = 1
AT_A_TIME: Final = 50
PAUSE_S: Final = 5.0


class Visitor:
    """A browser: its session, and how often it was answered with which status."""

    def __init__(self, base_url: str, statuses: Counter[int]) -> None:
        self.base_url, self.statuses = base_url, statuses
        # A connection for each request: one that is kept may end as the next request is sent.
        anew = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.AsyncClient(
            base_url=base_url, timeout=PATIENCE_S, limits=anew, verify=False
        )

    async def form(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Send a form of a page."""
        shown = self._seen(await self.client.get(page))
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', shown.text)
        assert token is not None, shown.text
        data = {"csrfmiddlewaretoken": token[1], **fields}
        return self._seen(await self.client.post(action, data=data))

    async def say(self, path: str, body: object) -> httpx.Response:
        """Send what a script of a page sends."""
        headers = {"X-CSRFToken": self.client.cookies["kviz_csrf"]}
        return self._seen(await self.client.post(path, json=body, headers=headers))

    def _seen(self, answer: httpx.Response) -> httpx.Response:
        self.statuses[answer.status_code] += 1
        return answer


@dataclass
class Class:
    """A teacher at the first server, and pupils at all of them; `n_answers` were taken."""

    base_urls: Sequence[str]
    n_pupils: int
    statuses: Counter[int] = field(default_factory=Counter)
    n_answers: int = 0
    n_lost_sockets: int = 0
    n_states: int = 0
    vote: int = 0
    """The question that is put, as the class was told; 0: none."""

    async def hold(self, over: asyncio.Event) -> None:
        """Come in, have a question put, and answer it again and again until it is over."""
        teacher = Visitor(self.base_urls[0], self.statuses)
        opened = await teacher.form("/class/open/", "/class/open/lesson/requests")
        code = urlsplit(opened.headers["Location"]).path.split("/")[2]
        pupils = [
            Visitor(self.base_urls[number % len(self.base_urls)], self.statuses)
            for number in range(self.n_pupils)
        ]
        await self._all(self._join(pupil, code, f"P{n}") for n, pupil in enumerate(pupils))
        sockets = [asyncio.create_task(self._stay(pupil, code)) for pupil in pupils]
        for body in ({"do": "go", "step": ASKS}, {"do": "ask"}):
            said = await teacher.say(f"/api/v1/classes/{code}/control/", body)
            assert said.status_code == 204, said.text
        while not over.is_set():
            if self.vote:
                await self._all(self._answer(pupil, code) for pupil in pupils)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PAUSE_S):
                    await over.wait()
        for socket in sockets:
            socket.cancel()
        await asyncio.gather(*sockets, return_exceptions=True)

    async def _all(self, work: Any) -> None:
        turn = asyncio.Semaphore(AT_A_TIME)

        async def one(each: Any) -> None:
            async with turn:
                await each

        await asyncio.gather(*map(one, work))

    async def _join(self, pupil: Visitor, code: str, name: str) -> None:
        joined = await pupil.form(f"/class/{code}/", f"/class/{code}/join", name=name)
        assert joined.status_code == 302, joined.text

    async def _answer(self, pupil: Visitor, code: str) -> None:
        body = {"vote": self.vote, "answer": RIGHT}
        answer = await pupil.say(f"/api/v1/classes/{code}/answer/", body)
        self.n_answers += answer.status_code == 200

    async def _stay(self, pupil: Visitor, code: str) -> None:
        """Follow the class; a socket that the server closes is lost."""
        url = pupil.base_url.replace("http", "ws", 1) + f"/ws/class/{code}/?as=class"
        cookie = f"kviz_session={pupil.client.cookies['kviz_session']}"
        headers = {"Cookie": cookie, "Origin": pupil.base_url}
        try:
            async with connect(
                url, additional_headers=headers, compression=None, open_timeout=PATIENCE_S
            ) as live:
                async for frame in live:
                    state = json.loads(frame)
                    if state["type"] == "state":
                        self.n_states += 1
                        self.vote = (state["question"] or {}).get("vote", self.vote)
        except ConnectionClosed:
            pass
        self.n_lost_sockets += 1
