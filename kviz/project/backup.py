"""Everything in the database as one file, and back: the same file for SQLite and PostgreSQL.

A file is a zstandard stream of records, each a length (four bytes, big-endian) and MessagePack:
a head, then rows of one model at a time, then the number of rows of each model. It says which
migrations had been applied, so a later version restores it as of then and migrates what it finds.
The signing key is not in it, and neither are the texts of tokens, which kviz does not know.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import zstandard
from django.apps import apps
from django.core.management.color import no_style
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from kviz.project.data_version import Migration, check_known
from scheduler_core.api.errors import UNREADABLE

MARK: Final = "kviz-backup"
FORMAT: Final = 1
ROWS_AT_ONCE: Final = 100
MAX_RECORD_BYTES: Final = 1 << 31


class BackupProblem(Exception):
    """A backup cannot be made or restored; the message says why."""


class Head(msgspec.Struct, frozen=True, array_like=True):
    """What a file begins with."""

    mark: str
    format: int
    kviz: str
    """The version that wrote it."""
    written_at: datetime
    migrations: list[Migration]


class Rows(msgspec.Struct, frozen=True, array_like=True, tag="rows"):
    """Some rows of one model, their values in the order of `columns`."""

    model: str
    columns: list[str]
    values: list[list[Any]]


class End(msgspec.Struct, frozen=True, array_like=True, tag="end"):
    """What a whole file ends with: how many rows of each model it has."""

    n_rows: dict[str, int]


# ---------------------------------------------------------------- writing


def write_backup(path: Path, *, version: str) -> Counter[str]:
    """Write the database as it is at one moment, while others go on; count rows by model.

    Only its owner may read the file. Raises BackupProblem and NewerData.
    """
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise BackupProblem("The database is older than this kviz. Run `kviz migrate` first.")
    check_known(executor.loader.applied_migrations, executor.loader)
    head = Head(
        MARK, FORMAT, version, datetime.now(UTC), sorted(executor.loader.applied_migrations)
    )
    n_rows: Counter[str] = Counter()
    unfinished = path.with_name(path.name + ".part")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        with os.fdopen(handle, "wb") as file, compressor.stream_writer(file) as stream:
            _write_record(stream, head)
            with _one_moment():
                for model in _stored_models(apps.get_models(include_auto_created=True)):
                    for rows in _rows_of(model):
                        n_rows[rows.model] += len(rows.values)
                        _write_record(stream, rows)
            _write_record(stream, End(dict(n_rows)))
        unfinished.replace(path)
    except OSError as problem:
        raise BackupProblem(f"{path} cannot be written: {problem.strerror}.") from problem
    finally:
        unfinished.unlink(missing_ok=True)
    return n_rows


def _write_record(stream: IO[bytes], record: Head | Rows | End) -> None:
    packed = msgspec.msgpack.encode(record)
    stream.write(len(packed).to_bytes(4, "big") + packed)


@contextlib.contextmanager
def _one_moment() -> Iterator[None]:
    """Read all tables as of one moment, without holding up who writes."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")  # as settings have it, it would lock writers out
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _stored_models(found: Sequence[type[models.Model]]) -> list[type[models.Model]]:
    return [model for model in found if model._meta.managed and not model._meta.proxy]


def _rows_of(model: type[models.Model]) -> Iterator[Rows]:
    fields = model._meta.concrete_fields
    columns = [field.attname for field in fields]
    values: list[list[Any]] = []
    for row in model._base_manager.values_list(*columns).iterator(ROWS_AT_ONCE):
        values.append([_plain(field, value) for field, value in zip(fields, row, strict=True)])
        if len(values) == ROWS_AT_ONCE:
            yield Rows(model._meta.label_lower, columns, values)
            values = []
    if values:
        yield Rows(model._meta.label_lower, columns, values)


def _plain(field: models.Field[Any, Any], value: Any) -> Any:
    """Return the value as MessagePack has it; JSON stays text, as its numbers know no bounds."""
    if isinstance(field, models.JSONField):
        return None if value is None and field.null else json.dumps(value)
    return bytes(value) if isinstance(value, memoryview) else value


# ---------------------------------------------------------------- reading


def check_backup(path: Path) -> Head:
    """Read a file to its end; raise BackupProblem if it is none, or damaged, or not whole."""
    with _opened(path) as stream:
        head = _head(stream)
        for _ in _rows(stream):
            pass
    return head


def restore_backup(path: Path, *, replace: bool) -> Counter[str]:
    """Put a file's rows into the database, and bring it up to date; count rows by model.

    What the database holds goes, if `replace`. Raises BackupProblem or NewerData, and then has
    changed nothing unless the database itself fails.
    """
    head = check_backup(path)
    executor = MigrationExecutor(connection)
    check_known(head.migrations, executor.loader)
    _check_alone()
    held = _tables(executor.loader)
    if not replace and (full := [table for table in held if _has_rows(table)]):
        raise BackupProblem(
            f"The database is not empty ({', '.join(sorted(full)[:3])}). "
            "With --replace everything in it is deleted first."
        )
    _drop(held)
    executor = MigrationExecutor(connection)
    targets = _last_of(head.migrations, executor.loader)
    executor.migrate(targets)
    then = executor.loader.project_state(targets).apps
    n_rows: Counter[str] = Counter()
    with _opened(path) as stream, transaction.atomic():
        _head(stream)
        for rows in _rows(stream):
            n_rows[rows.model] += len(rows.values)
            _insert(then.get_model(rows.model), rows)
        _go_on_counting(_stored_models(then.get_models(include_auto_created=True)))
    return n_rows


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with (
            path.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=False) as stream,
        ):
            yield stream
    except OSError as problem:
        raise BackupProblem(f"{path} cannot be read: {problem.strerror}.") from problem
    except zstandard.ZstdError as problem:
        raise BackupProblem(f"{path} is no backup of kviz, or it is damaged.") from problem


def _read_record(stream: IO[bytes]) -> bytes:
    length = int.from_bytes(_exactly(stream, 4), "big")
    if length > MAX_RECORD_BYTES:
        raise BackupProblem("The file is damaged: a record says it is too long.")
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], n_bytes: int) -> bytes:
    parts = []
    while n_bytes:
        part = stream.read(n_bytes)
        if not part:
            raise BackupProblem("The file is not whole: it ends in the middle.")
        parts.append(part)
        n_bytes -= len(part)
    return b"".join(parts)


def _head(stream: IO[bytes]) -> Head:
    try:
        head = msgspec.msgpack.decode(_read_record(stream), type=Head)
    except UNREADABLE:
        raise BackupProblem("The file is no backup of kviz.") from None
    if head.mark != MARK:
        raise BackupProblem("The file is no backup of kviz.")
    if head.format != FORMAT:
        raise BackupProblem(f"The file's layout is {head.format}; this kviz reads {FORMAT}.")
    return head


def _rows(stream: IO[bytes]) -> Iterator[Rows]:
    """Read rows up to the end, and see that all are there."""
    n_rows: Counter[str] = Counter()
    while True:
        try:
            record = msgspec.msgpack.decode(_read_record(stream), type=Rows | End)
        except UNREADABLE:
            raise BackupProblem("The file is damaged.") from None
        if isinstance(record, End):
            if stream.read(1) or n_rows != Counter(record.n_rows):
                raise BackupProblem("The file is damaged: its rows are not those it counts.")
            return
        n_rows[record.model] += len(record.values)
        yield record


# ---------------------------------------------------------------- the database


def _check_alone() -> None:
    """PostgreSQL knows who else is there; of SQLite the data folder's lock tells."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        [n_others] = cursor.fetchone()
    if n_others:
        raise BackupProblem(
            f"Others use the database now ({n_others} connections). Stop servers and workers first."
        )


def _last_of(migrations: Sequence[Migration], loader: MigrationLoader) -> list[Migration]:
    """Return the migrations, one per app or more, that bring all the others with them."""
    keys = {(app, name) for app, name in migrations} & set(loader.graph.nodes)
    return sorted(
        key
        for key in keys
        if not any(child.key in keys for child in loader.graph.node_map[key].children)
    )


def _tables(loader: MigrationLoader) -> list[str]:
    """The tables of kviz there are; a database may hold those of others, too."""
    state = loader.project_state(_last_of(list(loader.applied_migrations), loader))
    ours = _stored_models(state.apps.get_models(include_auto_created=True))
    named = {model._meta.db_table for model in ours} | {"django_migrations"}
    return sorted(named & set(connection.introspection.table_names()))


def _has_rows(table: str) -> bool:
    if table == "django_migrations":
        return False
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")
        return cursor.fetchone() is not None


def _drop(tables: Sequence[str]) -> None:
    more = " CASCADE" if connection.vendor == "postgresql" else ""
    with connection.constraint_checks_disabled(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)}{more}")
        if tables and connection.vendor == "sqlite":
            cursor.execute("VACUUM")  # gives the disk back


def _insert(model: type[models.Model], rows: Rows) -> None:
    known = {field.attname: field for field in model._meta.concrete_fields}
    fields = [known[name] for name in rows.columns]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    places = ", ".join("%s" for _ in fields)
    values = [
        [_stored(field, value) for field, value in zip(fields, row, strict=True)]
        for row in rows.values
    ]
    try:
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({places})", values
            )
    except DatabaseError as problem:
        raise BackupProblem(f"The database refuses rows of {rows.model}: {problem}") from problem


def _stored(field: models.Field[Any, Any], value: Any) -> Any:
    if isinstance(field, models.JSONField):
        if value is None:
            return None
        return field.get_db_prep_value(json.loads(value), connection)
    return field.get_db_prep_save(field.to_python(value), connection)


def _go_on_counting(stored: list[type[models.Model]]) -> None:
    """Let the database number new rows from behind the restored ones."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), stored):
            cursor.execute(statement)
