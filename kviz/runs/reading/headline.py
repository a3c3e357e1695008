"""Reads: the answer of a run in one sentence, and what became of each pod that waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.runs.models import PodOutcome, Run
from kviz.runs.reading.findings import PendingCause
from scheduler_core.trace.index import UNKNOWN

MAX_SQUARES: Final = 60
"""So many pods are drawn one by one; more are a bar."""

Fate = Literal["scheduled", "rejected", "untried", "evicted"]


@dataclass(frozen=True)
class Square:
    """A pod that waited; `cycle` is its last, 0 without one."""

    pod: str
    fate: Fate
    cycle: int


@dataclass(frozen=True)
class Stretch:
    """Pods with one fate in a bar; `cause` is what rejects them, where they have one."""

    fate: Fate
    n: int
    cause: str = ""


@dataclass(frozen=True)
class Answer:
    """What became of the pods that waited for a node; `squares` only where they are few."""

    n_waited: int
    n_scheduled: int
    n_rejected: int
    n_untried: int
    n_evicted: int
    squares: list[Square]
    stretches: list[Stretch]
    sentence: str


def answer(*, run: Run, causes: Sequence[PendingCause], n_evicted: int) -> Answer:
    """Read what became of the pods of a run, finished or not, and say it in a sentence or two."""
    queued = run.pod_outcomes.exclude(queue=UNKNOWN).exclude(last_cycle=0, deleted=True)
    n_pending = sum(len(cause.pods) for cause in causes)
    n_scheduled = queued.filter(deleted=False, last_cycle__gt=0).exclude(node="").count()
    untried = [pod for cause in causes if cause.kind == "untried" for pod in cause.pods]
    n_waited, n_untried = n_scheduled + n_pending, len(untried)
    n_rejected = n_pending - n_untried
    few = queued.order_by("last_cycle", "pod") if n_waited <= MAX_SQUARES else ()
    squares = [Square(pod.pod, _fate(pod), pod.last_cycle) for pod in few if _waited(pod)]
    squares.sort(key=lambda square: square.fate == "untried")
    return Answer(
        n_waited,
        n_scheduled,
        n_rejected,
        n_untried,
        n_evicted,
        squares,
        _stretches(n_scheduled, n_rejected, n_untried, causes),
        _sentence(n_scheduled, n_pending, causes) + _evicted(n_evicted),
    )


def _waited(pod: PodOutcome) -> bool:
    return bool(pod.last_cycle) or not pod.node


def _fate(pod: PodOutcome) -> Fate:
    if pod.deleted:
        return "evicted"
    if pod.node:
        return "scheduled"
    return "rejected" if pod.last_cycle else "untried"


def _stretches(
    n_scheduled: int, n_rejected: int, n_untried: int, causes: Sequence[PendingCause]
) -> list[Stretch]:
    """The bar of many pods: the commonest cause has a stretch to itself."""
    first = next((cause for cause in causes if cause.kind != "untried"), None)
    n_first = len(first.pods) if first is not None and len(first.pods) > 1 else 0
    found = [
        Stretch("scheduled", n_scheduled),
        Stretch("rejected", n_first, first.plugin if first is not None else ""),
        Stretch("rejected", n_rejected - n_first),
        Stretch("untried", n_untried),
    ]
    return [each for each in found if each.n]


def _sentence(n_scheduled: int, n_pending: int, causes: Sequence[PendingCause]) -> str:
    n_waited = n_scheduled + n_pending
    values = {"bound": f"{n_scheduled:,}", "all": f"{n_waited:,}", "pending": f"{n_pending:,}"}
    if not n_waited:
        return _("No pod waited for a node.")
    if not n_pending and n_waited == 2:
        return _("Both waiting pods got a node.")
    if not n_pending and n_waited == 1:
        return _("The one waiting pod got a node.")
    if not n_pending:
        return _("All %(all)s waiting pods got a node.") % values
    if n_waited == 1:
        return _("The one waiting pod stays pending.")
    if not n_scheduled:
        said = _("None of %(all)s waiting pods got a node%(causes)s.")
    else:
        said = ngettext(
            "%(bound)s of %(all)s waiting pods got a node; %(pending)s stays pending%(causes)s.",
            "%(bound)s of %(all)s waiting pods got a node; %(pending)s stay pending%(causes)s.",
            n_pending,
        )
    return said % (values | {"causes": _causes(n_pending, causes)})


def _evicted(n: int) -> str:
    if not n:
        return ""
    return " " + ngettext("%(n)s pod was evicted.", "%(n)s pods were evicted.", n) % {"n": f"{n:,}"}


def _causes(n_pending: int, causes: Sequence[PendingCause]) -> str:
    """How the pending pods share their causes, the end of a sentence."""
    if n_pending < 2:
        return ""
    if len(causes) == 1:
        return _(", all for one cause")
    if len(causes) == n_pending:
        return _(", each for a different cause")
    most = max(len(cause.pods) for cause in causes)
    return _(", %(n)s of them for one cause") % {"n": f"{most:,}"}
