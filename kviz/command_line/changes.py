"""`--change`, and what a command's run is made of: with and without the changes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import asked_gates, gates_of, scenario_text
from kviz.out_of_tree import LoadedPlugins, OutOfTreePlugin, load_plugins
from scheduler_core.api import KubeObject, Node
from scheduler_core.api.ingest import Ingested
from scheduler_core.changes import (
    Change,
    ChangeAt,
    ChangeError,
    Rules,
    apply,
    changed_rules,
    in_words,
    is_line,
    limits,
    line_of,
    read_file_of_changes,
    read_line,
)
from scheduler_core.changes.plan import later_steps
from scheduler_core.changes.rules import weighted
from scheduler_core.changes.vocabulary import SwitchGate, UseConfiguration
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration
from scheduler_core.releases.choosing import chosen_release, release_told
from scheduler_core.sim import RunOptions, Scenario, load_scenario

# Plugins beyond kube-scheduler's, for commands that run a configuration.


def plugins_for(configuration: KubeSchedulerConfiguration, path: Path | None) -> LoadedPlugins:
    """Load the plugins that the configuration of a file enables, and say which are not upstream's.

    Raises CommandFailed.
    """
    try:
        plugins = load_plugins(configuration)
    except ConfigError as error:
        raise CommandFailed(f"{path}: {error}") from error
    for plugin in plugins.out_of_tree:
        print(f"kviz: note: runs plugin {plugin}, {_whose(plugin)}", file=sys.stderr)
    return plugins


def _whose(plugin: OutOfTreePlugin) -> str:
    if plugin.is_own:
        return "kviz's own for teaching: no kube-scheduler has it"
    return "which is not part of kviz"


def add_change_option(command: argparse.ArgumentParser) -> None:
    """Offer changes, made before the run begins."""
    command.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="C",
        help="what is different (docs/changes.md): 'node/NAME cordon', 'config FILE', "
        "'pod/NS/NAME set PATH=VALUE', ..., or a YAML file of changes or objects",
    )
    command.set_defaults(fork_at=0)


def add_fork_option(command: argparse.ArgumentParser) -> None:
    """Offer to make the changes in the middle of the run."""
    command.add_argument(
        "--fork-at",
        type=_cycle,
        default=0,
        metavar="CYCLE",
        help="make the changes when this cycle would begin; until then the run is the same",
    )


def _cycle(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a cycle")
    return int(text)


def changes_of(options: argparse.Namespace) -> tuple[Change, ...]:
    """The changes that the command line names. Raises WrongUsage."""
    return tuple(change for text in options.change for change in _changes(text))


def _changes(text: str) -> tuple[Change, ...]:
    try:
        if is_line(text) and not _is_file(text):
            return (read_line(text, _text_of),)
        return read_file_of_changes(text, _bytes_of(text), _text_of)
    except ConfigError as error:
        raise WrongUsage(f"--change {text!r}: {error}") from error


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # longer than the name of a file can be
        return False


def _bytes_of(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise WrongUsage(
            f"--change {name!r}: neither a change (docs/changes.md) nor a file: {error.strerror}"
        ) from error


def _text_of(name: str) -> str:
    """The text of a file. Raises CommandFailed."""
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{name}: not UTF-8 text") from error
    except OSError as error:
        raise CommandFailed(f"{name}: {error.strerror}") from error


@dataclass(frozen=True)
class RunInputs:
    """What a command's run is made of; `base` are the rules without the changes."""

    base: Rules
    changes: tuple[ChangeAt, ...]
    plugins: LoadedPlugins
    options: RunOptions

    def objects(self, cluster: Ingested) -> list[KubeObject]:
        """The objects with the changes. Raises CommandFailed."""
        try:
            at_rest = [each.change for each in self.changes if each.cycle == 0]
            return apply(list(cluster.objects), at_rest)
        except ChangeError as error:
            raise CommandFailed("; ".join(each.message for each in error.problems)) from error

    def sentences(self, cluster: Ingested) -> tuple[str, ...]:
        """A sentence for each change."""
        return in_words(list(cluster.objects), self.base, self.changes)


def inputs_of(
    options: argparse.Namespace, changes: Sequence[Change], cluster: Ingested
) -> RunInputs:
    """What the run of a cluster is made of, with some changes. Raises CommandFailed."""
    _say_limits(changes, cluster)
    scenario = read_scenario(options)
    told = release_told(cluster.objects.of(Node), cluster.server_version)
    chosen = chosen_release(options.release, told)
    base = Rules(
        configuration=_text_of(str(options.config)) if options.config else "",
        gates={**scenario.feature_gates, **asked_gates(options)},
        release=chosen.release,
        seed=options.seed,
        queue_order=options.queue_order,
    )
    made = tuple(ChangeAt(change, options.fork_at) for change in changes)
    try:
        later = later_steps(made)
    except ChangeError as error:
        raise WrongUsage(
            "; ".join(f"--fork-at: {each.message}" for each in error.problems)
        ) from error
    rules = changed_rules(base, () if later else changes)
    switched = {each.gate: each.enabled for each in changes if isinstance(each, SwitchGate)}
    gates = gates_of(options, scenario, switched, chosen)
    configuration = _configuration_of(rules, options.config, changes)
    plugins = plugins_for(configuration, options.config)
    wanted = RunOptions(
        configuration=configuration,
        features=gates,
        registry=plugins.registry,
        scenario=scenario,
        seed=rules.seed,
        tie_break=options.tie_break or chosen.release.tie_break,
        queue_order=rules.queue_order,
        later=later,
        ignored=cluster.ignored,
        left_out=cluster.left_out,
    )
    return RunInputs(base, made, plugins, wanted)


def _say_limits(changes: Sequence[Change], cluster: Ingested) -> None:
    """Print, before anything runs, what a real cluster may have to say to the changes."""
    if not changes:
        return
    for change, said in zip(changes, limits(list(cluster.objects), changes), strict=True):
        for each in said:
            print(f"kviz: note: {line_of(change)}: {each}", file=sys.stderr)


def _configuration_of(
    rules: Rules, path: Path | None, changes: Sequence[Change]
) -> KubeSchedulerConfiguration:
    """The configuration with the weights. Raises CommandFailed."""
    try:
        written = replace(rules, weights={}).load()
    except ConfigError as error:
        by_change = any(isinstance(each, UseConfiguration) for each in changes)
        raise CommandFailed(f"{'--change config' if by_change else path}: {error}") from error
    try:
        return weighted(written, rules.weights)
    except ConfigError as error:
        raise WrongUsage(f"--change: {error}") from error


def in_time(sentences: Sequence[str], cycle: int) -> tuple[str, ...]:
    """The sentences of changes, and when those were made that the run did not begin with."""
    when = f"at cycle {cycle}: " if cycle else ""
    return tuple(f"{when}{sentence}" for sentence in sentences)


def check_made(n_cycles: int, cycle: int) -> None:
    """Raise CommandFailed for a run that ended before its changes could be made."""
    if cycle > n_cycles + 1:
        raise CommandFailed(
            f"--fork-at {cycle}: the run ends after cycle {n_cycles}, so nothing was changed"
        )


def read_scenario(options: argparse.Namespace) -> Scenario:
    """Read what happens meanwhile. Raises CommandFailed."""
    text = scenario_text(options)
    try:
        return load_scenario(text) if text or options.scenario else Scenario()
    except ConfigError as error:
        raise CommandFailed(f"{options.scenario}: {error}") from error
