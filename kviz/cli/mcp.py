"""`kviz mcp`: answers an assistant over the Model Context Protocol."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from kviz import distribution
from kviz.command_line.arguments import Subparsers, cluster_path
from kviz.command_line.problems import CommandFailed, WrongUsage

TIME_LIMIT_S: Final = 120.0


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "mcp",
        description="Serve kviz's answers about some clusters as tools of the Model Context "
        "Protocol, on standard input and output, for an assistant that starts this command "
        "(docs/mcp.md). Nothing is written, and no other file is read.",
    )
    command.add_argument(
        "clusters",
        nargs="+",
        metavar="CLUSTER",
        help="a file or a folder as kubectl printed it, or sample:NAME; NAME=FILE gives it a name",
    )
    command.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT_S,
        metavar="S",
        help="seconds for one answer (default: %(default)s)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.time_limit <= 0:
        raise WrongUsage("--time-limit: give a number of seconds above 0")
    clusters = clusters_of(options.clusters)
    try:
        from kviz.mcp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        needed = distribution.with_extra("mcp")
        raise CommandFailed(f"the Model Context Protocol needs: {needed}") from error
    serve(clusters, options.time_limit)
    return 0


def clusters_of(given: list[str]) -> dict[str, Path]:
    """The clusters by name: the one given, or that of the file. Raises WrongUsage."""
    clusters: dict[str, Path] = {}
    for text in given:
        name, sign, file = text.rpartition("=")
        path = _path(text if Path(text).exists() or not sign else file)
        if not path.exists():
            raise WrongUsage(f"{path}: no such file or folder")
        called = name if sign and not Path(text).exists() else path.name.partition(".")[0]
        if called in clusters:
            raise WrongUsage(f"two clusters are called {called!r}; name them: NAME=FILE")
        clusters[called] = path.absolute()
    return clusters


def _path(text: str) -> Path:
    """Where a cluster's files are. Raises WrongUsage."""
    try:
        return cluster_path(text)
    except argparse.ArgumentTypeError as error:
        raise WrongUsage(str(error)) from error
