"""`kviz optimum`: how far the scheduler is from the best placement of all waiting pods together."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import get_args

from kviz.command_line.arguments import Subparsers, add_files_argument
from kviz.command_line.changes import add_change_option, changes_of, inputs_of
from kviz.command_line.cluster import read_cluster
from kviz.command_line.problems import CommandFailed
from kviz.command_line.run_options import (
    NO_SCENARIO,
    add_config_option,
    add_release_options,
    add_rule_options,
)
from scheduler_core.analysis.model import InstanceError, Viability
from scheduler_core.config import ConfigError


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "optimum",
        description="Run the scheduler, which places one pod after another, and find the best "
        "placement of all waiting pods together: what each placed and is worth, and the cycle "
        "after which the best was out of reach (docs/optimum.md).",
    )
    add_files_argument(command)
    command.add_argument(
        "--mode",
        choices=get_args(Viability),
        default="classic",
        help="what a pod on a node is worth: the weights of its preferred terms that match; the "
        "totals of the score plugins in the cluster as it is; or those at each pod's turn, in "
        "small clusters (default: %(default)s)",
    )
    command.add_argument(
        "--time-limit",
        type=_seconds,
        default=10.0,
        metavar="S",
        help="how long to search, in seconds, and as long again for the cycle (default: 10)",
    )
    command.add_argument(
        "--at-cycle",
        type=_cycle,
        default=1,
        metavar="C",
        help="the cluster as it is when cycle C of the run begins: what earlier cycles placed "
        "stays, and of those that wait then the best is found (default: 1, all of it)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_config_option(command)
    add_change_option(command)
    add_release_options(command)
    add_rule_options(command)
    command.set_defaults(run=run, **NO_SCENARIO)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError("between 0 and 3600 seconds")
    return seconds


def _cycle(text: str) -> int:
    cycle = int(text)
    if cycle < 1:
        raise argparse.ArgumentTypeError("cycles are counted from 1")
    return cycle


def run(options: argparse.Namespace) -> int:
    from kviz.questions.optimum.answer import answer, as_json  # the solver takes long to load
    from kviz.questions.optimum.comparison import CheckFailed
    from kviz.questions.optimum.solver.search import TooLarge
    from kviz.questions.optimum.text import as_text

    cluster = read_cluster(options)
    made_of = inputs_of(options, changes_of(options), cluster)
    wanted = replace(made_of.options, details=False)
    try:
        found = answer(
            made_of.objects(cluster),
            wanted,
            options.mode,
            options.time_limit,
            at_cycle=options.at_cycle,
        )
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except CheckFailed as error:
        raise CommandFailed(
            f"the placement that was found does not pass the scheduler's own filters: {error}"
        ) from error
    except (InstanceError, TooLarge) as error:
        raise CommandFailed(str(error)) from error
    if options.json:
        print(json.dumps(as_json(found) | wanted.features.as_json()))
    else:
        print(as_text(found), end="")
        print(wanted.features.text)
    return 0
