"""The lessons there are: those that come with kviz, and those of a folder that was named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from kviz.lessons.lesson import Lesson
from kviz.lessons.reading import read_lesson
from scheduler_core.config.problems import ConfigError, Problem

BUNDLED: Final = Path(__file__).parent / "bundled"
SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Shelved:
    """A lesson with its place: `slug` is the file's name without number and ending."""

    slug: str
    path: Path
    sha256: str
    lesson: Lesson


@dataclass(frozen=True)
class Library:
    """Lessons in order of their files' names, and what is wrong with the others, by file."""

    lessons: tuple[Shelved, ...]
    broken: tuple[tuple[Path, tuple[Problem, ...]], ...] = ()

    def get(self, slug: str) -> Shelved | None:
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
    """Read lessons; of two with one slug the later one counts."""
    found: dict[str, Shelved] = {}
    broken: list[tuple[Path, tuple[Problem, ...]]] = []
    for path in files:
        try:
            data = path.read_bytes()
            lesson = read_lesson(data.decode())
        except OSError as error:
            broken.append((path, (Problem((), str(error.strerror)),)))
        except UnicodeDecodeError:
            broken.append((path, (Problem((), "not UTF-8 text"),)))
        except ConfigError as error:
            broken.append((path, tuple(error.problems)))
        else:
            slug = slug_of(path)
            found[slug] = Shelved(slug, path, sha256(data).hexdigest(), lesson)
    return Library(tuple(found.values()), tuple(broken))
