"""`kviz nodes`: which nodes to add so that pending pods bind, and which could be drained."""

from __future__ import annotations

import argparse
from pathlib import Path

from kviz.command_line.arguments import Subparsers
from kviz.command_line.cluster import Asked, add_cluster_options, asked_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.forking.copies import CopyDied, n_cores
from kviz.questions.nodes.answer import Draining, draining
from kviz.questions.nodes.text import as_json, as_text
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS, Addition, nodes_to_add
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES
from scheduler_core.analysis.advice.nodes.offers import offers_of
from scheduler_core.analysis.advice.nodes.shapes import Shapes, load_shapes
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.analysis.advice.survival import standing_run
from scheduler_core.api import Node
from scheduler_core.config import ConfigError


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "nodes",
        description="Find the cheapest nodes with which all pending pods bind, and the nodes that "
        "could be drained with everything still placed; each proved by running the scheduler.",
    )
    add_cluster_options(command)
    command.add_argument(
        "--shapes",
        type=Path,
        metavar="F",
        help="shapes of nodes that can be had, and prices (docs/answers.md)",
    )
    command.add_argument(
        "--max-runs",
        type=int,
        default=MAX_RUNS,
        metavar="N",
        help="run the scheduler so often at most to find what to add (default: %(default)s)",
    )
    command.add_argument(
        "--drain",
        type=int,
        default=MAX_CANDIDATES,
        metavar="N",
        help="try to drain the N nodes with the fewest pods (default: %(default)s)",
    )
    command.add_argument(
        "--jobs",
        type=int,
        default=n_cores(),
        metavar="N",
        help="so many drains at the same time (default: one per core, %(default)s here)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.max_runs < 1 or options.drain < 0:
        raise WrongUsage("--max-runs is 1 or more, --drain 0 or more")
    shapes = _shapes(options.shapes)
    with asked_cluster(options) as asked:
        addition = _addition(asked, shapes, options)
        drains = _draining(asked, options)
    if options.json:
        asked.print_json(as_json(addition, drains))
    else:
        asked.print_text(as_text(addition, drains))
    return 0


def _shapes(path: Path | None) -> Shapes:
    if path is None:
        return Shapes()
    try:
        return load_shapes(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path}: {error}") from error
    except ConfigError as error:
        raise CommandFailed(f"{path}: {error}") from error


def _addition(asked: Asked, shapes: Shapes, options: argparse.Namespace) -> Addition:
    nodes = [item for item in asked.objects if isinstance(item, Node)]
    pools = {pool.name for pool in pools_of(nodes)}
    if unknown := sorted(shapes.pools.keys() - pools):
        there = ", ".join(sorted(pools))
        raise CommandFailed(f"{options.shapes}: there is no pool {unknown[0]}; there is {there}")
    if clash := sorted({node.name for node in nodes} & {node.name for node, _ in shapes.shapes}):
        raise CommandFailed(f"{options.shapes}: {clash[0]} is the name of a node")
    offers = offers_of(asked.objects, shapes.shapes, shapes.pools)
    return nodes_to_add(asked.objects, asked.options, offers, options.max_runs)


def _draining(asked: Asked, options: argparse.Namespace) -> Draining:
    standing = standing_run(asked.objects, asked.options)
    n_nodes = sum(isinstance(item, Node) for item in asked.objects)
    try:
        return draining(standing, n_nodes, options.drain, options.jobs)
    except CopyDied as error:
        raise CommandFailed(f"a drain could not be run: {error}") from error
