"""`kviz check`: rules that a cluster has to keep, for a person or a CI job."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kviz.command_line.arguments import Subparsers
from kviz.command_line.cluster import add_cluster_options, asked_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.forking.copies import CopyDied, n_cores
from kviz.questions.rules.text import junit, rules_json, rules_text
from kviz.questions.survive.answer import survival
from scheduler_core.analysis.advice.rules import Rule, check, load_rules
from scheduler_core.analysis.advice.survival import Aftermath, Loss, Standing
from scheduler_core.config import ConfigError
from scheduler_core.sim.run import Run


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "check",
        description="Run the scheduler over what kubectl printed, and say which rules are kept: "
        "pods bind, spread, survive, stay off nodes, are not evicted, there is room for more "
        "(docs/rules.md). Exits with 1 on a broken rule, with 2 on bad input.",
    )
    add_cluster_options(command)
    command.add_argument("--rules", type=Path, required=True, metavar="RULES.yaml")
    command.add_argument(
        "--junit", type=Path, metavar="OUT", help="write a JUnit report, as CI systems read it"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        rules = _rules(options.rules)
        with asked_cluster(options) as asked:
            verdicts = check(rules, asked.objects, asked.options, _lose)
        if options.junit is not None:
            _write(options.junit, junit(verdicts, options.files[0].name))
    except CommandFailed as error:
        raise WrongUsage(str(error)) from error
    if options.json:
        asked.print_json(rules_json(verdicts))
    else:
        asked.print_text(rules_text(verdicts).rstrip("\n"))
    return 0 if all(each.holds for each in verdicts) else 1


def _lose(run: Run, standing: Standing, losses: Sequence[Loss]) -> Sequence[Aftermath]:
    """Run losses on all cores. Raises CommandFailed."""
    try:
        return survival(run, standing, losses, n_cores()).aftermaths
    except CopyDied as error:
        raise CommandFailed(f"a loss could not be run: {error}") from error


def _rules(path: Path) -> Sequence[Rule]:
    """Read the rules. Raises CommandFailed."""
    try:
        return load_rules(path.read_bytes())
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except ConfigError as error:
        raise CommandFailed("\n".join(f"{path}: {each}" for each in error.problems)) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
