"""A lesson's texts in another language: a file beside the lesson's, with these texts alone.

`mine.zh-Hans.yaml` belongs to `mine.yaml` and has its shape: what is no text is left out. A text
that is not there stays as the lesson has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as File
from typing import Final, TypeVar

import msgspec

from kviz.lessons.lesson import Lesson
from kviz.reference.form import Part
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located, text_value

TEXTS: Final = frozenset(
    {"title", "about", "summary", "text", "ask", "unit", "because", "hint", "notes", "says"}
)

_NAME: Final = re.compile(r"(.+)\.([A-Za-z]{2,3}(?:-[A-Za-z]{2,8})?)")

AnyPart = TypeVar("AnyPart", bound=Part)


def lesson_and_language(file: File) -> tuple[File, str] | None:
    """Return whose texts a file has, and in which language, `zh-hans`; None for a lesson."""
    found = _NAME.fullmatch(file.stem)
    return found and (file.with_name(found[1] + file.suffix), found[2].lower())


def read_texts(lesson: Lesson, text: str) -> tuple[Lesson, list[Problem]]:
    """Return a lesson with the texts of a file, and which are missing. Raises ConfigError."""
    wanted, given = dict(_texts_of(lesson, ())), dict(_leaves(text_value(text), ()))
    wrong = [Problem(path, "the lesson has no such text") for path in given if path not in wanted]
    wrong += [
        Problem(path, "must be a text")
        for path, value in given.items()
        if path in wanted and not isinstance(value, str)
    ]
    if wrong:
        raise ConfigError(located(wrong, text))
    texts = {path: value for path, value in given.items() if isinstance(value, str)}
    missing = [Problem(path, "is not translated") for path in wanted if path not in texts]
    return _with_texts(lesson, (), texts), missing


def n_texts(lesson: Lesson) -> int:
    """Return how many texts a lesson has."""
    return sum(1 for _ in _texts_of(lesson, ()))


def _texts_of(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Part):
        for name in value.__struct_fields__:
            inner = getattr(value, name)
            if name in TEXTS and isinstance(inner, str) and inner.strip():
                yield (*path, name), inner
            yield from _texts_of(inner, (*path, name))
    elif isinstance(value, tuple):
        for i, each in enumerate(value):
            yield from _texts_of(each, (*path, i))


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, (*path, str(name)))
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from _leaves(each, (*path, i))
    else:
        yield path, value


def _with_texts(part: AnyPart, path: Path, texts: Mapping[Path, str]) -> AnyPart:
    changed = {
        name: _replaced(getattr(part, name), (*path, name), texts)
        for name in part.__struct_fields__
    }
    return msgspec.structs.replace(part, **changed)


def _replaced(value: object, path: Path, texts: Mapping[Path, str]) -> object:
    if isinstance(value, Part):
        return _with_texts(value, path, texts)
    if isinstance(value, tuple):
        return tuple(_replaced(each, (*path, i), texts) for i, each in enumerate(value))
    return texts.get(path, value)
