"""YAML: the one door to its two libraries.

`ryaml` reads values, fast, and knows no lines; it refuses a key that is given twice. PyYAML knows
the position of everything; it is slow, and used only for errors and for writing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final, Literal, Protocol

import ryaml

_POSITION: Final = re.compile(r" at line (\d+) column \d+")


class NotYaml(ValueError):
    """A text is not YAML; `line` is that of the problem if it is known."""

    def __init__(self, message: str) -> None:
        found = _POSITION.search(message)
        self.line = int(found[1]) if found else None
        super().__init__(message)


class Mark(Protocol):
    """A place in a text, counted from 0."""

    line: int
    index: int


class Node(Protocol):
    """A part of a text: a scalar's `value` is its text, of the others pairs or items."""

    id: Literal["scalar", "sequence", "mapping"]
    value: Any
    start_mark: Mark
    end_mark: Mark


def value(text: str) -> Any:
    """Return what one document holds. Raises NotYaml and RecursionError."""
    try:
        return ryaml.loads(text)  # type: ignore[attr-defined]
    except ValueError as error:
        raise NotYaml(str(error)) from None


def values(text: str) -> list[Any]:
    """Return what each document holds. Raises NotYaml and RecursionError."""
    try:
        return ryaml.load_all(io.StringIO(text)) or []
    except ValueError as error:
        raise NotYaml(str(error)) from None


def trees(text: str) -> Iterator[Node]:
    """Yield the documents with the places of all their parts. Ends where it is no YAML.

    In JSON a tab may indent, in YAML not; a blank in its place keeps every place.
    """
    import yaml

    try:
        roots: Iterator[Any] = yaml.compose_all(text.replace("\t", " "), Loader=yaml.SafeLoader)
        yield from roots
    except (yaml.YAMLError, RecursionError):
        return


def written(document: object) -> str:
    """Return plain data as YAML, in its order."""
    import yaml

    try:
        from yaml import CSafeDumper as Dumper
    except ImportError:  # PyYAML was built without libyaml
        from yaml import SafeDumper as Dumper  # type: ignore[assignment]
    text: str = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    return text
