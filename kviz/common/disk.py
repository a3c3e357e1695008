"""What deleted rows leave free in SQLite's file goes back to the disk. PostgreSQL does it itself.

A new file is made such that free pages can be cut off while others work (`auto_vacuum` in the
settings), which an idle worker does some at a time. An older file is written anew once, at a start.
"""

from __future__ import annotations

import logging
from typing import Final

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper

log = logging.getLogger(__name__)

WORTH_BYTES: Final = 1 << 20
"""Less is left for what is stored next."""
PAGES_AT_ONCE: Final = 1_000
"""So that who wants to write waits a few milliseconds."""
SMALL_BYTES: Final = 256 << 20
"""A file that is written anew in a second or two."""


def free_bytes(connection: BaseDatabaseWrapper) -> int:
    """What is free within SQLite's file; 0 elsewhere."""
    if connection.vendor != "sqlite":
        return 0
    return _number(connection, "freelist_count") * _number(connection, "page_size")


def database_bytes(connection: BaseDatabaseWrapper) -> int:
    """What the database takes on its disk."""
    if connection.vendor == "sqlite":
        return _number(connection, "page_count") * _number(connection, "page_size")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [value] = cursor.fetchone()
    return int(value)


def give_back(connection: BaseDatabaseWrapper) -> bool:
    """Give some of what is free back to the disk; False if that is not worth it, or impossible."""
    if free_bytes(connection) < WORTH_BYTES or not _number(connection, "auto_vacuum"):
        return False
    with connection.cursor() as cursor:
        # Executed as other statements are, it would stop after one page.
        cursor.executescript(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")
        if free_bytes(connection) < WORTH_BYTES:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True


def renew_older_file(connection: BaseDatabaseWrapper) -> bool:
    """Write a file of an older kviz anew, if that is quick or a quarter of it is free."""
    if connection.vendor != "sqlite" or _number(connection, "auto_vacuum"):
        return False
    n_bytes = _number(connection, "page_count") * _number(connection, "page_size")
    if n_bytes > SMALL_BYTES and 4 * free_bytes(connection) < n_bytes:
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
    except DatabaseError as problem:  # the disk is too full for a second copy
        log.warning("the database cannot be made smaller: %s", problem)
        return False
    return True


def _number(connection: BaseDatabaseWrapper, pragma: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        [value] = cursor.fetchone()
    return int(value)
