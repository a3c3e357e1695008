"""Brings Django up for the commands that need it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kviz.command_line.problems import CommandFailed
from kviz.environment import prepare_data_dir

PREPARING: Final = 0x6B76697A
"""The number of PostgreSQL's advisory lock."""


def start_django(*, migrate: bool) -> Path:
    """Prepare the data folder, set Django up, bring the database up to date if asked to.

    Returns the data folder. Raises CommandFailed for data of a later kviz to be brought up to date.
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
            refuse_newer_data()
            call_command("migrate", interactive=False, verbosity=0)
        renew_older_file(connection)
    return folder


def refuse_newer_data() -> None:
    """Raises CommandFailed if a later kviz has written the database."""
    from kviz.project.data_version import NewerData, check_database

    try:
        check_database()
    except NewerData as problem:
        raise CommandFailed(str(problem)) from None


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
