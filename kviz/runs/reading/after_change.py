"""Reads: what a change did to a pod, and to the pods beside it, against the run it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.wording import translated
from kviz.runs.models import PodOutcome, Run
from scheduler_core.sim.fate import Fate, verdict

MAX_ROWS: Final = 20
"""So many pods that end differently are listed."""


@dataclass(frozen=True)
class Ended:
    """A pod at the end of two runs: the node in each, empty where it has none.

    `deleted` and `evicted_by` (the preemptor) are of the second run.
    """

    pod: str
    before: str
    now: str
    deleted: bool = False
    evicted_by: str = ""


@dataclass(frozen=True)
class AfterChange:
    """A pod after a change: a sentence, and all pods that end differently, it first."""

    sentence: str
    rows: list[Ended]
    n_different: int


def after_change(*, run: Run, before: Run, pod: str) -> AfterChange | None:
    """Compare where pods ended; None where a run does not know the pod. Both are over."""
    then, now = (
        {each.pod: each for each in one.pod_outcomes.only("pod", "node", "deleted", "evicted_by")}
        for one in (before, run)
    )
    if pod not in now or pod not in then:
        return None
    different = [
        ended
        for name in now.keys() | then.keys()
        if (ended := _ended(name, then.get(name), now.get(name))) is not None
    ]
    different.sort(key=lambda each: (each.pod != pod, bool(each.now), each.pod))
    said = translated(verdict(_fate(pod, then), _fate(pod, now), pod))
    return AfterChange(said + _of_others(pod, different), different[:MAX_ROWS], len(different))


def _fate(pod: str, outcomes: Mapping[str, PodOutcome]) -> Fate:
    victims = (each.pod for each in outcomes.values() if each.deleted and each.evicted_by == pod)
    return Fate(_node(outcomes[pod]), tuple(sorted(victims)))


def _node(outcome: PodOutcome) -> str:
    return "" if outcome.deleted else outcome.node


def _ended(pod: str, then: PodOutcome | None, now: PodOutcome | None) -> Ended | None:
    """The pod if it ends differently; a run that does not list it left it where it was."""
    if then is None or now is None:
        known = then or now
        if known is None or not known.deleted:
            return None
        was = _("running")
        return Ended(pod, was, "", True, now.evicted_by) if now else Ended(pod, "", was)
    if _node(then) == _node(now):
        return None
    return Ended(pod, _node(then), _node(now), now.deleted, now.evicted_by)


def _of_others(pod: str, different: list[Ended]) -> str:
    others = [each for each in different if each.pod != pod and not each.now]
    evicted = [each.pod for each in others if each.evicted_by and each.evicted_by != pod]
    lost = [each.pod for each in others if not each.deleted]
    return _counted(
        ngettext("; %(pod)s was evicted", "; %(n)s pods were evicted", len(evicted)), evicted
    ) + _counted(
        ngettext("; %(pod)s lost its node", "; %(n)s pods lost their nodes", len(lost)), lost
    )


def _counted(text: str, pods: list[str]) -> str:
    return text % {"pod": pods[0], "n": len(pods)} if pods else ""
