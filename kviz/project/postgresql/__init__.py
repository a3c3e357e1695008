"""Django's PostgreSQL, with connections that the threads of a process that serves share."""

from __future__ import annotations

from django.db import connection


def share_connections() -> None:
    """Have all threads of this process share connections from now on, where it is PostgreSQL.

    None may be open yet.
    """
    if connection.vendor == "postgresql":
        from kviz.project.postgresql.base import DatabaseWrapper  # psycopg is an extra

        DatabaseWrapper.shares = True
