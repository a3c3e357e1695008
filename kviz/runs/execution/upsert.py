"""Many rows at once, inserted or updated: what a running simulation stores all the time.

The ORM's `bulk_create` builds SQL for every batch again, which costs more than simulating. This is
plain SQL that SQLite and PostgreSQL both read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast
from uuid import UUID

from django.db import connection, models

Field: TypeAlias = "models.Field[object, object]"
Value = bool | int | str | UUID | None


def upsert(
    model: type[models.Model],
    fields: Sequence[str],
    rows: Sequence[Sequence[Value]],
    *,
    unique: Sequence[str],
) -> None:
    """Insert rows, whose values align with `fields`; where `unique` is taken, update instead.

    Values are as the database wants them (`get_db_prep_save` has been applied where it matters).
    """
    quote = connection.ops.quote_name
    found = {name: cast("Field", model._meta.get_field(name)) for name in fields}
    columns = {name: quote(field.column) for name, field in found.items()}
    changes = ", ".join(
        f"{column} = EXCLUDED.{column}" for name, column in columns.items() if name not in unique
    )
    sql = (
        f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(columns.values())}) "
        f"VALUES ({', '.join(['%s'] * len(columns))}) "
        f"ON CONFLICT ({', '.join(columns[name] for name in unique)}) DO UPDATE SET {changes}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)
