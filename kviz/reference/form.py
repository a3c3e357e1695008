"""The one form of texts that are data: YAML files whose schema is a msgspec struct."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as File
from typing import Any, Final, TypeVar, cast

import msgspec

from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located, text_value

T = TypeVar("T")

_WHERE: Final = re.compile(r" - at `\$(.*)`$")
_PATH_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"unknown field `(.*?)`")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A mapping of such a file; a field it does not have is an error."""


class Prose(str):
    """A text that is translated; everything else in a file is the same in every language."""

    __slots__ = ()


def read(text: str, schema: type[T]) -> T:
    """Return what a text holds. Raises ConfigError, whose problems name field and line."""
    try:
        return msgspec.convert(text_value(text), schema, dec_hook=_prose)
    except msgspec.ValidationError as error:
        raise ConfigError(located([_problem(str(error))], text)) from error


def read_file(file: File, schema: type[T]) -> T:
    """Return what a file of kviz's own holds. Raises ValueError, which names file and field."""
    try:
        return read(file.read_text(encoding="utf-8"), schema)
    except ConfigError as error:
        raise ValueError(f"{file.name}: {error}") from error


def prose_of(value: object) -> Iterator[Prose]:
    """Yield the texts in a value that are translated, in its order."""
    if isinstance(value, Prose):
        yield value
    for each in _parts(value):
        yield from prose_of(each)


def with_prose(value: T, put: Callable[[str], object]) -> T:
    """Return a value in which each text that is translated is what `put` makes of it."""
    return cast("T", _put(value, put))


def _put(value: Any, put: Callable[[str], object]) -> object:
    if isinstance(value, Prose):
        return put(value)
    if isinstance(value, msgspec.Struct):
        fields = {name: _put(getattr(value, name), put) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, dict):
        return {name: _put(each, put) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(_put(each, put) for each in value)
    return value


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, msgspec.Struct):
        yield from (getattr(value, name) for name in value.__struct_fields__)
    elif isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, tuple):
        yield from value


def _prose(kind: type, value: object) -> object:
    if kind is Prose and isinstance(value, str):
        return Prose(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def _problem(text: str) -> Problem:
    where = _WHERE.search(text)
    steps = _PATH_STEP.findall(where[1]) if where else []
    path: Path = tuple(int(index) if index else name for name, index in steps)
    if unknown := _UNKNOWN.search(text):
        path = (*path, unknown[1])
    return Problem(path, _WHERE.sub("", text))
