"""Whether data is of a later kviz than this one, as its migrations tell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from django.db import connection
from django.db.migrations.loader import MigrationLoader

Migration: TypeAlias = tuple[str, str]
"""An application and the name of a migration."""


class NewerData(Exception):
    """The data is of a later kviz; the text names a migration, and what to do."""


def check_database() -> None:
    """Raises NewerData if a later kviz has migrated the database."""
    loader = MigrationLoader(connection)
    check_known(loader.applied_migrations, loader)


def check_known(migrations: Iterable[Migration], loader: MigrationLoader) -> None:
    """Raises NewerData if one of the migrations is not of this kviz."""
    unknown = [each for each in map(tuple, migrations) if each not in loader.disk_migrations]
    if unknown:
        app, name = unknown[0]
        raise NewerData(
            f"This kviz is older than the data: it does not know the migration {app}.{name}. "
            "Install the version the data is of, or a later one."
        )
