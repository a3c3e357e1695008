"""The pages there are: those that come with kviz, and those of a folder that was named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from kviz.companion.reading import BUNDLED, Reading, read_reading
from kviz.lessons.library import SUFFIXES
from scheduler_core.config.problems import ConfigError, Problem

FOLDER: Final = "reading"
"""Beside the lessons of a folder, where its pages are."""


@dataclass(frozen=True)
class Shelf:
    """Pages by the name of their file, and what is wrong with others, by file."""

    readings: Mapping[str, Reading]
    broken: Mapping[Path, tuple[Problem, ...]]


@cache
def shelf(lessons_folder: str = "") -> Shelf:
    """Read the pages that come with kviz and those beside the lessons of a folder, once."""
    own = Path(lessons_folder) / FOLDER if lessons_folder else None
    folders = [BUNDLED, *([own] if own and own.is_dir() else [])]
    readings: dict[str, Reading] = {}
    broken: dict[Path, tuple[Problem, ...]] = {}
    for file in (file for folder in folders for file in sorted(folder.iterdir())):
        if file.suffix not in SUFFIXES:
            continue
        try:
            readings[file.stem] = read_reading(file.read_text(encoding="utf-8"))
        except ConfigError as error:
            broken[file] = tuple(error.problems)
        except (OSError, UnicodeDecodeError) as error:
            broken[file] = (Problem((), str(error)),)
    return Shelf(readings, broken)
