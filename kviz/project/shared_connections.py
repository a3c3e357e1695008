"""A process that serves has a bounded number of connections to PostgreSQL, which its threads share.

Each request is answered in a separate thread, so a connection per thread would be one per request
that is under way. A thread takes one from psycopg's pool with its first query and gives it back
when its answer is made (`kviz.common.middleware.GiveBack`), or waits for one.

Only processes that serve have a pool: a worker has one connection, and its copies would inherit the
pool's.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import connection

PATIENCE_S: Final = 20.0
"""How long a thread waits for a connection; then the answer is 503, as that of a busy SQLite."""
IDLE_S: Final = 60.0
"""How long connections stay open that nobody needs any more."""
AGAIN_S: Final = 5.0
"""How long the pool tries to connect for waiting threads; the next one makes it try again."""


def share_connections() -> None:
    """Have all threads of this process share connections from now on, where it is PostgreSQL.

    None may be open yet.
    """
    if connection.vendor != "postgresql":
        return
    connection.settings_dict["OPTIONS"]["pool"] = {
        "min_size": 0,
        "max_size": settings.DATABASE_CONNECTIONS,
        "timeout": PATIENCE_S,
        "max_idle": IDLE_S,
        "reconnect_timeout": AGAIN_S,
    }
