"""A page beside a text held against the engine: every place exists and shows what it promises."""

from __future__ import annotations

from collections.abc import Iterator

from kviz.companion.pages_named import is_there
from kviz.companion.reading import Place, Reading, Row
from kviz.companion.staging import NoSuchLesson, staged
from kviz.lessons.checking import Checked, problems_of_moment
from kviz.lessons.enacting import Enacted, enact
from kviz.lessons.facts import NoSuchFact, agrees, fact_of
from kviz.lessons.lesson import Lesson, Question
from kviz.lessons.library import Library, library
from kviz.samples import sample_named
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located


def check_reading(reading: Reading, text: str, lessons: Library | None = None) -> Checked:
    """Simulate what a page opens, and look up what it promises there; `text` is its file."""
    runs: dict[str, Enacted | list[Problem]] = {}
    lessons = library() if lessons is None else lessons
    problems: list[Problem] = []
    for i, row in enumerate(reading.rows):
        problems += _of_row(row, reading, lessons, runs, ("rows", i))
    places = [row.at for row in reading.rows if row.at]
    return Checked(
        moments=len(places),
        answers=sum(len(place.shows) for place in places),
        tasks=0,
        problems=located(problems, text),
    )


def _of_row(
    row: Row,
    reading: Reading,
    lessons: Library,
    runs: dict[str, Enacted | list[Problem]],
    path: Path,
) -> Iterator[Problem]:
    for j, see in enumerate(row.see):
        kind, name = see.named
        if not is_there(see, lessons):
            yield Problem((*path, "see", j, kind), f'there is no "{name}"')
    if row.at is None:
        return
    at = (*path, "at")
    if row.at.sample and sample_named(row.at.sample) is None:
        yield Problem((*at, "sample"), f'there is no sample "{row.at.sample}"')
        return
    try:
        stage = staged(row.at, reading, lessons)
    except NoSuchLesson:
        yield Problem((*at, "lesson"), f'there is no lesson "{row.at.lesson}"')
        return
    key = f"{row.at.sample} {row.at.lesson} {row.at.cluster}"
    if key not in runs:
        runs[key] = _enacted(stage)
    run = runs[key]
    if isinstance(run, list):
        yield from (Problem((*at, *each.path), each.message) for each in run)
        return
    yield from problems_of_moment(row.at, run, at)
    yield from _of_promises(row.at, run, at)


def _enacted(stage: Lesson) -> Enacted | list[Problem]:
    """The run, or what is wrong with its inputs."""
    try:
        return enact(stage)
    except ConfigError as error:
        return list(error.problems)


def _of_promises(place: Place, run: Enacted, path: Path) -> Iterator[Problem]:
    for i, shown in enumerate(place.shows):
        asked = Question(ask="", kind="number", answer=shown.equals, fact=shown)
        try:
            found = fact_of(asked, run)
        except NoSuchFact as error:
            yield Problem((*path, "shows", i), str(error))
            continue
        if not agrees(shown.equals, found):
            text = f"is {shown.equals!r}; the engine says {found!r}"
            yield Problem((*path, "shows", i, "equals"), text)
