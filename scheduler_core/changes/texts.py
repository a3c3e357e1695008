"""Lists of changes as text: a file, or lines as one types them into a form or a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.ingest import ingest
from scheduler_core.changes.lines import ChangeError, ReadFile, read_line, refuse_files
from scheduler_core.changes.reading import ChangeReader
from scheduler_core.changes.vocabulary import Change, Put, UseConfiguration
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located, text_value
from scheduler_core.config.types import KIND, JsonValue

MAX_CHANGES = 1_000
"""In one list."""


def read_changes(values: Sequence[JsonValue], at: Path = ("changes",)) -> tuple[Change, ...]:
    """Read changes as REST, deep links and run files carry them: documents, or lines.

    Raises ChangeError with every problem, below the path `at`.
    """
    if len(values) > MAX_CHANGES:
        raise ChangeError([Problem(at, f"at most {MAX_CHANGES:,} changes; got {len(values):,}")])
    problems: list[Problem] = []
    changes = [_change(value, (*at, i), problems) for i, value in enumerate(values)]
    if problems:
        raise ChangeError(problems)
    return tuple(change for change in changes if change is not None)


def _change(value: JsonValue, at: Path, problems: list[Problem]) -> Change | None:
    if not isinstance(value, str):
        return ChangeReader(problems).change(value, at)
    try:
        return read_line(value)
    except ConfigError as error:
        problems.extend(Problem((*at, *each.path), each.message) for each in error.problems)
        return None


def read_lines(text: str) -> tuple[Change, ...]:
    """Read changes, one per line; empty lines and those that begin with `#` say nothing.

    Raises ChangeError with every problem, each with its line.
    """
    problems: list[Problem] = []
    changes = []
    for number, line in lines_of_changes(text):
        try:
            changes.append(read_line(line))
        except ConfigError as error:
            problems.extend(Problem(each.path, each.message, number) for each in error.problems)
    if len(changes) > MAX_CHANGES:
        problems.append(Problem((), f"at most {MAX_CHANGES:,} changes; got {len(changes):,}"))
    if problems:
        raise ChangeError(problems)
    return tuple(changes)


def lines_of_changes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def read_file_of_changes(
    name: str, data: bytes, read_file: ReadFile = refuse_files
) -> tuple[Change, ...]:
    """Read a YAML or JSON file: a change, a list of changes, a configuration, or plain objects.

    Objects, in as many documents as there are, are created, or replaced where they are there.
    Raises ChangeError; problems have their lines where these can be found.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ChangeError([Problem((), "not UTF-8 text")]) from None
    value = _one_document(text)
    if isinstance(value, dict) and value.get("kind") == KIND:
        return (UseConfiguration(text),)
    if value is None or (isinstance(value, dict) and {"apiVersion", "kind"} & value.keys()):
        return (Put(tuple(_objects(name, data))),)
    values = value if isinstance(value, list) else [value]
    try:
        return tuple(_listed(values, isinstance(value, list), read_file))
    except ChangeError as error:
        raise ChangeError(located(error.problems, text)) from None


def _one_document(text: str) -> JsonValue:
    """Return the text's only document, None for several, and for what is no plain value.

    Such text is read as objects, which says best what is wrong with it.
    """
    try:
        return text_value(text)
    except ConfigError:
        return None


def _listed(values: list[JsonValue], in_list: bool, read_file: ReadFile) -> Iterable[Change]:
    problems: list[Problem] = []
    changes: list[Change | None] = []
    for i, value in enumerate(values):
        at: Path = (i,) if in_list else ()
        if isinstance(value, str):
            try:
                changes.append(read_line(value, read_file))
            except ConfigError as error:
                problems.extend(Problem((*at, *each.path), each.message) for each in error.problems)
        else:
            changes.append(ChangeReader(problems).change(value, at))
    if problems:
        raise ChangeError(problems)
    return [change for change in changes if change is not None]


def _objects(name: str, data: bytes) -> ClusterObjects:
    found = ingest([(name, data)])
    problems = [Problem((), str(error)) for error in found.errors]
    problems += [Problem((), f"{kind} is no kind that is modelled") for kind in found.ignored]
    if problems:
        raise ChangeError(problems)
    return found.objects
