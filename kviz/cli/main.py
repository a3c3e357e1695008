"""Parses the command line and hands over to a subcommand."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Sequence

from kviz.cli import (
    backup,
    bench,
    conformance,
    follow,
    gates,
    import_cluster,
    lesson,
    mcp,
    migrate,
    plugins,
    restore,
    serve,
    simulate,
    token,
    user,
    worker,
)
from kviz.command_line.problems import CommandFailed
from kviz.environment import EnvironmentProblem
from kviz.questions.capacity import command as capacity
from kviz.questions.diff import command as diff
from kviz.questions.luck import command as luck
from kviz.questions.nodes import command as nodes
from kviz.questions.optimum import command as optimum
from kviz.questions.rules import command as check
from kviz.questions.survive import command as survive
from kviz.questions.unblock import command as unblock
from kviz.questions.whatif import command as whatif
from kviz.questions.why import command as explain
from scheduler_core.framework.plugin_calls import PluginFailure

SUBCOMMANDS = (
    serve,
    token,
    user,
    import_cluster,
    simulate,
    explain,
    whatif,
    unblock,
    capacity,
    nodes,
    luck,
    check,
    survive,
    diff,
    optimum,
    follow,
    gates,
    lesson,
    plugins,
    conformance,
    bench,
    mcp,
    worker,
    migrate,
    backup,
    restore,
)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(
        prog="kviz", description="See the Kubernetes scheduler think.", allow_abbrev=False
    )
    version = importlib.metadata.version("kviz")
    root.add_argument("--version", action="version", version=f"kviz {version}")
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in SUBCOMMANDS:
        module.add_parser(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0 fine, 1 failed, 2 wrong usage."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except CommandFailed as problem:
        print(f"kviz: {problem}", file=sys.stderr)
        return problem.exit_code
    except (EnvironmentProblem, PluginFailure) as problem:
        print(f"kviz: {problem}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
