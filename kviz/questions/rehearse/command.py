"""`kviz rehearse`: what another release of the scheduler would change, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kviz.command_line.arguments import Subparsers, add_files_argument
from kviz.command_line.changes import inputs_of
from kviz.command_line.cluster import read_cluster, transport_for
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    RELEASE_CHOICES,
    add_config_option,
    add_rule_options,
    add_scenario_option,
    release,
    release_or_auto,
)
from kviz.forking.copies import CopyDied, mapped, n_cores
from kviz.questions.rehearse.answer import Upgrade, newest_but
from kviz.questions.rehearse.text import as_json, as_text
from scheduler_core.analysis.rehearsal import Differences
from scheduler_core.analysis.rehearsal.causes import Names
from scheduler_core.api import Node
from scheduler_core.config import ConfigError
from scheduler_core.releases import RELEASES
from scheduler_core.releases.choosing import AUTO, NOTHING, release_told


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "rehearse",
        description="Run the scheduler of two releases over what kubectl printed, and say which "
        "pods end otherwise, because of which change of the release, and what keeps the old "
        "behaviour (docs/configuration.md). Exits with 0 if every pod ends as before, 1 if not, "
        "2 on bad input.",
    )
    add_files_argument(command)
    command.add_argument(
        "--to", type=release, required=True, metavar="RELEASE", help="the release to upgrade to"
    )
    command.add_argument(
        "--from",
        dest="release",
        type=release_or_auto,
        metavar=RELEASE_CHOICES,
        default=AUTO,
        help="the release that is upgraded; auto is what the cluster says, else the newest other "
        "one (default: %(default)s)",
    )
    command.add_argument(
        "--feature-gates",
        action="append",
        default=[],
        metavar="A=true,B=false",
        help="gates that are switched today; those that the other release refuses are named",
    )
    add_config_option(command)
    add_scenario_option(command)
    add_rule_options(command)
    command.add_argument(
        "--jobs",
        type=int,
        default=n_cores(),
        metavar="N",
        help="so many runs at the same time (default: one per core, %(default)s here)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run, fork_at=0)


def run(options: argparse.Namespace) -> int:
    """Print what is different. Raises WrongUsage: 1 is not for failing, it says they differ."""
    try:
        told = _told(options)
    except (CommandFailed, ConfigError, CopyDied) as problem:
        raise WrongUsage(str(problem)) from problem
    print(json.dumps(told) if options.json else as_text(told), end="\n" if options.json else "")
    return 0 if told["identical"] else 1


def _told(options: argparse.Namespace) -> dict[str, Any]:
    """Rehearse. Raises CommandFailed, ConfigError and CopyDied."""
    cluster = read_cluster(options)
    told = release_told(cluster.objects.of(Node), cluster.server_version)
    if options.release == AUTO and told == NOTHING:
        options.release = newest_but(options.to)
    made_of = inputs_of(options, (), cluster)
    old, target = made_of.options, RELEASES[options.to]
    if target is old.features.release:
        raise WrongUsage(f"--to: the cluster follows v{old.features.release_text} already")
    with transport_for(old.configuration) as transport:
        wanted = replace(old, transport=transport)
        upgrade = Upgrade(made_of.objects(cluster), wanted, made_of.base, target)

        def trials(sets: Sequence[Names]) -> list[Differences]:
            return mapped(upgrade.both.without, sets, 1 if transport else options.jobs)

        return as_json(upgrade.answer(trials))
