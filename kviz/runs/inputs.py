"""From a run's stored inputs to the engine's events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from kviz.common.problems import ErrorItem
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.config import (
    ConfigError,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    load_configuration,
    located,
)
from scheduler_core.sim import RunOptions, Scenario, ScenarioError, load_scenario, simulate
from scheduler_core.trace.events import AnyEvent

if TYPE_CHECKING:
    from kviz.runs.models import Run
    from scheduler_core.extender.transport import Transport


class InvalidInput(Exception):
    """A run's configuration or scenario cannot be used; `errors` say where and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__("; ".join(str(error["message"]) for error in errors))


def check(*, scheduler_config: str, scenario: str) -> None:
    """Raise InvalidInput unless the engine accepts both texts."""
    configuration = _configuration(scheduler_config)
    _scenario(scenario)
    try:
        simulate([], RunOptions(configuration=configuration))  # its profiles are built at once
    except ConfigError as error:
        raise _invalid("scheduler_config", located(error.problems, scheduler_config)) from error


def simulate_run(run: Run, transport: Transport | None = None) -> Iterator[AnyEvent]:
    """The events of a run, from its snapshot and other inputs. Raises InvalidInput."""
    options = RunOptions(
        configuration=_configuration(run.scheduler_config),
        scenario=_scenario(run.scenario),
        seed=run.seed,
        max_cycles=settings.MAX_CYCLES,
        transport=transport,
    )
    return simulate(list(snapshot_objects(snapshot=run.snapshot)), options)


def _configuration(text: str) -> KubeSchedulerConfiguration:
    if not text.strip():
        return default_configuration()
    try:
        return load_configuration(text)
    except ConfigError as error:
        raise _invalid("scheduler_config", error.problems) from error


def _scenario(text: str) -> Scenario:
    if not text.strip():
        return Scenario()
    try:
        return load_scenario(text)
    except ScenarioError as error:
        raise _invalid("scenario", error.problems) from error


def _invalid(field: str, problems: Iterable[Problem]) -> InvalidInput:
    return InvalidInput([_error_item(field, problem) for problem in problems])


def _error_item(field: str, problem: Problem) -> ErrorItem:
    message = f"{problem.field}: {problem.message}" if problem.path else problem.message
    item: dict[str, str | int] = {"field": field, "path": problem.field, "message": message}
    if problem.line is not None:
        item["line"] = problem.line
    return item
