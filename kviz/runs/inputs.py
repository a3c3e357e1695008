"""From a run's stored inputs to the engine's events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from kviz.common.hosts import AllowedHosts
from kviz.common.problems import ErrorItem
from kviz.out_of_tree import LoadedPlugins, OutOfTreePlugin, load_plugins
from kviz.runs.scenario_fit import misfits
from kviz.snapshots.selectors import snapshot_objects, snapshot_objects_kept
from scheduler_core.config import (
    ConfigError,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    load_configuration,
    located,
)
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim import (
    ReenactedCycle,
    RunOptions,
    Scenario,
    ScenarioError,
    load_scenario,
    reenact_cycle,
    simulate,
)
from scheduler_core.trace.events import AnyEvent

if TYPE_CHECKING:
    from kviz.runs.models import Run
    from kviz.snapshots.models import Snapshot
    from scheduler_core.extender.transport import Transport


class InvalidInput(Exception):
    """A run's configuration or scenario cannot be used; `errors` say where and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__("; ".join(str(error["message"]) for error in errors))


class AnswerMissing(Exception):
    """The run has not kept what an extender said to a question."""

    def __init__(self) -> None:
        super().__init__("What its extenders answered is not kept.")


def no_answers(run: Run) -> Transport | None:
    """Stand in for what runs keep of their extenders' answers."""
    return None


kept_answers: Callable[[Run], Transport | None] = no_answers
"""Gives what a run's extenders answered, without asking them. Set by whoever keeps the answers."""


def check(*, scheduler_config: str, scenario: str) -> tuple[OutOfTreePlugin, ...]:
    """Raise InvalidInput unless the engine accepts both texts; return the plugins of others."""
    configuration = _configuration(scheduler_config)
    scenario_of(scenario)
    try:
        plugins = load_plugins(configuration, settings.ALLOWED_PLUGINS)
        options = RunOptions(configuration=configuration, registry=plugins.registry)
        simulate([], options)  # its profiles are built at once
    except ConfigError as error:
        raise _invalid("scheduler_config", located(error.problems, scheduler_config)) from error
    except PluginFailure as failure:
        raise _invalid("scheduler_config", [Problem((), str(failure))]) from failure
    return plugins.out_of_tree


def extender_warnings(scheduler_config: str) -> list[ErrorItem]:
    """Say which extenders a run will not be allowed to call, at their lines.

    Raises InvalidInput.
    """
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    problems = [
        Problem(("extenders", i, "urlPrefix"), f"{refusal} (docs/operation.md)")
        for i, extender in enumerate(_configuration(scheduler_config).extenders)
        if (refusal := allowed.refusal(extender.url_prefix))
    ]
    return [_error_item("scheduler_config", each) for each in located(problems, scheduler_config)]


def check_fit(*, scenario: str, snapshot: Snapshot) -> None:
    """Raise InvalidInput if a step will not find in the cluster what it acts on."""
    if not scenario.strip():
        return
    try:
        problems = misfits(scenario, snapshot_objects(snapshot=snapshot))
    except ScenarioError as error:
        raise _invalid("scenario", error.problems) from error
    if problems:
        raise _invalid("scenario", problems)


def simulate_run(run: Run, transport: Transport | None = None) -> Iterator[AnyEvent]:
    """The events of a run, from its snapshot and other inputs. Raises InvalidInput."""
    options = run_options(run, transport)
    try:
        return simulate(list(snapshot_objects_kept(snapshot=_snapshot_of(run))), options)
    except ConfigError as error:
        raise _invalid("scheduler_config", error.problems) from error


def reenact(run: Run, cycle: int) -> ReenactedCycle | None:
    """Simulate a run again up to a cycle, and ask all plugins there.

    Extenders are not asked again. Raises InvalidInput, and AnswerMissing.
    """
    options = run_options(run, kept_answers(run))
    try:
        return reenact_cycle(list(snapshot_objects(snapshot=_snapshot_of(run))), options, cycle)
    except ConfigError as error:
        raise _invalid("scheduler_config", error.problems) from error


def _snapshot_of(run: Run) -> Snapshot:
    if run.snapshot is None:
        raise ValueError("only a run that is observed may have no snapshot")
    return run.snapshot


def run_options(run: Run, transport: Transport | None = None) -> RunOptions:
    """Everything beside the objects that decides a run. Raises InvalidInput."""
    configuration = _configuration(run.scheduler_config)
    return RunOptions(
        configuration=configuration,
        registry=_plugins_of(run, configuration).registry,
        scenario=scenario_of(run.scenario),
        seed=run.seed,
        max_cycles=settings.MAX_CYCLES,
        transport=transport,
    )


def _plugins_of(run: Run, configuration: KubeSchedulerConfiguration) -> LoadedPlugins:
    """Load the run's plugins, which must be those it was made with: a trace has one author."""
    try:
        plugins = load_plugins(configuration, settings.ALLOWED_PLUGINS)
    except ConfigError as error:
        raise _invalid("scheduler_config", error.problems) from error
    made_with = tuple(OutOfTreePlugin(**each) for each in run.out_of_tree_plugins)
    if plugins.out_of_tree != made_with:
        before, now = (_listed(each) for each in (made_with, plugins.out_of_tree))
        message = f"This run was made with {before}; installed now: {now}. Start a new run."
        raise _invalid("scheduler_config", [Problem((), message)])
    return plugins


def _listed(plugins: Iterable[OutOfTreePlugin]) -> str:
    return ", ".join(f"plugin {plugin}" for plugin in plugins) or "no plugin of other packages"


def _configuration(text: str) -> KubeSchedulerConfiguration:
    if not text.strip():
        return default_configuration()
    try:
        return load_configuration(text)
    except ConfigError as error:
        raise _invalid("scheduler_config", error.problems) from error


def scenario_of(text: str) -> Scenario:
    """Read a run's scenario; empty text is one without steps. Raises InvalidInput."""
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
