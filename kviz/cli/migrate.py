"""`kviz migrate`: brings database and samples up to date, before several servers start."""

from __future__ import annotations

import argparse

from kviz.cli.django_setup import one_at_a_time, refuse_newer_data, start_django
from kviz.command_line.arguments import Subparsers


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("migrate")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    start_django(migrate=False)
    from django.core.management import call_command

    from kviz.snapshots.services import samples_load

    with one_at_a_time():
        refuse_newer_data()
        call_command("migrate", interactive=False)
        samples_load()
    return 0
