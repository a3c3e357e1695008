"""Options of a run that more than one command takes: the release, its gates, and named rules."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from kviz.cli.problems import CommandFailed, WrongUsage
from scheduler_core.config import ConfigError, FeatureGates, located
from scheduler_core.releases import LATEST, RELEASES
from scheduler_core.releases.table import TieBreak
from scheduler_core.sim import Scenario, ScenarioError, gates_of_run
from scheduler_core.trace.records import QueueOrder

BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""What kube-scheduler takes for a truth value on its command line."""


def add_release_options(command: argparse.ArgumentParser) -> None:
    """Offer the release and its gates."""
    command.add_argument(
        "--release",
        choices=tuple(RELEASES),
        default=LATEST.name,
        help="the Kubernetes release whose scheduler is followed (default: %(default)s)",
    )
    command.add_argument(
        "--feature-gates",
        action="append",
        default=[],
        metavar="A=true,B=false",
        help="switch feature gates, as kube-scheduler's own option does; `kviz gates` lists them",
    )
    command.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="C",
        help="what to do differently: 'gate NAME=true|false'",
    )


def add_rule_options(command: argparse.ArgumentParser) -> None:
    """Offer the rules by which a run decides where upstream leaves it open, or has changed."""
    command.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="counts where lots are drawn: with --tie-break draw, and among equals that an "
        "extender has scored (default: %(default)s)",
    )
    command.add_argument(
        "--tie-break",
        choices=get_args(TieBreak),
        help="among nodes with equal scores: take the root of the heap as v1.36 does, or draw with "
        "the seed as releases before it (default: as the release)",
    )
    command.add_argument(
        "--queue-order",
        choices=get_args(QueueOrder),
        default="listed",
        help="in which order pending pods of equal priority enter the queue: as the files list "
        "them, by namespace and name as after a restart of the scheduler, or by age "
        "(default: %(default)s)",
    )


def gates_of(options: argparse.Namespace, scenario: Scenario) -> FeatureGates:
    """The gates of a run. Raises CommandFailed."""
    asked = dict(_asked(options))
    try:
        return gates_of_run(asked, scenario, RELEASES[options.release])
    except ScenarioError as error:
        path: Path = options.scenario
        problems = located(error.problems, path.read_text())
        raise CommandFailed(f"{path}: {ScenarioError(problems)}") from error
    except ConfigError as error:
        raise WrongUsage("; ".join(each.message for each in error.problems)) from error


def tie_break_of(options: argparse.Namespace) -> TieBreak:
    chosen: TieBreak | None = options.tie_break
    return chosen or RELEASES[options.release].tie_break


def _asked(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    """The gates that the command line names; of two that name one gate the later one counts."""
    for text in options.feature_gates:
        yield from (_setting(part, text) for part in text.split(",") if part.strip())
    for change in options.change:
        word, _, setting = change.strip().partition(" ")
        if word != "gate":
            raise WrongUsage(f"--change {change!r}: expected 'gate NAME=true|false'")
        yield _setting(setting, change)


def _setting(part: str, text: str) -> tuple[str, bool]:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals:
        raise WrongUsage(f"{text!r}: missing bool value for {name}, expected NAME=true|false")
    if value not in BOOLEANS:
        raise WrongUsage(f"{text!r}: invalid value of {name}={value}, expected true or false")
    return name, BOOLEANS[value]
