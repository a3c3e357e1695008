"""From a run's stored inputs to the engine's events: the one place that calls the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.conf import settings

from kviz.common.extender_http import HttpTransport, read_files, refuse_files
from kviz.common.hosts import AllowedHosts
from kviz.common.mode import Mode
from kviz.out_of_tree import LoadedPlugins, OutOfTreePlugin, load_plugins
from kviz.runs.execution.extender_answers import RecordingTransport, ReplayTransport
from kviz.runs.inputs import configuration_of, invalid, scenario_of
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects, snapshot_objects_cached
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration, Problem, located
from scheduler_core.extender.transport import Transport
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim import ReenactedCycle, RunOptions, reenact_cycle, simulate
from scheduler_core.trace.events import AnyEvent


def check(*, scheduler_config: str, scenario: str) -> tuple[OutOfTreePlugin, ...]:
    """Raise InvalidInput unless the engine accepts both texts; return the plugins of others."""
    configuration = configuration_of(scheduler_config)
    scenario_of(scenario)
    try:
        plugins = load_plugins(configuration, settings.ALLOWED_PLUGINS)
        options = RunOptions(configuration=configuration, registry=plugins.registry)
        simulate([], options)  # its profiles are built at once
    except ConfigError as error:
        raise invalid("scheduler_config", located(error.problems, scheduler_config)) from error
    except PluginFailure as failure:
        raise invalid("scheduler_config", [Problem((), str(failure))]) from failure
    return plugins.out_of_tree


def simulate_run(run: Run) -> Iterator[AnyEvent]:
    """The events of a run, from its snapshot and other inputs. Raises InvalidInput.

    Its extenders are called, or answered from what they said before.
    """
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    read_file = read_files if settings.MODE == Mode.LOCAL else refuse_files
    with HttpTransport(allowed, read_file) as outgoing:
        options = _options(run, RecordingTransport(run, outgoing))
        objects = snapshot_objects_cached(snapshot=_snapshot_of(run))
        try:
            events = simulate(list(objects), options)
        except ConfigError as error:
            raise invalid("scheduler_config", error.problems) from error
        yield from events


def reenact(run: Run, cycle: int) -> ReenactedCycle | None:
    """Simulate a run again up to a cycle, and call all plugins there.

    Extenders are not called again. Raises InvalidInput, and AnswerMissing.
    """
    options = _options(run, ReplayTransport(run))
    try:
        return reenact_cycle(list(snapshot_objects(snapshot=_snapshot_of(run))), options, cycle)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def _snapshot_of(run: Run) -> Snapshot:
    if run.snapshot is None:
        raise ValueError("only a run that is observed may have no snapshot")
    return run.snapshot


def _options(run: Run, transport: Transport) -> RunOptions:
    """Everything beside the objects that decides a run. Raises InvalidInput."""
    configuration = configuration_of(run.scheduler_config)
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
        raise invalid("scheduler_config", error.problems) from error
    made_with = tuple(OutOfTreePlugin(**each) for each in run.out_of_tree_plugins)
    if plugins.out_of_tree != made_with:
        before, now = (_listed(each) for each in (made_with, plugins.out_of_tree))
        message = f"This run was made with {before}; installed now: {now}. Start a new run."
        raise invalid("scheduler_config", [Problem((), message)])
    return plugins


def _listed(plugins: Iterable[OutOfTreePlugin]) -> str:
    return ", ".join(f"plugin {plugin}" for plugin in plugins) or "no plugin of other packages"
