"""Which engine this is: its version, and a hash of its sources.

Two builds of one version may decide otherwise, so what one has begun the other does not go on with.
A trace names the version alone: builds that decide alike write the same trace.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

import scheduler_core

SOURCES: Final = Path(scheduler_core.__file__).parent
N_DIGITS: Final = 12


def engine_build(version: str = scheduler_core.ENGINE_VERSION) -> str:
    """A version as this build has it: `0.2.0+e02369f337ce`."""
    return f"{version}+{sources_hash()}"


def is_of_version(build: str, version: str = scheduler_core.ENGINE_VERSION) -> bool:
    """Whether a build, which may say no more than its version, is of a version.

    Builds of before there was more than one release say one behind the `+`, too.
    """
    return build.partition("+")[0] == version.partition("+")[0]


@cache
def sources_hash(folder: Path = SOURCES) -> str:
    """The first digits of the SHA-256 of the engine's files: their names and bytes."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        data = file.read_bytes()
        found.update(f"{file.relative_to(folder).as_posix()}\0{len(data)}\0".encode() + data)
    return found.hexdigest()[:N_DIGITS]
