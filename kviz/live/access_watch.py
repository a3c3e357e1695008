"""Open sockets are asked again, every few seconds, whether they may still be open.

A member may be let go, a token or a link revoked or expired, a session ended: a socket was let in
before that. Those who show the same (a hundred readers with one share link) are asked about once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol
from uuid import UUID
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.conf import settings

from kviz.accounts.models import Workspace
from kviz.accounts.selectors import access_of_browser, access_of_token
from kviz.live.origin import Scope, header
from kviz.runs import selectors
from kviz.runs.sharing import link_opened

log = logging.getLogger(__name__)

ASK_AGAIN_S: Final = 5.0


class Visitor(Protocol):
    """The person with an open socket, and its purpose; equal ones show the same."""

    def __hash__(self) -> int: ...

    def may_stay(self) -> bool:
        """Whether the socket would be let in now."""
        ...


def session_of(key: str | None) -> Mapping[str, Any]:
    """What is stored for a browser now; nothing once its session ended."""
    store: Mapping[str, Any] = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return store


@dataclass(frozen=True)
class RunVisitor:
    """Somebody who follows a run, and what they showed: a token, a session, a share link."""

    run_id: UUID
    bearer: str
    session_key: str | None
    share: str

    @classmethod
    def of(cls, scope: Scope, run_id: UUID, share: str) -> RunVisitor:
        scheme, _, token = header(scope, "authorization").partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" else ""
        return cls(run_id, bearer, None if bearer else scope["session"].session_key, share)

    def may_come(self) -> bool:
        """Whether they are let in; a link that lets them in was opened then."""
        workspace = self._workspace()
        if workspace is None and not self.share:
            return False
        run = selectors.run_get(run_id=self.run_id, workspace=workspace, share=self.share)
        if run is not None and (workspace is None or run.workspace_id != workspace.pk):
            link_opened(token=self.share)
        return run is not None

    def may_stay(self) -> bool:
        found = selectors.runs_visible(workspace=self._workspace(), share=self.share)
        return found.filter(pk=self.run_id).exists()

    def _workspace(self) -> Workspace | None:
        if self.bearer:
            access = access_of_token(self.bearer)
        else:
            access = access_of_browser(session_of(self.session_key))
        return access.workspace if access else None


class AccessWatch:
    """The people connected to this process."""

    def __init__(self) -> None:
        self._refusals: dict[Visitor, set[asyncio.Event]] = {}
        self._round: asyncio.Task[None] | None = None

    async def until_refused(self, visitor: Visitor) -> None:
        """Wait until a visitor may stay no longer; for as long as they do."""
        refused = asyncio.Event()
        self._refusals.setdefault(visitor, set()).add(refused)
        if self._round is None:
            self._round = asyncio.create_task(self._ask_again())
        try:
            await refused.wait()
        finally:
            self._refusals[visitor].discard(refused)
            if not self._refusals[visitor]:
                del self._refusals[visitor]
            if not self._refusals and self._round is not None:
                self._round.cancel()
                self._round = None

    async def _ask_again(self) -> None:
        ask = database_sync_to_async(_refused, thread_sensitive=False)
        while True:
            await asyncio.sleep(ASK_AGAIN_S)
            try:
                refused = await ask(list(self._refusals))
            except Exception:
                log.exception("who may stay could not be read")
                continue
            for visitor in refused:
                for event in self._refusals.get(visitor, ()):
                    event.set()


def _refused(visitors: Sequence[Visitor]) -> list[Visitor]:
    return [visitor for visitor in visitors if not visitor.may_stay()]


_access_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch] = WeakKeyDictionary()


def access_watch() -> AccessWatch:
    """The one of the running loop."""
    return _access_watches.setdefault(asyncio.get_running_loop(), AccessWatch())
