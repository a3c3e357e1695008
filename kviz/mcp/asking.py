"""Asks the kviz command, in a process of its own: a tool answers what the command prints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from kviz.mcp.answers import Json
from scheduler_core.changes import ChangeError, document_of, read_changes

MAX_PROBLEM: Final = 2_000
"""Characters of what a command says that failed."""


class CannotAnswer(Exception):
    """The command did not answer; the text says why, as it would on a terminal."""


async def asked(arguments: Sequence[str], time_limit_s: float) -> Json:
    """Run `kviz` and return the JSON that it prints. Raises CannotAnswer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "kviz.cli", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # with the copies that it makes of itself
    )
    try:
        async with asyncio.timeout(time_limit_s):
            printed, told = await process.communicate()
    except TimeoutError:
        text = f"No answer within {time_limit_s:.0f} s; ask for less, or start with --time-limit."
        raise CannotAnswer(text) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    try:
        found: Json = json.loads(printed)
    except ValueError:
        problem = told.decode(errors="replace").strip()
        raise CannotAnswer(problem[-MAX_PROBLEM:] or "The command gave no answer.") from None
    return found


@contextlib.contextmanager
def file_of_changes(option: str, changes: Sequence[str]) -> Iterator[list[str]]:
    """The option that says what is different; raises CannotAnswer for what is no change.

    Changes are read here: one that names a file is refused, so that no file is opened but those
    of the clusters.
    """
    if not changes:
        yield []
        return
    try:
        documents = [document_of(each) for each in read_changes(list(changes))]
    except ChangeError as error:
        raise CannotAnswer(str(error)) from error
    with _file("changes.json", json.dumps(documents)) as path:
        yield [option, path]


@contextlib.contextmanager
def file_of_text(option: str, name: str, text: str) -> Iterator[list[str]]:
    """An option that names a file with some text; none if that is empty."""
    if not text:
        yield []
        return
    with _file(name, text) as path:
        yield [option, path]


@contextlib.contextmanager
def _file(name: str, text: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="kviz-mcp-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        yield str(path)
