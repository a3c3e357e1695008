"""`kviz follow`: what a real cluster's scheduler does, and whether kviz would do the same."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from kviz.cli.arguments import Subparsers
from kviz.cli.problems import CommandFailed, WrongUsage
from kviz.cli.run_options import add_release_options, gates_of
from kviz.following.changes import UnreadableChange
from kviz.following.decisions import Decision
from kviz.following.reality import check, score
from kviz.following.recording import BadRecording, Replayed, read_lines, replay
from kviz.following.text import as_json, as_text
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    default_configuration,
    load_configuration,
)
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim import Scenario


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "follow",
        help="follow a real scheduler, and check kviz against it",
        description="Follow what a real cluster's scheduler does, from a recording of its watches "
        "(docs/following.md), and with --check simulate every decision in its place.",
    )
    command.add_argument("recording", type=Path, metavar="FILE", help="a recording (.jsonl, .gz)")
    command.add_argument(
        "--check", action="store_true", help="set kviz's own verdict beside every decision"
    )
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="the scheduler's KubeSchedulerConfiguration (default: upstream's)",
    )
    add_release_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run, scenario=None)


def run(options: argparse.Namespace) -> int:
    wanted = scheduling(options)
    told = recorded(options.recording)
    if options.check:
        print_check(options, told, wanted)
    else:
        print_decisions(options, told.decisions)
    return 0


def scheduling(options: argparse.Namespace) -> SchedulerOptions:
    """How the scheduler that is followed is configured, as far as that was given."""
    gates: FeatureGates = gates_of(options, Scenario(), {})
    if options.config is None:
        return SchedulerOptions(configuration=default_configuration(gates), features=gates)
    try:
        configuration = load_configuration(options.config.read_text(), gates)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{options.config}: {error}") from error
    return SchedulerOptions(configuration=configuration, features=gates)


def recorded(path: Path) -> Replayed:
    """Follow a recording to its end. Raises CommandFailed."""
    try:
        return replay(read_lines(path))
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from error
    except (BadRecording, UnreadableChange) as error:
        raise CommandFailed(str(error)) from error


def print_check(options: argparse.Namespace, told: Replayed, wanted: SchedulerOptions) -> None:
    try:
        found = list(check(told.journal, wanted))
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    total = score(found)
    if options.json:
        print(json.dumps(as_json(found, total)))
    else:
        print(as_text(found, total), end="")


def print_decisions(options: argparse.Namespace, decisions: Sequence[Decision]) -> None:
    if options.json:
        print(json.dumps({"decisions": [_document(each) for each in decisions]}))
    else:
        for line in _lines(decisions):
            print(line)


def _document(decision: Decision) -> dict[str, object]:
    return {
        "number": decision.number,
        "pod": decision.pod.key,
        "resourceVersion": str(decision.version),
        "node": decision.node or None,
        "message": decision.message or None,
        "nominatedNodeName": decision.nominated or None,
    }


def _lines(decisions: Sequence[Decision]) -> Iterator[str]:
    for each in decisions:
        said = f"bound to {each.node}" if each.node else each.message
        yield f"{each.number:>6}  {each.pod.key}  {said}"
