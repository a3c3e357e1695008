"""What would let a pod bind: the answers there are so far, harmless first."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from django.utils.translation import gettext as _

from kviz.common.csv_file import Cell
from kviz.common.wording import translated
from kviz.experiments.charts import Chart
from kviz.experiments.models import Experiment, Result
from kviz.questions.unblock.text import (
    ONLY_RISKS,
    RESULTS,
    nowhere_sentence,
    pods_told,
    tried_sentence,
)
from kviz.runs.reading.trace import pod_known
from scheduler_core.analysis.advice.harm import ORDER, Harm
from scheduler_core.analysis.advice.unblock import MAX_ANSWERS
from scheduler_core.changes import Change, document_of, read_line
from scheduler_core.sim.fate import FROM_THE_START, Fate
from scheduler_core.wording import capitalised

LAB_ACTIONS: Final = (
    *("set", "taint", "untaint", "label", "unlabel", "cordon", "uncordon"),
    *("copyNode", "delete"),
)
"""What the Explorer's Lab can hold in its address (frontend/src/store/lab-changes.ts)."""


EXPLAINED: Final = frozenset(
    ("wait", "ready", "rollout", "driver", "defaultClass", "sharedVolume", "bring")
)
"""Kinds of actions whose title does not say what somebody has to do, or to look at."""


@dataclass(frozen=True)
class AnswerRow:
    """An answer; `variant` is the run that proves it, `lab` empty where the Lab cannot try it."""

    answer: Mapping[str, Any]
    variant: int
    lab: str

    @property
    def title(self) -> str:
        """The answer in a few words; those found before there were titles have a sentence alone."""
        title: str = self.answer.get("title") or self.answer["sentence"]
        return translated(title)

    @property
    def sentence(self) -> str:
        """What to do, old values and new, where the title does not say that."""
        if not self.answer.get("title"):
            return ""
        return translated(capitalised(self.answer["sentence"]))

    @property
    def is_explained(self) -> bool:
        """Whether the sentence stands below the title, and not behind it."""
        return not EXPLAINED.isdisjoint(self.answer.get("kinds", ()))

    @property
    def fate(self) -> str:
        """What becomes of the pod, as the Lab says it."""
        return translated(Fate(self.answer["node"], tuple(self.answer["evicted"])).text)

    @property
    def losing(self) -> str:
        """The pods that lose their place, empty if there are none."""
        answer = self.answer
        losing = (*answer["leaving"], *answer["evicted"], *answer["others"]["newly_pending"])
        return translated(pods_told(tuple(dict.fromkeys(losing)), answer.get("podKinds", {})))


@dataclass(frozen=True)
class PlanRow:
    """A plan that was tried, and in words what came of it."""

    sentence: str
    result: str


@dataclass(frozen=True)
class Helps:
    """What was found for a `pod`, and perhaps the other pending pods of its owner.

    `cycle` is its last one in the run, 0 where that is not known; `whole` the finished answer.
    """

    pod: str
    cycle: int
    rows: Sequence[AnswerRow]
    sentences: Sequence[str]
    whole: Mapping[str, Any] | None
    tried: str
    charts: Sequence[Chart] = ()

    @property
    def from_the_start(self) -> str:
        """Why the Lab may name another node."""
        return translated(FROM_THE_START)

    @property
    def only_risks(self) -> str:
        """Says so if every answer is a risk."""
        are = bool(self.rows) and all(_harm(each.answer) == "risk" for each in self.rows)
        return translated(ONLY_RISKS) if are else ""

    @property
    def n_pods(self) -> int:
        return len(self.whole["pods"]) if self.whole else 1

    @property
    def plans(self) -> list[PlanRow]:
        """All that were tried, in that order; none before the search is over."""
        plans = self.whole.get("plans", ()) if self.whole else ()
        return [
            PlanRow(translated(each["sentence"]), translated(RESULTS[each["result"]]))
            for each in plans
        ]


def read(experiment: Experiment, results: Sequence[Result]) -> Helps:
    """Read the plans that were run."""
    whole, pod = experiment.answer, experiment.asked["pod"]
    proofs = {tuple(each["changes"]): number for number, each in _answers(results)}
    found = (
        whole["answers"] if whole else sorted((each for _n, each in _answers(results)), key=_key)
    )
    rows = [
        AnswerRow(each, proofs[tuple(each["changes"])], _lab(each)) for each in found[:MAX_ANSWERS]
    ]
    return Helps(
        pod=pod,
        cycle=_last_cycle(experiment, pod),
        rows=rows,
        sentences=_sentences(pod, rows, whole),
        whole=whole,
        tried=_tried(whole) if whole and not whole.get("bound") else "",
    )


def _tried(whole: Mapping[str, Any]) -> str:
    return translated(tried_sentence(whole["tried"], whole["triedByKind"], whole["complete"]))


def _answers(results: Sequence[Result]) -> list[tuple[int, Mapping[str, Any]]]:
    answers = ((each.variant, each.outcome["answer"]) for each in results)
    return [(variant, answer) for variant, answer in answers if answer]


def _harm(answer: Mapping[str, Any]) -> Harm:
    """The pods that an answer harms; older answers do not have it."""
    return cast(Harm, answer.get("harm", "others"))


def _key(answer: Mapping[str, Any]) -> tuple[int, int, int]:
    """What a search ranks answers by."""
    return (ORDER.index(_harm(answer)), answer["price"], -answer["helps"])


def _sentences(pod: str, rows: Sequence[AnswerRow], whole: Mapping[str, Any] | None) -> list[str]:
    if whole and whole.get("bound"):
        return [translated(whole["bound"])]
    if not rows:
        nothing = _("Nothing that was tried lets %(pod)s bind.") % {"pod": pod}
        missing = (whole or {}).get("nowhere", ())
        return [nothing, *(translated(nowhere_sentence(each)) for each in missing)] if whole else []
    best = rows[0]
    text = _("%(pod)s %(fate)s with this change: %(what)s")
    return [text % {"pod": pod, "fate": best.fate, "what": best.title}]


def _last_cycle(experiment: Experiment, pod: str) -> int:
    namespace, _slash, name = pod.partition("/")
    run = experiment.run
    known = pod_known(run=run, namespace=namespace, name=name) if run is not None else None
    return known.last_cycle if known is not None else 0


def _lab(answer: Mapping[str, Any]) -> str:
    """Return the answer for the Lab, empty where its one cycle cannot show what follows."""
    if "wait" in answer.get("kinds", ()):
        return ""
    return lab_of(map(read_line, answer["changes"]))


def lab_of(changes: Iterable[Change]) -> str:
    """Return changes as the address of the Explorer has them, empty where it cannot."""
    documents = [document_of(change) for change in changes]
    if any(action not in LAB_ACTIONS for each in documents for action in each):
        return ""
    return base64.urlsafe_b64encode(msgspec.json.encode(documents)).decode().rstrip("=")


def _of(read: Callable[[Mapping[str, Any]], Cell]) -> Callable[[Mapping[str, Any]], Cell]:
    """A column of answers; plans that are none have nothing there."""
    return lambda outcome: read(outcome["answer"]) if outcome["answer"] else None


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "binds": lambda outcome: "yes" if outcome["answer"] else "no",
    "node": _of(lambda answer: answer["node"]),
    "harm": _of(_harm),
    "pods that bind": _of(lambda answer: answer["helps"]),
    "evicted": _of(lambda answer: len(answer["evicted"])),
    "newly bound": _of(lambda answer: len(answer["others"]["newly_bound"])),
    "newly pending": _of(lambda answer: len(answer["others"]["newly_pending"])),
    "changes": _of(lambda answer: "\n".join(answer["changes"])),
}
