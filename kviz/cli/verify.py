"""`kviz verify`: the real kube-scheduler and kviz over the same cluster, decision by decision."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kviz.command_line.arguments import Subparsers, add_files_argument
from kviz.command_line.changes import inputs_of
from kviz.command_line.cluster import read_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import NO_SCENARIO, add_release_options
from kviz.conformance.result import Difference, Summary
from kviz.conformance.witnessed import Cluster, verify
from kviz.conformance.words import in_words
from kviz.witness import WitnessProblem, find_witness
from scheduler_core import yaml_text
from scheduler_core.sim import RunOptions


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "verify",
        description="Have the real kube-scheduler, built by `make oracle`, schedule what kubectl "
        "printed, and compare every decision with kviz's: verdicts, scores, picks, messages, "
        "nominations, victims (docs/fidelity.md). Exits with 0 if all are identical, 1 if not, "
        "2 on bad input or without the program.",
    )
    add_files_argument(command)
    command.add_argument(
        "--configuration",
        "--config",
        dest="config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )
    add_release_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(
        run=run, change=[], fork_at=0, seed=0, tie_break=None, queue_order="listed", **NO_SCENARIO
    )


def run(options: argparse.Namespace) -> int:
    """Print what is different. Raises WrongUsage: 1 is not for failing, it says they differ."""
    try:
        cluster, wanted = _cluster(options)
        witness = find_witness(wanted.features.release)
        summary = Summary.of(verify(cluster, witness))
    except (CommandFailed, WitnessProblem) as problem:
        raise WrongUsage(str(problem)) from problem
    identical = summary.n_identical == len(summary.results)
    if options.json:
        print(json.dumps(summary.as_json() | wanted.features.as_json()))
    else:
        _print(summary)
        print(wanted.features.text)
    return 0 if identical else 1


def _cluster(options: argparse.Namespace) -> tuple[Cluster, RunOptions]:
    """Raises CommandFailed."""
    found = read_cluster(options)
    made_of = inputs_of(options, (), found)
    wanted = made_of.options
    if wanted.configuration.extenders:
        raise CommandFailed("the configuration has extenders, which the witness does not call")
    text = made_of.base.configuration
    configuration = yaml_text.value(text) if text else None
    name = options.files[0].name
    return Cluster(name, list(found.objects), wanted.features, configuration), wanted


def _print(summary: Summary) -> None:
    differing = [result for result in summary.results if not result.identical]
    if differing:
        first: Difference = differing[0].differences[0]
        print(f"First difference: {in_words(first)}")
    for what, n in summary.not_modelled().items():
        print(f"not compared: {n} {what}")
    print(f"{summary.n_identical} of {len(summary.results)} decisions identical")
