"""The lessons there are: those that come with kviz, and those of a folder that was named.

Beside a lesson there may be its texts in other languages (`texts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from kviz.lessons.lesson import Lesson
from kviz.lessons.reading import read_lesson
from kviz.lessons.texts import lesson_and_language, read_texts
from scheduler_core.config.problems import ConfigError, Problem

BUNDLED: Final = Path(__file__).parent / "bundled"
SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class StoredLesson:
    """A lesson with its place: `slug` is the file's name without number and ending.

    `languages` has it with the texts of each file beside it, by language (`zh-hans`).
    """

    slug: str
    path: Path
    sha256: str
    lesson: Lesson
    languages: tuple[tuple[str, Lesson], ...] = ()


@dataclass(frozen=True)
class Library:
    """Lessons in order of their files' names, and what is wrong with the others, by file."""

    lessons: tuple[StoredLesson, ...]
    broken: tuple[tuple[Path, tuple[Problem, ...]], ...] = ()

    def get(self, slug: str) -> StoredLesson | None:
        return next((each for each in self.lessons if each.slug == slug), None)


def slug_of(path: Path) -> str:
    number, _, rest = path.stem.partition("-")
    return rest if number.isdigit() and rest else path.stem


def bundled_files() -> list[Path]:
    return _files_in(BUNDLED)


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)


@cache
def library(folder: str = "") -> Library:
    """Read the lessons that come with kviz and those of a folder, once per process."""
    files = bundled_files() + (_files_in(Path(folder)) if folder else [])
    return read_library(files)


def read_library(files: Sequence[Path]) -> Library:
    """Read lessons and what other languages they are in; of two with one slug the later counts."""
    found: dict[str, StoredLesson] = {}
    broken: list[tuple[Path, tuple[Problem, ...]]] = []
    for path in sorted(files, key=lambda path: lesson_and_language(path) is not None):
        try:
            stored_lesson = _read(path, found)
        except OSError as error:
            broken.append((path, (Problem((), str(error.strerror)),)))
        except UnicodeDecodeError:
            broken.append((path, (Problem((), "not UTF-8 text"),)))
        except ConfigError as error:
            broken.append((path, tuple(error.problems)))
        else:
            found[stored_lesson.slug] = stored_lesson
    return Library(tuple(found.values()), tuple(broken))


def _read(path: Path, found: Mapping[str, StoredLesson]) -> StoredLesson:
    """Read a lesson, or add the texts of a file to one. Raises ConfigError, OSError."""
    data = path.read_bytes()
    belongs = lesson_and_language(path)
    if belongs is None:
        return StoredLesson(
            slug_of(path), path, sha256(data).hexdigest(), read_lesson(data.decode())
        )
    file, language = belongs
    stored_lesson = found.get(slug_of(file))
    if stored_lesson is None or stored_lesson.path.parent != path.parent:
        raise ConfigError([Problem((), f"there is no lesson {file.name} beside it")])
    lesson, _ = read_texts(stored_lesson.lesson, data.decode())
    return replace(stored_lesson, languages=(*stored_lesson.languages, (language, lesson)))
