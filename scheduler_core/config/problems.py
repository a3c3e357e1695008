"""What can be wrong with a configuration.

    ConfigError             raised; carries every problem found
      .problems             Problem(path, message, line)

Messages keep upstream's wording, so that a search for them finds its documentation. What kviz says
itself, alone or after that, is a text that can be translated.
Upstream: v1.36 staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from scheduler_core.wording import SEMICOLON, Text, say, series


class ByName(str):
    """A step of a path into a list: the element whose `name` is this string."""

    __slots__ = ()


Path: TypeAlias = tuple[str | int, ...]
"""Steps from the root: a field name, a list index, or `ByName`."""


def path_text(path: Path) -> str:
    """The path as upstream prints it: `profiles[0].plugins.score`."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif isinstance(step, ByName):
            parts.append(f"[name={step}]")
        else:
            parts.append(f".{step}" if parts else step)
    return "".join(parts)


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong: where in the document, what, and on which line (from 1)."""

    path: Path
    message: str
    line: int | None = None

    @property
    def field(self) -> str:
        return path_text(self.path)

    @property
    def sentence(self) -> str:
        """What is wrong and where, as one text."""
        text = self.message
        if self.path:
            text = say("list.what_why", "{what}: {why}", what=self.field, why=text)
        return (
            text
            if self.line is None
            else say("config.line", "line {n}: {what}", n=self.line, what=text)
        )

    def __str__(self) -> str:
        return str(self.sentence)


class ConfigError(Exception):
    """A configuration is refused. `problems` is never empty."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(series((problem.sentence for problem in self.problems), SEMICOLON))


def invalid(path: Path, value: object, detail: str) -> Problem:
    """Refuse a value; where the detail is a text of kviz, all of it can be translated."""
    shown = _shown(value)
    if isinstance(detail, Text):
        return Problem(
            path,
            say(
                "config.invalid_value",
                "Invalid value: {value}: {detail}",
                value=shown,
                detail=detail,
            ),
        )
    return Problem(path, f"Invalid value: {shown}: {detail}")


def required(path: Path, detail: str = "") -> Problem:
    return Problem(path, f"Required value: {detail}" if detail else "Required value")


def forbidden(path: Path, detail: str) -> Problem:
    return Problem(path, f"Forbidden: {detail}")


def duplicate(path: Path, value: object) -> Problem:
    return Problem(path, f"Duplicate value: {_shown(value)}")


def not_supported(path: Path, value: str, supported: Sequence[str]) -> Problem:
    names = ", ".join(_shown(name) for name in supported)
    return Problem(path, f"Unsupported value: {_shown(value)}: supported values: {names}")


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
