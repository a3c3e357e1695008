"""Brings Django up for the commands that need it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kviz.environment import prepare_data_dir

PREPARING: Final = 0x6B76697A
"""The number of PostgreSQL's advisory lock."""


def start_django(*, migrate: bool) -> Path:
    """Prepare the data folder, set Django up, bring the database up to date if asked to.

    Returns the data folder.
    """
    folder = prepare_data_dir()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kviz.project.settings")

    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    if migrate:
        from kviz.common.disk import renew_older_file

        with one_at_a_time():
            call_command("migrate", interactive=False, verbosity=0)
        renew_older_file(connection)
    return folder


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other process prepares the database; of SQLite the folder's lock makes sure."""
    from django.db import connection

    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PREPARING])
