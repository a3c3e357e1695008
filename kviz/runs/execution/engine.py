"""From a run's stored inputs to the engine's events: the one place that calls the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from msgspec.structs import replace

from kviz.common.extender_http import HttpTransport, read_files, refuse_files
from kviz.common.hosts import AllowedHosts
from kviz.common.mode import Mode
from kviz.common.problems import ErrorItem
from kviz.out_of_tree import LoadedPlugins, OutOfTreePlugin, load_plugins
from kviz.runs.execution.extender_answers import RecordingTransport, ReplayTransport
from kviz.runs.inputs import (
    changes_of,
    configuration_of,
    extender_warnings,
    gates_of,
    invalid,
    panic_warnings,
    refuse_hidden,
    refuse_secrets,
    rules_of,
    scenario_of,
)
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.analysis.model.by_hand import Table
from scheduler_core.api import KubeObject
from scheduler_core.changes import ChangeAt, ChangeError, Rules, in_words, plan
from scheduler_core.changes.plan import StepAtCycle
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    KubeSchedulerConfiguration,
    Problem,
    located,
)
from scheduler_core.config.problems import Path
from scheduler_core.extender.transport import Transport
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.releases.choosing import Chosen
from scheduler_core.releases.table import TieBreak
from scheduler_core.sim import Progress, ReenactedCycle, RunOptions, reenact_cycle, simulate
from scheduler_core.sim.pending import Leads, leads_of
from scheduler_core.trace.events import AnyEvent
from scheduler_core.wording import say


def check(*, scheduler_config: str, gates: FeatureGates) -> tuple[OutOfTreePlugin, ...]:
    """Raise InvalidInput unless the engine accepts a configuration; return others' plugins."""
    configuration = configuration_of(scheduler_config, gates)
    refuse_secrets(configuration, "scheduler_config", scheduler_config)
    try:
        plugins = load_plugins(configuration, settings.ALLOWED_PLUGINS)
        options = RunOptions(configuration=configuration, features=gates, registry=plugins.registry)
        simulate([], options)  # its profiles are built at once
    except ConfigError as error:
        raise invalid("scheduler_config", located(error.problems, scheduler_config)) from error
    except PluginFailure as failure:
        raise invalid("scheduler_config", [Problem((), str(failure))]) from failure
    return plugins.out_of_tree


@dataclass(frozen=True)
class Accepted:
    """Changes that a run can be made with: what they say, and the plugins that are then enabled."""

    sentences: tuple[str, ...]
    plugins: tuple[OutOfTreePlugin, ...]


def warnings_of(
    *,
    scheduler_config: str,
    scenario: str,
    asked: Mapping[str, bool],
    chosen: Chosen,
    snapshot: Snapshot | None = None,
) -> list[ErrorItem]:
    """Raise InvalidInput unless a run can be made of these; return what it would lack, if it was.

    `asked` are the gates that are switched beside those of the scenario. With a `snapshot` it is
    told, too, in which panics its cluster leads the real scheduler.
    """
    gates = gates_of(asked=asked, scenario=scenario, chosen=chosen)
    check(scheduler_config=scheduler_config, gates=gates)
    return [
        *extender_warnings(scheduler_config, gates),
        *panic_warnings(scheduler_config, gates, snapshot),
    ]


def check_changes(
    snapshot: Snapshot, rules: Rules, changes: Sequence[ChangeAt], n_inherited: int = 0
) -> Accepted:
    """Raise InvalidInput unless changes of a cluster and of rules can be made, and then a run.

    Problems name the change by its index among those that were not inherited.
    """
    objects = list(snapshot_objects(snapshot=snapshot))
    try:
        planned = plan(objects, rules, changes)
    except ChangeError as error:
        own = [replace(each, path=_among_own(each.path, n_inherited)) for each in error.problems]
        raise invalid("changes", own) from error
    try:
        configuration, gates = planned.rules.load(), planned.rules.features()
        refuse_secrets(configuration, "changes")
        plugins = load_plugins(configuration, settings.ALLOWED_PLUGINS)
        simulate(
            [], RunOptions(configuration=configuration, features=gates, registry=plugins.registry)
        )
    except ConfigError as error:
        raise invalid("changes", error.problems) from error
    except PluginFailure as failure:
        raise invalid("changes", [Problem((), str(failure))]) from failure
    return Accepted(in_words(objects, rules, changes), plugins.out_of_tree)


def _among_own(path: Path, n_inherited: int) -> Path:
    match path:
        case ("changes", int(index), *rest):
            return ("changes", max(0, index - n_inherited), *rest)
        case _:
            return path


def simulate_run(run: Run) -> Iterator[AnyEvent]:
    """Yield the events of a run, from its snapshot and other inputs. Raises InvalidInput.

    Its extenders are called, or answered from what they said before; those of a run that is
    computed again are not called. Raises AnswerMissing then.
    """
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    read_file = read_files if settings.MODE == Mode.LOCAL else refuse_files
    with HttpTransport(allowed, read_file) as outgoing:
        recorded = ReplayTransport(run) if run.again_of_id else RecordingTransport(run, outgoing)
        objects, options = _made_of(run, recorded)
        try:
            simulated = simulate(objects, options)
        except ConfigError as error:
            raise invalid("scheduler_config", error.problems) from error
        yield from simulated


def reenact(
    run: Run, cycle: int, progress: Progress = lambda n_cycles: None
) -> ReenactedCycle | None:
    """Simulate a run again up to a cycle, to be looked at there.

    `progress` hears how many cycles have been simulated; what it raises ends the simulation.
    Extenders are not called again. Raises InvalidInput, and AnswerMissing.
    """
    objects, options = _made_of(run, ReplayTransport(run))
    try:
        return reenact_cycle(objects, options, cycle, progress)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def cluster_of(run: Run) -> tuple[list[KubeObject], RunOptions]:
    """What a run is made of, which need not be stored; its extenders are not called.

    Raises InvalidInput, also where it has extenders.
    """
    objects, options, _rules = ruled_cluster_of(run)
    return objects, options


def ruled_cluster_of(run: Run) -> tuple[list[KubeObject], RunOptions, Rules]:
    """The same, and the rules that the options were made of. Raises InvalidInput."""
    refuse_hidden(run)
    objects, options, rules = _made_by_rules(run, None, _installed)
    if options.configuration.extenders:
        text = say("run.has_extenders", "It has extenders, which are called by runs only.")
        raise invalid("scheduler_config", [Problem(("extenders",), text)])
    return objects, options, rules


def table(run: Run) -> Table:
    """A run's cluster before its first cycle, for its waiting pods to be placed by hand.

    It answers about placements and not about the run, which may be hidden. Raises InvalidInput.
    """
    objects, options = _made_of(run, None)
    try:
        return Table(objects, options)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def made_of(run: Run) -> tuple[list[KubeObject], RunOptions]:
    """What a stored run was made of, for a question about it; its extenders are not called.

    Raises InvalidInput.
    """
    return _made_of(run, None)


def replayed(run: Run) -> tuple[list[KubeObject], RunOptions]:
    """The same; its extenders answer what they did. Raises InvalidInput, and AnswerMissing."""
    return _made_of(run, ReplayTransport(run))


def max_cycle(n_nodes: int) -> int:
    """Return the last cycle up to which a run is simulated again in a cluster of `n_nodes`.

    A cycle's time grows with the nodes, from one that does not: that of some 1,000 nodes.
    """
    return max(1, settings.MAX_REENACTED_CYCLES * 2_000 // (1_000 + n_nodes))


def leads(run: Run, cycles: Collection[int]) -> Leads:
    """Simulate a run again, and say what kept the pods of some cycles from a node.

    Extenders are not called again. Raises InvalidInput, and AnswerMissing.
    """
    objects, options = _made_of(run, ReplayTransport(run))
    try:
        return leads_of(objects, options, cycles)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def _snapshot_of(run: Run) -> Snapshot:
    if run.snapshot is None:
        raise ValueError("only a run that is observed may have no snapshot")
    return run.snapshot


def _made_of(run: Run, transport: Transport | None) -> tuple[list[KubeObject], RunOptions]:
    """The objects of a run, and everything else that decides it. Raises InvalidInput."""
    objects, options, _rules = _made_by_rules(run, transport, _as_made)
    return objects, options


def _made_by_rules(
    run: Run, transport: Transport | None, plugins_of: PluginsOf
) -> tuple[list[KubeObject], RunOptions, Rules]:
    """The same, and the rules with the changes."""
    objects = list(snapshot_objects(snapshot=_snapshot_of(run)))
    rules = rules_of(run)
    later: tuple[StepAtCycle, ...] = ()
    if run.changes:
        try:
            planned = plan(objects, rules, changes_of(run))
        except ChangeError as error:
            raise invalid("changes", error.problems) from error
        objects, rules, later = planned.objects, planned.rules, planned.later
    try:
        gates = rules.features()
        configuration = rules.changed(configuration_of(rules.configuration, gates))
    except ConfigError as error:
        raise invalid("changes", error.problems) from error
    options = RunOptions(
        configuration=configuration,
        features=gates,
        registry=plugins_of(run, configuration).registry,
        scenario=scenario_of(run.scenario),
        later=later,
        seed=rules.seed,
        tie_break=cast("TieBreak", run.tie_break),
        queue_order=rules.queue_order,
        max_cycles=settings.MAX_CYCLES,
        transport=transport,
        ignored=run.snapshot.ignored if run.snapshot else {},
        left_out=tuple(run.snapshot.left_out) if run.snapshot else (),
    )
    return objects, options, rules


PluginsOf = Callable[[Run, KubeSchedulerConfiguration], LoadedPlugins]


def _installed(run: Run, configuration: KubeSchedulerConfiguration) -> LoadedPlugins:
    try:
        return load_plugins(configuration, settings.ALLOWED_PLUGINS)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def _as_made(run: Run, configuration: KubeSchedulerConfiguration) -> LoadedPlugins:
    """Load the run's plugins, which must be those it was made with: a trace has one author."""
    plugins = _installed(run, configuration)
    made_with = tuple(OutOfTreePlugin(**each) for each in run.out_of_tree_plugins)
    if plugins.out_of_tree != made_with:
        before, now = (_listed(each) for each in (made_with, plugins.out_of_tree))
        message = say(
            "run.plugins_differ",
            "This run was made with {before}; installed now: {now}. Start a new run.",
            before=before,
            now=now,
        )
        raise invalid("scheduler_config", [Problem((), message)])
    return plugins


def _listed(plugins: Iterable[OutOfTreePlugin]) -> str:
    return ", ".join(f"plugin {plugin}" for plugin in plugins) or "no plugin of other packages"
