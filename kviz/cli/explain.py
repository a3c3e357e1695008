"""`kviz explain`: why a pod is pending, without a server."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kviz.cli.arguments import Subparsers
from kviz.cli.plugins import plugins_for
from kviz.cli.problems import CommandFailed
from kviz.cli.simulate import read_cluster, read_configuration
from kviz.explain.explanation import UnknownPodError, explain
from kviz.explain.text import as_json, as_text
from scheduler_core.config import ConfigError


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "explain",
        help="say why a pod is pending",
        description="Say why a pod is pending, from what kubectl printed: which plugins reject "
        "it, which nodes come nearest, what preemption would do, what it waits for.",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument("--pod", required=True, metavar="NS/NAME")
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )
    command.add_argument("--format", choices=("text", "json"), default="text")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    configuration = read_configuration(options.config)
    registry = plugins_for(configuration, options.config).registry
    cluster = read_cluster(options.files)
    pod = options.pod if "/" in options.pod else f"default/{options.pod}"
    try:
        explanation = explain(list(cluster.objects), pod, configuration, registry)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except UnknownPodError as error:
        hint = f". Is it one of {', '.join(error.similar)}?" if error.similar else ""
        raise CommandFailed(f"{error} in these files{hint}") from error
    if options.format == "json":
        print(json.dumps(as_json(explanation)))
    else:
        print(as_text(explanation), end="")
    return 0
