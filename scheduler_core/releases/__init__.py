"""The Kubernetes releases kviz knows, one table each: what differs between them is data.

Another release is another module here, named in `RELEASES`, and its recordings.
"""

from collections.abc import Mapping
from typing import Final

from scheduler_core.releases.table import Release
from scheduler_core.releases.v1_36_2 import V1_36_2
from scheduler_core.releases.v1_36_3 import V1_36_3
from scheduler_core.releases.v1_37_2 import V1_37_2
from scheduler_core.wording import say

RELEASES: Final[Mapping[str, Release]] = {
    release.name: release for release in (V1_36_2, V1_36_3, V1_37_2)
}
"""By name, the oldest first."""

LATEST: Final = V1_37_2
"""The newest release there is a table of."""

UNNAMED: Final = V1_36_2
"""What is followed where a stored row, a file or a link names no release, or says `1.36`: all that
were written before patches were told apart."""


def stored_release(name: str) -> Release | None:
    """Return the release that a stored row, a file or a link names; None if there is no table."""
    return UNNAMED if name in ("", UNNAMED.minor) else RELEASES.get(name)


def stored_name(name: str) -> str:
    """Return how people read a release that is stored: `1.36` is 1.36.2; unknown ones stay."""
    known = stored_release(name) if name else None
    return known.name if known else name


NAMES: Final[Mapping[str, str]] = {
    **{release.minor: name for name, release in RELEASES.items()},
    **{name: name for name in RELEASES},
}
"""What may be asked for, and the table that it means: `1.36` is its newest patch."""


def release_named(asked: str) -> str:
    """Return the name of the table that somebody asks for; `v1.37.2` is `1.37.2`.

    Raises UnknownRelease.
    """
    name = NAMES.get(asked.strip().removeprefix("v"))
    if name is None:
        raise UnknownRelease(asked)
    return name


class UnknownRelease(ValueError):
    """There is no table of the release that somebody asks for."""

    def __init__(self, asked: str) -> None:
        minors = (f"{short} ({name})" for short, name in NAMES.items() if short != name)
        text = say(
            "release.unknown",
            "kviz knows no release {asked}; it knows {minors} and {patches}",
            asked=repr(asked),
            minors=", ".join(minors),
            patches=", ".join(RELEASES),
        )
        super().__init__(text)
        self.text = text


def first_with(switch: str) -> Release:
    """Return the first release that has a switch on. Raises StopIteration if none has."""
    return next(each for each in RELEASES.values() if getattr(each.switches, switch))
