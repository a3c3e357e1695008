"""`kviz backup`: everything in the database as one file, while kviz is running."""

from __future__ import annotations

import argparse
from pathlib import Path

from kviz import distribution
from kviz.cli.django_setup import start_django
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("backup")
    command.add_argument("file", type=Path, metavar="FILE")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    start_django(migrate=False)
    from kviz.project.backup import BackupProblem, write_backup
    from kviz.project.data_version import NewerData

    try:
        n_rows = write_backup(options.file, version=distribution.version())
    except (BackupProblem, NewerData) as problem:
        raise CommandFailed(str(problem)) from None
    print(f"{options.file}: {in_words(n_rows)}, {options.file.stat().st_size:,} bytes")
    return 0


def in_words(n_rows: dict[str, int]) -> str:
    """How much a backup holds of what people know."""
    known = {"clusters": "snapshots.snapshot", "runs": "runs.run"}
    named = [f"{n_rows.get(model, 0)} {name}" for name, model in known.items()]
    return f"{', '.join(named)}, {sum(n_rows.values())} rows"
