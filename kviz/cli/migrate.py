"""`kviz migrate`: brings the database up to date, for servers that `kviz serve` does not start."""

from __future__ import annotations

import argparse

from kviz.cli.arguments import Subparsers
from kviz.cli.django_setup import start_django


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "migrate", help="bring the database up to date (`kviz serve` does so when it starts)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    start_django(migrate=False)
    from django.core.management import call_command

    call_command("migrate", interactive=False)
    return 0
