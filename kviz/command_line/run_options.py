"""Options of a run that more than one command takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, get_args

from msgspec.structs import replace

from kviz.command_line.problems import CommandFailed, WrongUsage
from scheduler_core.changes.lines import read_gate
from scheduler_core.config import ConfigError, FeatureGates, located
from scheduler_core.releases import NAMES, UnknownRelease, release_named
from scheduler_core.releases.choosing import AUTO, Chosen, release_asked
from scheduler_core.releases.table import TieBreak
from scheduler_core.sim import Scenario, ScenarioError, gates_of_run, recreating
from scheduler_core.trace.records import QueueOrder


def add_config_option(command: argparse.ArgumentParser) -> None:
    """Offer a configuration of the scheduler."""
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )


NO_SCENARIO: Final[Mapping[str, object]] = {
    "scenario": None,
    "plays_scenario": False,
    "recreate_evicted": False,
}
"""Options of a command that asks about a cluster in which nothing happens meanwhile."""


def add_scenario_option(command: argparse.ArgumentParser, more: str = "") -> None:
    """Offer what happens in the cluster during a run; `more` says what that is to the command."""
    command.add_argument(
        "--scenario",
        type=Path,
        metavar="F",
        help=f"what happens meanwhile (docs/scenarios.md){more}",
    )
    command.add_argument(
        "--recreate-evicted",
        action="store_true",
        help="owners (ReplicaSet, StatefulSet, DaemonSet, Job, ...) make evicted pods again; "
        "without it an evicted pod is gone",
    )
    command.set_defaults(scenario=None, plays_scenario=True)


def scenario_text(options: argparse.Namespace) -> str:
    """Return the scenario that the options ask for, empty for none. Raises CommandFailed."""
    path: Path | None = options.scenario
    try:
        text = path.read_text(encoding="utf-8-sig") if path is not None else ""
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    return recreating(text) if options.recreate_evicted else text


RELEASE_CHOICES: Final = f"{{{','.join((AUTO, *NAMES))}}}"
"""How the help shows what may be asked for."""


def release_or_auto(text: str) -> str:
    """Read the argument of `--release`."""
    return _release_argument(release_asked, text)


def release(text: str) -> str:
    """Read the argument of a `--release` that names one."""
    return _release_argument(release_named, text)


def _release_argument(read: Callable[[str], str], text: str) -> str:
    try:
        return read(text)
    except UnknownRelease as unknown:
        raise argparse.ArgumentTypeError(unknown.text) from None


def add_release_options(command: argparse.ArgumentParser) -> None:
    """Offer the release and its gates."""
    command.add_argument(
        "--release",
        type=release_or_auto,
        metavar=RELEASE_CHOICES,
        default=AUTO,
        help="the Kubernetes release whose scheduler is followed; 1.36 and 1.37 are their newest "
        "patches, auto is what the API server says, else the newest kubelet of the nodes, else "
        "the newest that kviz knows (default: %(default)s)",
    )
    command.add_argument(
        "--feature-gates",
        action="append",
        default=[],
        metavar="A=true,B=false",
        help="switch feature gates, as kube-scheduler's own option does; `kviz gates` lists them",
    )


def add_rule_options(command: argparse.ArgumentParser) -> None:
    """Offer the rules by which a run decides where upstream leaves it open, or has changed."""
    command.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="used only when ties are broken randomly: with --tie-break draw, and among equals "
        "that an extender has scored (default: %(default)s)",
    )
    command.add_argument(
        "--tie-break",
        choices=get_args(TieBreak),
        help="among nodes with equal scores: take the root of the heap, as every release "
        "since v1.36 does, or draw with the seed as those before it (default: as the release)",
    )
    command.add_argument(
        "--queue-order",
        choices=get_args(QueueOrder),
        default="listed",
        help="in which order pending pods of equal priority enter the queue: as the files list "
        "them, by namespace and name as after a restart of the scheduler, or by age "
        "(default: %(default)s)",
    )


def gates_of(
    options: argparse.Namespace,
    scenario: Scenario,
    switched: Mapping[str, bool],
    chosen: Chosen,
) -> FeatureGates:
    """The gates of a run; those `switched` by changes go before all others.

    Raises CommandFailed.
    """
    try:
        asked = {**asked_gates(options), **switched}
        gates = gates_of_run(asked, scenario, chosen.release)
    except ScenarioError as error:
        problems = located(error.problems, scenario_text(options))
        raise CommandFailed(f"{options.scenario}: {ScenarioError(problems)}") from error
    except ConfigError as error:
        raise WrongUsage("; ".join(each.message for each in error.problems)) from error
    return replace(gates, release_told=chosen.told)


def asked_gates(options: argparse.Namespace) -> dict[str, bool]:
    """The gates that `--feature-gates` names; of two settings of one gate the later one counts.

    Raises WrongUsage.
    """
    asked: dict[str, bool] = {}
    for text in options.feature_gates:
        for part in text.split(","):
            if part.strip():
                asked.update([_setting(part, text)])
    return asked


def _setting(part: str, text: str) -> tuple[str, bool]:
    try:
        switched = read_gate(part)
    except ConfigError as error:
        raise WrongUsage(f"{text!r}: {error}") from error
    return switched.gate, switched.enabled
