"""`kviz survive`: what stays pending, breaks and goes down when zones or nodes are gone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from kviz.command_line.arguments import Subparsers
from kviz.command_line.cluster import add_cluster_options, asked_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.forking.copies import CopyDied, n_cores
from kviz.questions.survive.answer import Progress, survival
from kviz.questions.survive.text import as_json, as_text
from scheduler_core.analysis.advice.survival import (
    Loss,
    Standing,
    chosen_loss,
    losses_of_nodes,
    losses_of_zones,
    standing_run,
)
from scheduler_core.api import Node


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "survive",
        description="Take every zone and every node away in turn, let owners make their pods "
        "again, and run the scheduler; say what stays pending, which budgets break and which "
        "workloads have no pod left.",
    )
    add_cluster_options(command)
    command.add_argument("--zones", action="store_true", help="every zone in turn")
    command.add_argument("--nodes", action="store_true", help="every node in turn")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NODE,NODE",
        help="these nodes together; without any of the three, every zone and every node",
    )
    command.add_argument(
        "--jobs",
        type=int,
        default=n_cores(),
        metavar="N",
        help="so many at the same time (default: one per core, %(default)s here)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with asked_cluster(options) as asked:
        standing = standing_run(asked.objects, asked.options)
        before = Standing.before(standing)
        losses = tuple(_losses(options, before.nodes))
        if not losses:
            raise CommandFailed("there is nothing to lose: the nodes name no zone")
        try:
            found = survival(standing, before, losses, options.jobs, _progress(len(losses)))
        except CopyDied as error:
            raise CommandFailed(f"a loss could not be run: {error}") from error
    if options.json:
        asked.print_json(as_json(found))
    else:
        asked.print_text(as_text(found))
    return 0


def _losses(options: argparse.Namespace, nodes: Sequence[Node]) -> Iterator[Loss]:
    every = not (options.zones or options.nodes or options.set)
    if options.zones or every:
        yield from losses_of_zones(nodes)
    if options.nodes or every:
        yield from losses_of_nodes(nodes)
    known = {node.name for node in nodes}
    for text in options.set:
        names = [name.strip() for name in text.split(",") if name.strip()]
        if absent := [name for name in names if name not in known]:
            raise CommandFailed(f"--set: there is no node {', '.join(absent)}")
        if not names:
            raise WrongUsage("--set: name the nodes, separated by commas")
        yield chosen_loss(names)


def _progress(n_losses: int) -> Progress:
    """Return what tells a person who waits at a terminal how far it is."""
    if not sys.stderr.isatty():
        return lambda n: None

    def tell(n: int) -> None:
        end = "\r" if n < n_losses else "\n"
        print(f"kviz: {n:,} of {n_losses:,} losses run", end=end, file=sys.stderr, flush=True)

    return tell
