"""Questions about a cluster, one folder each: all that belongs to a question is in its folder.

A folder's `__init__` names its command. What else there is of these is found by its name:

    answer.py      answers from files, by calling the engine; no Django
    text.py        says the answer: text, JSON, Markdown
    command.py     the command
    page.py        its pages, with their templates beside it
    api.py         REST
    urls.py        addresses of pages; api_urls.py of REST
    asked.py       what an experiment may be asked, and how a form asks it
    jobs.py        what a worker does
    services.py    writes
    read.py        a stored answer
    report.py      the page of an experiment that asked
    registered.py  what lower packages have to know of it (docs/adr/0050)

Nothing imports a question that is not above it: it is found here, or registers itself. A folder
more is a question more.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple


class Command(NamedTuple):
    """The command that asks a question, and what `kviz --help` says of it."""

    name: str
    help: str


def folders() -> Iterator[str]:
    """The names of the packages that questions are."""
    for found in pkgutil.iter_modules(__path__, f"{__name__}."):
        if found.ispkg:
            yield found.name


def modules(name: str) -> Iterator[ModuleType]:
    """The module of that name of each question that has one."""
    for folder in folders():
        if find_spec(f"{folder}.{name}") is not None:
            yield import_module(f"{folder}.{name}")


def commands() -> Iterator[tuple[str, str, str]]:
    """Each command: its name, its module, and its line of help. Imports no command."""
    for folder in folders():
        command: Command = import_module(folder).COMMAND
        yield command.name, f"{folder}.command", command.help
