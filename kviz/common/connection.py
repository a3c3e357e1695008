"""The connection of a thread to the database."""

from __future__ import annotations

from django.db import close_old_connections, connection


def give_back() -> None:
    """Let others have the connection of this thread, unless somebody around has a transaction."""
    if not connection.in_atomic_block:
        close_old_connections()
