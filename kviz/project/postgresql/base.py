"""Django's PostgreSQL, with a pool that knows when the server is away."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from django.conf import settings
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from kviz.project.postgresql.pool import BUSY_S, Pool, Watched


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's way to PostgreSQL."""

    shares: ClassVar[bool] = False
    """Whether the threads of this process share connections."""
    _connection_pools: ClassVar[dict[str, Pool]]
    _configure_connection: Callable[[Watched], bool]

    @property
    def pool(self) -> Pool | None:
        """Where connections are taken from and given back to; None: each thread has its own."""
        if not self.shares or self.alias == NO_DB_ALIAS:
            return None
        if self.alias not in self._connection_pools:
            parameters = self.get_connection_params() | {"autocommit": True}
            new = Pool(settings.DATABASE_CONNECTIONS, parameters, self._configure)
            self._connection_pools.setdefault(self.alias, new)
        return self._connection_pools[self.alias]

    def _configure(self, new: Watched) -> None:
        self._configure_connection(new)
        new.execute(f"SET lock_timeout = '{BUSY_S:.0f}s'")
