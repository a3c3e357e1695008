"""`kviz token`: prints the bearer token of the local workspace, for scripts."""

from __future__ import annotations

import argparse

from kviz.cli.django_setup import start_django
from kviz.command_line.arguments import Subparsers


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("token")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = start_django(migrate=True)
    from kviz.accounts.services import local_token_ensure

    print(local_token_ensure(folder=folder))
    return 0
