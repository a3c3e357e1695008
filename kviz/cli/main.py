"""Parses the command line and hands over to a subcommand."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Sequence
from typing import Final

from kviz import distribution, questions
from kviz.command_line.problems import CommandFailed

COMMANDS: Final = (
    ("serve", "kviz.cli.serve", "serve the web application, with SQLite and one worker"),
    ("token", "kviz.cli.token", "print the bearer token of the local workspace, for scripts"),
    ("user", "kviz.cli.user", "the accounts of a server (KVIZ_MODE=server)"),
    ("import", "kviz.cli.import_cluster", "read a real cluster"),
    ("simulate", "kviz.cli.simulate", "run the scheduler over what kubectl printed"),
    *questions.commands(),
    ("sample", "kviz.cli.sample", "list the sample clusters, or write one to a file"),
    ("follow", "kviz.cli.follow", "follow a real scheduler, and check kviz against it"),
    ("gates", "kviz.cli.gates", "list feature gates, and which of them a run may switch"),
    ("lesson", "kviz.cli.lesson", "check lessons by running them, or begin one"),
    ("plugins", "kviz.cli.plugins", "list the plugins that a configuration may enable"),
    (
        "conformance",
        "kviz.cli.conformance",
        "compare with recorded decisions of the real kube-scheduler",
    ),
    (
        "verify",
        "kviz.cli.verify",
        "compare with the real kube-scheduler, run over the same cluster",
    ),
    ("bench", "kviz.cli.bench", "measure the scheduler on a workload"),
    ("mcp", "kviz.cli.mcp", "answer an assistant over the Model Context Protocol"),
    ("worker", "kviz.cli.worker", "execute queued runs (`kviz serve` starts a worker by itself)"),
    (
        "migrate",
        "kviz.cli.migrate",
        "bring the database up to date (`kviz serve` does so when it starts)",
    ),
    (
        "backup",
        "kviz.cli.backup",
        "write the whole database to a file, also while kviz is being served",
    ),
    ("restore", "kviz.cli.restore", "put a backup into an empty database, and bring it up to date"),
)
"""Every command: its name, its module, and its line in `kviz --help`.

A module is imported when its command is called, and brings its `add_parser`.
"""

GARBAGE: Final = 50_000
"""So many new objects before the garbage collector looks: a module's classes come by hundreds, and
with its usual 700 it takes a tenth of the time that a short command has.
"""


def parser(asked: str = "") -> argparse.ArgumentParser:
    """The command line: every command with its line of help, and the options of the one asked."""
    root = argparse.ArgumentParser(
        prog="kviz", description="See the Kubernetes scheduler think.", allow_abbrev=False
    )
    root.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module, line in COMMANDS:
        if name == asked:
            importlib.import_module(module).add_parser(commands)
        else:
            commands.add_parser(name, help=line)
    return root


class _Version(argparse.Action):
    """Prints the version, which takes long to look up, only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.exit(message=f"kviz {distribution.version()}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code: 0 fine, 1 failed, 2 wrong usage."""
    if arguments is None:  # a separate process
        gc.set_threshold(GARBAGE)
    given = sys.argv[1:] if arguments is None else arguments
    options = parser(*given[:1]).parse_args(given)
    try:
        return int(options.run(options))
    except CommandFailed as problem:
        print(f"kviz: {problem}", file=sys.stderr)
        return problem.exit_code
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except _problems_of_others() as problem:
        print(f"kviz: {problem}", file=sys.stderr)
        return 1


def _problems_of_others() -> tuple[type[Exception], ...]:
    """What else ends a command with a sentence; imported only when something was raised."""
    from kviz.environment import EnvironmentProblem
    from scheduler_core.framework.plugin_calls import PluginFailure

    return EnvironmentProblem, PluginFailure
