"""From a run's stored inputs to the engine's events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kviz.common.problems import ErrorItem
from scheduler_core.config import ConfigError, load_configuration
from scheduler_core.trace.events import AnyEvent

if TYPE_CHECKING:
    from kviz.runs.models import Run


class InvalidInput(Exception):
    """A run's configuration or scenario cannot be used; `errors` say where and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__("; ".join(str(error["message"]) for error in errors))


def check(*, scheduler_config: str, scenario: str) -> None:
    """Raise InvalidInput unless the engine will accept both texts."""
    if scheduler_config.strip():
        _configuration(scheduler_config)


def _configuration(text: str) -> object:
    try:
        return load_configuration(text)
    except ConfigError as error:
        raise InvalidInput(
            [
                {
                    "field": "scheduler_config",
                    "path": problem.field,
                    "message": str(problem),
                    **({"line": problem.line} if problem.line is not None else {}),
                }
                for problem in error.problems
            ]
        ) from error


def simulate_run(run: Run) -> Iterator[AnyEvent]:
    """The events of a run, from its snapshot, configuration, scenario and seed."""
    raise NotImplementedError
