"""`kviz luck`: which placements hold, whatever the random choices, and which do not."""

from __future__ import annotations

import argparse
import json
import sys
import time

from kviz.command_line.arguments import Subparsers, add_files_argument
from kviz.command_line.changes import add_change_option, changes_of, inputs_of
from kviz.command_line.cluster import pod_key, read_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    add_config_option,
    add_release_options,
    add_rule_options,
    add_scenario_option,
)
from kviz.forking.copies import CopyDied, n_cores
from kviz.questions.luck.answer import luck
from kviz.questions.luck.text import luck_json, luck_text
from scheduler_core.analysis.advice.coins import COINS, Coin, coins_of
from scheduler_core.analysis.advice.luck import ROUND
from scheduler_core.api import Pod
from scheduler_core.config import ConfigError
from scheduler_core.releases.table import TieBreak

MAX_RUNS = 100_000
LONG_S = 10
"""What takes longer is announced."""


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "luck",
        description="Run the scheduler many times over what kubectl printed, each time with other "
        "random choices where a real scheduler has any, and say for every pending pod how often it "
        "finds a node, and which (docs/luck.md).",
    )
    add_files_argument(command)
    command.add_argument("--pod", default="", metavar="NS/NAME", help="list this pod only")
    command.add_argument(
        "--runs",
        type=int,
        metavar="N",
        help="at most so many; fewer when every interval is tight (default: 1000, in large "
        "clusters down to 100)",
    )
    command.add_argument(
        "--choices",
        default="",
        metavar="A,B",
        help=f"make these at random, of {', '.join(COINS)} (default: those that the release makes "
        "at random)",
    )
    command.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="processes (default: one per core)"
    )
    add_change_option(command)
    add_config_option(command)
    add_scenario_option(command)
    add_release_options(command)
    add_rule_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.runs is not None and not 1 <= options.runs <= MAX_RUNS:
        raise WrongUsage(f"--runs must be from 1 to {MAX_RUNS}")
    cluster = read_cluster(options)
    made_of = inputs_of(options, changes_of(options), cluster)
    objects = made_of.objects(cluster)
    pod = pod_key(options.pod) if options.pod else ""
    if pod and not any(isinstance(item, Pod) and item.key == pod for item in objects):
        raise CommandFailed(f"there is no pod {pod}")
    if made_of.options.configuration.extenders:
        print("kviz: note: extenders are not called here", file=sys.stderr)
    clock = _Clock()
    try:
        found = luck(
            objects,
            made_of.options,
            coins=_coins(options.choices, made_of.options.tie_break),
            runs=options.runs,
            seed=made_of.options.seed,
            jobs=options.jobs or n_cores(),
            begin=clock.begin,
            progress=clock.hear,
        )
    except ConfigError as error:
        raise CommandFailed(f"{options.config or '--change'}: {error}") from error
    except CopyDied as error:
        raise CommandFailed(str(error)) from error
    if options.json:
        print(json.dumps(luck_json(found, pod) | made_of.options.features.as_json()))
    else:
        print(luck_text(found, pod), end="")
        print(made_of.options.features.text)
    return 0


class _Clock:
    """Says on standard error how many runs are made, and how long they take, where it is long."""

    def __init__(self) -> None:
        self._began_at = 0.0
        self._n_runs = 0
        self._has_said = False

    def begin(self, n_runs: int) -> None:
        self._n_runs = n_runs
        self._began_at = time.monotonic()

    def hear(self, n_made: int) -> None:
        took_s = time.monotonic() - self._began_at
        left_s = took_s / n_made * (self._n_runs - n_made)
        if n_made >= ROUND and not self._has_said and left_s > LONG_S:
            self._has_said = True
            text = (
                f"kviz: note: {n_made} runs took {took_s:.0f} s; {self._n_runs:,} are made, or "
                f"fewer once every interval is tight: up to {left_s:.0f} s more, and then some "
                "with single choices (--runs)"
            )
            print(text, file=sys.stderr)


def _coins(text: str, tie_break: TieBreak) -> tuple[Coin, ...]:
    """Return the choices to make at random, in their order. Raises WrongUsage."""
    if not text:
        return coins_of(tie_break)
    asked = {name.strip() for name in text.split(",")}
    if unknown := sorted(asked - set(COINS)):
        raise WrongUsage(f"--choices: there is no {unknown[0]!r}; there are {', '.join(COINS)}")
    return tuple(coin for coin in COINS if coin in asked)
