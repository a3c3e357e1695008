"""`kviz restore`: what `kviz backup` wrote, into this database, whichever kind either is."""

from __future__ import annotations

import argparse
from pathlib import Path

from kviz.cli.backup import in_words
from kviz.cli.django_setup import start_django
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed
from kviz.project import serve_lock


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("restore")
    command.add_argument("file", type=Path, metavar="FILE")
    command.add_argument(
        "--replace", action="store_true", help="delete what the database holds first"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = start_django(migrate=False)
    from django.core.management import call_command

    from kviz.project.backup import BackupProblem, restore_backup
    from kviz.project.data_version import NewerData

    try:
        with serve_lock.hold(folder):
            n_rows = restore_backup(options.file, replace=options.replace)
            call_command("migrate", interactive=False, verbosity=0)
    except (BackupProblem, NewerData, serve_lock.FolderInUse) as problem:
        raise CommandFailed(str(problem)) from None
    print(f"restored {in_words(n_rows)}")
    return 0
