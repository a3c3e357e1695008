"""What a plugin's page says, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

UNSCHEDULABLE = "Unschedulable"
UNRESOLVABLE = "UnschedulableAndUnresolvable"
"""The node could not take the pod even if every other pod left it: no preemption there."""


@dataclass(frozen=True)
class Point:
    """What the plugin does at one extension point."""

    name: str
    text: _StrPromise


@dataclass(frozen=True)
class Reason:
    """One failure text, verbatim, with what it means and what helps."""

    text: str
    code: str
    means: _StrPromise
    helps: _StrPromise


@dataclass(frozen=True)
class Formula:
    """The arithmetic of a score; `code` is notation and stays untranslated."""

    code: str
    text: _StrPromise


@dataclass(frozen=True)
class PluginGuide:
    """One plugin. `weight` is the default Score weight, 0 for a plugin that does not score.

    `reads` names the fields it looks at; `upstream` is its folder below pkg/scheduler/framework,
    empty for a plugin of kviz's own.
    """

    name: str
    purpose: _StrPromise
    points: tuple[Point, ...]
    reads: tuple[str, ...]
    upstream: str
    weight: int = 0
    formula: Formula | None = None
    reasons: tuple[Reason, ...] = ()
    wakes: tuple[_StrPromise, ...] = ()
    settings: tuple[Point, ...] = ()
    traps: tuple[_StrPromise, ...] = ()
