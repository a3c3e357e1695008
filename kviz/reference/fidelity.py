"""How faithful this version is: its recorded parity, and every known difference.

`fidelity.json` is what `kviz conformance --json` printed over the recorded kube-scheduler
decisions; `docs/fidelity.md` says how to renew it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from django.utils.translation import gettext_lazy

from kviz.reference.form import Part, Prose, read_file, with_prose
from scheduler_core.releases import RELEASES
from scheduler_core.releases.bugs import BUGS, Bug

FILE = Path(__file__).with_name("fidelity.json")
VERIFIED = Path(__file__).with_name("verified.json")
"""What `make verify` counted: clusters and decisions by kind of cluster, for each release."""


class Parity(msgspec.Struct, frozen=True):
    """Compared values of one plugin: verdicts and scores of single nodes."""

    cells: int
    identical: int

    @property
    def is_complete(self) -> bool:
        return self.cells == self.identical


class OfRelease(msgspec.Struct, frozen=True):
    """The cases that were recorded from one release."""

    cases: int
    identical: int


class Failure(msgspec.Struct, frozen=True):
    name: str
    plugin: str
    field: str


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What `kviz conformance --json` prints; a failure's values are left out here."""

    cases: int
    identical: int
    by_release: dict[str, OfRelease]
    by_plugin: dict[str, Parity]
    failures: list[Failure]

    @property
    def rows(self) -> list[tuple[str, Parity]]:
        return sorted(self.by_plugin.items())

    @property
    def releases(self) -> list[tuple[str, OfRelease]]:
        """The cases by release, the oldest first."""
        return sorted(self.by_release.items())

    @property
    def permille(self) -> int:
        """Share of identical cases, rounded down so that 1000 means all."""
        return 1000 * self.identical // self.cases if self.cases else 0

    @property
    def percent(self) -> float:
        return self.permille / 10


@cache
def report() -> Report | None:
    """The committed report, or None in a tree that has none yet."""
    return msgspec.json.decode(FILE.read_bytes(), type=Report) if FILE.exists() else None


class Compared(msgspec.Struct, frozen=True):
    """Decisions of the real scheduler, run beside kviz over clusters of one kind.

    Those of `chance` differ, but in another run the real one decides as kviz does.
    """

    clusters: int
    decisions: int
    identical: int
    chance: int


@dataclass(frozen=True)
class Verified:
    """What `make verify` found for one release; the kinds are `samples`, `recorded`, `random`."""

    release: str
    kinds: dict[str, Compared]


@cache
def verified() -> tuple[Verified, ...]:
    """The committed figures, the oldest release first; none in a tree that has none yet."""
    if not VERIFIED.exists():
        return ()
    found = msgspec.json.decode(VERIFIED.read_bytes(), type=dict[str, dict[str, Compared]])
    return tuple(Verified(release, kinds) for release, kinds in sorted(found.items()))


@dataclass(frozen=True)
class KnownBug:
    """A bug of kube-scheduler's own, and the releases that have it."""

    name: str
    bug: Bug
    releases: tuple[str, ...]

    @property
    def url(self) -> str:
        """Where upstream speaks of it, empty where that is not known."""
        number = self.bug.upstream.removeprefix("#")
        return f"https://github.com/kubernetes/kubernetes/issues/{number}" if number else ""


def known_bugs() -> tuple[KnownBug, ...]:
    return tuple(
        KnownBug(name, bug, tuple(r.name for r in RELEASES.values() if name in r.bugs))
        for name, bug in BUGS.items()
    )


class Difference(Part, frozen=True):
    """One place where kviz and kube-scheduler may differ, and the ADR that decided it."""

    adr: str
    title: Prose
    text: Prose

    @property
    def document(self) -> str:
        """The decision's name among the documents."""
        return f"adr/{self.adr}"


@cache
def differences() -> tuple[Difference, ...]:
    return with_prose(difference_texts(), gettext_lazy)


def difference_texts() -> tuple[Difference, ...]:
    """Return the differences in English."""
    return read_file(FILE.with_name("differences.yaml"), tuple[Difference, ...])
