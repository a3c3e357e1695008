"""What is known of the sessions that schedulers call, so that no answer waits for the database.

It is known from the page or the answer that shows its address, or else from the first call in a
process, which asks the database. Then it is looked up again now and then, outside the answers, so
that a session revoked by another process ends here, too.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from kviz.extenders import selectors
from kviz.extenders.models import ExtenderSession

MAX_PER_SECOND: Final = 300
"""Calls of a session in a process."""
LOOK_AGAIN_S: Final = 2.0
"""How old what is known of a session may become while it is called."""
MAX_KNOWN: Final = 1_000
MAX_HOSTS: Final = 16


@dataclass
class KnownSession:
    """A session as the database had it, `looked_up_s` by the monotonic clock."""

    run_id: UUID
    is_over: bool = False
    looked_up_s: float = 0.0
    hosts: set[str] = field(default_factory=set)
    """The names by which its scheduler calls kviz, which Django has found to be allowed."""
    _second: int = 0
    _n_calls: int = 0

    def calls_too_often(self) -> bool:
        """Count a call; whether it is one too many in this second."""
        if (second := int(time.time())) != self._second:
            self._second, self._n_calls = second, 0
        self._n_calls += 1
        return self._n_calls > MAX_PER_SECOND

    def is_called_by(self, host: str) -> None:
        """Note a name that Django has found to be allowed."""
        if len(self.hosts) < MAX_HOSTS:
            self.hosts.add(host)

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.looked_up_s >= LOOK_AGAIN_S


class KnownSessions:
    """The sessions that were called in this process, by token."""

    def __init__(self) -> None:
        self._known: dict[str, KnownSession] = {}

    def get(self, token: str, host: str) -> KnownSession | None:
        """A session that was called by this name before; None: the database has to be asked."""
        found = self._known.get(token)
        return found if found is not None and host in found.hosts else None

    def look_up(self, token: str) -> KnownSession | None:
        """Ask the database about a token; None if it is nobody's, or no longer."""
        session = selectors.session_of_token(token)
        if session is None:
            self.forget(token)
            return None
        return self._learn(session)

    def expect(self, session: ExtenderSession, host: str) -> None:
        """Be ready for the first call of a session, whose address was shown with this name."""
        if session.revoked_at is None:
            self._learn(session).is_called_by(host)

    def _learn(self, session: ExtenderSession) -> KnownSession:
        if session.token not in self._known and len(self._known) >= MAX_KNOWN:
            self._known.clear()
        found = self._known.setdefault(session.token, KnownSession(session.run_id))
        found.is_over, found.looked_up_s = session.run.is_over, time.monotonic()
        return found

    def forget(self, token: str) -> None:
        """Have the next call ask the database."""
        self._known.pop(token, None)


known_sessions: Final = KnownSessions()
