"""How faithful this version is: its recorded parity, and every known difference.

`fidelity.json` is what `kviz conformance --json` printed over the recorded kube-scheduler
decisions; `docs/fidelity.md` says how to renew it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

FILE = Path(__file__).with_name("fidelity.json")


class Parity(msgspec.Struct, frozen=True):
    """Compared values of one plugin: verdicts and scores of single nodes."""

    cells: int
    identical: int

    @property
    def is_complete(self) -> bool:
        return self.cells == self.identical


class Failure(msgspec.Struct, frozen=True):
    name: str
    plugin: str
    field: str


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What `kviz conformance --json` prints; a failure's values are left out here."""

    cases: int
    identical: int
    by_plugin: dict[str, Parity]
    failures: list[Failure]

    @property
    def rows(self) -> list[tuple[str, Parity]]:
        return sorted(self.by_plugin.items())

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


@dataclass(frozen=True)
class Difference:
    """One place where kviz and kube-scheduler may differ, and the ADR that decided it."""

    adr: str
    title: _StrPromise
    text: _StrPromise

    @property
    def document(self) -> str:
        """The decision's name among the documents."""
        return f"adr/{self.adr}"


DIFFERENCES = (
    Difference(
        "0002-one-node-order-one-pick",
        _("Nodes are examined one after the other"),
        _(
            "kube-scheduler filters nodes in parallel, so which of them it finds first varies "
            "from run to run in clusters of more than 100 nodes. kviz goes through them in "
            "snapshot order, as kube-scheduler does with a parallelism of 1."
        ),
    ),
    Difference(
        "0003-first-where-upstream-iterates-a-map",
        _("Where kube-scheduler iterates a map, kviz takes the first in node order"),
        _(
            "Between two preemption candidates that are equal in every criterion kube-scheduler "
            "takes either. kviz takes the first and reports the tie."
        ),
    ),
    Difference(
        "0004-virtual-time",
        _("Time is virtual"),
        _(
            "Backoff, flushes and timeouts happen at the right virtual time, but a cycle itself "
            "takes no time. Races that depend on the speed of a machine do not occur."
        ),
    ),
    Difference(
        "0009-report-what-is-not-modelled",
        _("Some features are reported, not modelled"),
        _(
            "Pod groups and the parts of dynamic resource allocation that are off by default are "
            "not modelled. Of a cluster that uses them every page of a run, every exported table, "
            "REST and the command line say so."
        ),
    ),
    Difference(
        "0025-devices",
        _("The search for devices is counted, not timed"),
        _(
            "kube-scheduler gives up looking for devices on a node after ten seconds. kviz does "
            "after 100,000 candidates, with the same error."
        ),
    ),
    Difference(
        "0013-what-extenders-see-and-may-change",
        _("Extenders see the fields of pods and nodes that kviz stores"),
        _(
            "Fields that a snapshot drops, such as annotations and environment values, are "
            "missing in the calls. An extender that reads them may decide otherwise than in the "
            "cluster."
        ),
    ),
    Difference(
        "0014-the-cluster-around-the-scheduler",
        _("The cluster around the scheduler is simulated in part"),
        _(
            "Kubelets, taints, lost nodes and owners act in a fixed order, and faster than in a "
            "real cluster. Everything else happens only if a scenario says so."
        ),
    ),
    Difference(
        "0017-limits-at-the-edges",
        _("Some extreme inputs are limited"),
        _(
            "Amounts beyond int64 are capped, YAML 1.1 booleans such as yes are strings, and a "
            "configuration is one document."
        ),
    ),
)
