"""`kviz lesson`: lessons are checked by running them, and begun from a template."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import WrongUsage
from kviz.companion.checking import check_reading
from kviz.companion.reading import BUNDLED, is_reading, read_reading
from kviz.lessons.checking import Checked, check_lesson, check_texts
from kviz.lessons.library import bundled_files
from kviz.lessons.reading import read_lesson
from kviz.lessons.template import TEMPLATE
from kviz.lessons.texts import lesson_and_language
from scheduler_core.config import ConfigError


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "lesson",
        description="Lessons are files (docs/lessons.md).",
    )
    what = command.add_subparsers(title="what to do", metavar="WHAT", required=True)
    check = what.add_parser(
        "check",
        help="check lessons and pages beside texts: their fields, moments, answers and tasks",
        description="Read lessons and pages beside texts (docs/lessons.md), run their clusters, "
        "and see that every moment exists, that every right answer and every promise is what the "
        "engine says, and that every task can be done. Exits with 1 if anything is wrong.",
    )
    check.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="(default: those that come with kviz)"
    )
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.set_defaults(run=run_check)
    template = what.add_parser(
        "template", help="print a small lesson to begin with", description=run_template.__doc__
    )
    template.set_defaults(run=run_template)


def run_template(options: argparse.Namespace) -> int:
    """Print a small lesson that passes `kviz lesson check`, with every part explained."""
    print(TEMPLATE, end="")
    return 0


def run_check(options: argparse.Namespace) -> int:
    named = options.files or [*bundled_files(), *sorted(BUNDLED.glob("*.yaml"))]
    files = [each for path in named for each in _with_texts(path)]
    found = {path: _checked(path) for path in files}
    if options.json:
        print(json.dumps({"lessons": [_document(*each) for each in found.items()]}))
    else:
        for path, checked in found.items():
            for problem in checked.problems:
                print(f"{path}: {problem}")
            if not checked.problems and checked.texts:
                print(f"{path}: fine: all {checked.texts} texts are there")
            elif not checked.problems:
                print(
                    f"{path}: fine: {checked.moments} moments, {checked.answers} answers and "
                    f"{checked.tasks} tasks are as the engine says"
                )
    return 1 if any(checked.problems for checked in found.values()) else 0


def _with_texts(path: Path) -> list[Path]:
    """Return a lesson's file, and those with its texts in other languages."""
    beside = sorted(path.parent.glob(f"{path.stem}.*{path.suffix}"))
    return [path, *(each for each in beside if lesson_and_language(each))]


def _checked(path: Path) -> Checked:
    """Raise WrongUsage for a file that cannot be read."""
    belongs = lesson_and_language(path)
    try:
        if belongs:
            return check_texts(read_lesson(_text(belongs[0])), _text(path))
        text = _text(path)
        if is_reading(text):
            return check_reading(read_reading(text), text)
        return check_lesson(read_lesson(text), text)
    except ConfigError as error:
        return Checked(0, 0, 0, list(error.problems))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongUsage(f"{path}: not UTF-8 text") from error


def _document(path: Path, checked: Checked) -> dict[str, object]:
    problems = [
        {"line": each.line, "field": each.field, "message": each.message}
        for each in checked.problems
    ]
    counts = {
        "moments": checked.moments,
        "answers": checked.answers,
        "tasks": checked.tasks,
        "texts": checked.texts,
    }
    return {"file": str(path), "valid": not problems, **counts, "problems": problems}
