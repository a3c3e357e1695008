"""`kviz user`: the accounts of a server, as its administrator makes them (docs/accounts.md)."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING

from kviz.cli.django_setup import start_django
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("user")
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="make an account; asks for its password")
    add.add_argument("name", metavar="NAME")
    add.add_argument("--email", default="", help="shown to administrators; no mail is sent")
    add.add_argument("--admin", action="store_true", help="an administrator of this server")
    _take_password(add)
    add.set_defaults(run=run_add)
    password = actions.add_parser("password", help="set another password; ends all sessions")
    password.add_argument("name", metavar="NAME")
    _take_password(password)
    password.set_defaults(run=run_password)
    for action, text in (("close", "let nobody in with this account"), ("open", "undo close")):
        closing = actions.add_parser(action, help=text)
        closing.add_argument("name", metavar="NAME")
        closing.set_defaults(run=run_close, is_closed=action == "close")
    actions.add_parser("list", help="all accounts").set_defaults(run=run_list)


def _take_password(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--password-stdin", action="store_true", help="read the password from standard input"
    )


def _password(options: argparse.Namespace) -> str:
    if options.password_stdin:
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise CommandFailed("The two passwords differ; nothing was changed.")
    return first


def _named(name: str) -> User:
    from django.contrib.auth.models import User

    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandFailed(f"There is no account {name!r}.")
    return found


def _note(about: str) -> None:
    from kviz.accounts.audit import What, note

    note(What.ACCOUNT, who="kviz user", about=about)


def run_add(options: argparse.Namespace) -> int:
    start_django(migrate=True)
    from django.core.exceptions import ValidationError

    from kviz.accounts.services import person_add

    try:
        person_add(
            name=options.name,
            password=_password(options),
            email=options.email,
            is_admin=options.admin,
        )
    except ValidationError as problem:
        raise CommandFailed(" ".join(problem.messages)) from None
    _note("administrator " * options.admin + f"{options.name}: made")
    print(f"{options.name} can sign in.")
    return 0


def run_password(options: argparse.Namespace) -> int:
    start_django(migrate=True)
    from django.core.exceptions import ValidationError

    from kviz.accounts.services import person_set_password

    person = _named(options.name)
    try:
        person_set_password(person=person, password=_password(options))
    except ValidationError as problem:
        raise CommandFailed(" ".join(problem.messages)) from None
    _note(f"{options.name}: another password")
    print(f"{options.name} has another password.")
    return 0


def run_close(options: argparse.Namespace) -> int:
    start_django(migrate=True)
    from kviz.accounts.services import person_close

    person_close(person=_named(options.name), is_closed=options.is_closed)
    _note(f"{options.name}: {'closed' if options.is_closed else 'open'}")
    print(f"{options.name} {'can sign in no more' if options.is_closed else 'can sign in'}.")
    return 0


def run_list(options: argparse.Namespace) -> int:
    start_django(migrate=True)
    from django.contrib.auth.models import User

    for person in User.objects.order_by("username"):
        seen = f"{person.last_login:%Y-%m-%d}" if person.last_login else "never signed in"
        marks = [seen, *["administrator"] * person.is_staff, *["closed"] * (not person.is_active)]
        print(f"{person.username}\t{', '.join(marks)}")
    return 0
