"""What a page beside a text is: its rows, and the places that they open.

A reading is a value that was read from a file. No sentence of the text stands in it, only where
the text is, and what is so today.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as File
from typing import Final, Literal

from kviz.lessons.lesson import Fact, Moment
from kviz.reference.form import Part, Prose, read
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located

CONTEXT: Final = "reading"
"""Of these texts in the catalogues."""
BUNDLED: Final = File(__file__).with_name("bundled")

Kind = Literal["same", "renamed", "different", "gone", "elsewhere"]
"""How what a section tells stands to today; `elsewhere`: not the scheduler, but another program."""

View = Literal["explorer", "model", "optimum", "luck", "run", "why"]
"""What of the run is opened: the Explorer, or one of its pages."""


class Shown(Fact, frozen=True, kw_only=True):
    """What a row promises of its run, as a lesson's question asks it, and the answer."""

    equals: str | int | tuple[str, ...]


class Place(Moment, frozen=True, kw_only=True):
    """Where a row leads: a moment in the run of a sample, of a lesson, or of a cluster of the file.

    `look` says what one sees there; `shows` proves it of the run, `words` of the screen: they stand
    on the English one.
    """

    sample: str = ""
    lesson: str = ""
    cluster: str = ""
    view: View = "explorer"
    look: Prose = Prose()
    words: tuple[str, ...] = ()
    shows: tuple[Shown, ...] = ()


class See(Part, frozen=True):
    """A page that is no run: one of these. `document` may have an anchor (`NAME#ANCHOR`)."""

    glossary: str = ""
    """A term or a group of terms, by its id."""
    plugin: str = ""
    old_word: str = ""
    """A row of *Then and now*, by its id."""
    document: str = ""
    lesson: str = ""

    @property
    def named(self) -> tuple[str, str]:
        """Which kind it is, and the name there; empty unless it is exactly one."""
        given = [(name, value) for name in self.__struct_fields__ if (value := getattr(self, name))]
        return given[0] if len(given) == 1 else ("", "")


class Row(Part, frozen=True):
    """A section or figure of the text: what is so today, and where it can be seen.

    `not_shown` says why it cannot be.
    """

    about: Prose
    kind: Kind
    now: Prose
    section: str = ""
    figure: int = 0
    at: Place | None = None
    see: tuple[See, ...] = ()
    not_shown: Prose = Prose()


class Setting(Part, frozen=True):
    """A cluster of the file: a sample, or objects, with the other inputs of its run."""

    title: Prose
    sample: str = ""
    objects: str = ""
    scheduler_config: str = ""
    scenario: str = ""
    release: str = ""


class Reading(Part, frozen=True):
    """The page of a text; `speaks_of` is the release or model that it tells of.

    `language` is the text's own, as its readers call it; `figures` how many it has.
    """

    title: Prose
    about: Prose
    speaks_of: Prose
    language: Prose
    rows: tuple[Row, ...]
    figures: int = 0
    clusters: Mapping[str, Setting] = {}


def is_reading(text: str) -> bool:
    """Whether a file of YAML is such a page, and not a lesson."""
    return any(line.startswith("rows:") for line in text.splitlines())


def read_reading(text: str) -> Reading:
    """Return the page that a file has. Raises ConfigError."""
    reading = read(text, Reading)
    if problems := list(_wrong(reading)):
        raise ConfigError(located(problems, text))
    return reading


def _wrong(reading: Reading) -> Iterator[Problem]:
    """What the types do not say."""
    if not reading.rows:
        yield Problem(("rows",), "at least one is required")
    for name, setting in reading.clusters.items():
        if bool(setting.sample) == bool(setting.objects):
            text = "names a sample, or holds objects: one of them"
            yield Problem(("clusters", name), text)
    missing = set(range(1, reading.figures + 1)) - {row.figure for row in reading.rows}
    if missing:
        text = f"no row has figure {', '.join(map(str, sorted(missing)))}"
        yield Problem(("figures",), text)
    for i, row in enumerate(reading.rows):
        yield from _wrong_row(row, reading, ("rows", i))


def _wrong_row(row: Row, reading: Reading, path: Path) -> Iterator[Problem]:
    if row.at is None and not row.see and not row.not_shown:
        yield Problem(path, "leads nowhere: give it at, see, or the reason as not_shown")
    if row.at is not None:
        given = [each for each in (row.at.sample, row.at.lesson, row.at.cluster) if each]
        if len(given) != 1:
            yield Problem((*path, "at"), "one of sample, lesson and cluster is required")
        elif row.at.cluster and row.at.cluster not in reading.clusters:
            text = f'the file has no cluster "{row.at.cluster}"'
            yield Problem((*path, "at", "cluster"), text)
        if row.at.view == "model" and not row.at.cycle:
            yield Problem((*path, "at", "cycle"), "the model is of a cycle: name one")
        if row.at.view == "why" and not row.at.pod:
            yield Problem((*path, "at", "pod"), "why is asked of a pod: name one")
    for j, see in enumerate(row.see):
        if not see.named[0]:
            names = ", ".join(See.__struct_fields__)
            yield Problem((*path, "see", j), f"exactly one of {names} is required")


@cache
def bundled_readings() -> tuple[Reading, ...]:
    """The pages that come with kviz, in English. Raises ValueError, which names the file."""
    return tuple(_bundled(file) for file in sorted(BUNDLED.glob("*.yaml")))


def _bundled(file: File) -> Reading:
    try:
        return read_reading(file.read_text(encoding="utf-8"))
    except ConfigError as error:
        raise ValueError(f"{file.name}: {error}") from error
