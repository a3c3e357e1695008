"""Who serves a data folder: a lock, held as long as it is served, in a file that says where.

One process serves a folder, as its worker takes over what the previous one left.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

LOCK: Final = "serve.lock"


class FolderInUse(Exception):
    """Another process serves the data folder, or is replacing what is in it."""


class Held:
    """The lock of a folder, held; its file may say where the folder is served."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.say("")

    def say(self, address: str) -> None:
        """Write the address for others to find."""
        self.file.truncate(0)
        self.file.write(address)
        self.file.flush()


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[Held]:
    """Hold the folder's lock; raise FolderInUse if somebody else does."""
    with (folder / LOCK).open("a") as file:  # appending: the text of who holds it stays
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderInUse(
                f"Another `kviz serve` uses the data folder {folder}. "
                "Stop it, or choose another folder with KVIZ_DATA_DIR."
            ) from None
        yield Held(file)


def served_at(folder: Path) -> str:
    """Where a `kviz serve` serves the data folder now; empty if none does."""
    try:
        with (folder / LOCK).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return file.read().strip()
    except FileNotFoundError:
        pass
    return ""
