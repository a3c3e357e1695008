"""The reality check: what a scheduler did, and what kviz's engine does in the same place.

For each decision the cluster is rebuilt as it was (`moments`), and the engine attempts the pod. The
first of these that holds is said, and nothing better: the same; among the equals; the same once
bindings that were written just after count as made, as they do for a scheduler that has assumed
them; a message that speaks of the state before the latest changes; else unexplained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, get_args

from kviz.following.decisions import Decision
from kviz.following.follower import Journal
from kviz.following.moments import SECOND_NS, Moment, moments
from scheduler_core.analysis.advice.single_attempt import SingleAttempt, attempt_once
from scheduler_core.api.counting import counted
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.scheduler.assembly import SchedulerOptions

Agreement = Literal[
    "same",
    "among the equals",
    "same once later bindings count as assumed",
    "message the same",
    "speaks of the state before",
    "unexplained",
]
Cause = Literal[
    "", "configuration", "plugin", "extender", "sampling", "race", "stale cache", "kviz"
]
"""What most likely parts kviz from what happened; `kviz`: nothing else is in sight."""

MAX_ASSUMED: Final = 5
"""So many bindings that follow may count as made already."""
MAX_EARLIER: Final = 12
"""So many changes back a message may speak of."""
EXAMINES_ALL_BELOW: Final = 100
SAME: Final[tuple[Agreement, ...]] = ("same", "among the equals", "message the same")


@dataclass(frozen=True, slots=True)
class Compared:
    """One decision: what happened, and what kviz says in its place.

    `n_shift` is how many later bindings counted, or how many changes were not there yet. `cause`
    and `sentence` say what most likely differs where it is unexplained.
    """

    decision: Decision
    agreement: Agreement
    kviz: SingleAttempt
    n_shift: int = 0
    cause: Cause = ""
    sentence: str = ""

    @property
    def explained(self) -> bool:
        return self.agreement != "unexplained"


@dataclass(frozen=True, slots=True)
class Score:
    """How often each agreement was found."""

    counts: Mapping[Agreement, int]

    @property
    def n_decisions(self) -> int:
        return sum(self.counts.values())

    @property
    def n_explained(self) -> int:
        return self.n_decisions - self.counts["unexplained"]

    @property
    def sentence(self) -> str:
        if not self.n_decisions:
            return "No decision was seen yet."
        return f"{self.n_explained} of {self.n_decisions} decisions explained."


def check(journal: Journal, options: SchedulerOptions) -> Iterator[Compared]:
    """Yield every decision of a journal beside kviz's own.

    Raises ConfigError for a bad configuration, and PluginFailure.
    """
    for moment in moments(journal):
        yield compare(moment, options)


def score(found: Iterable[Compared]) -> Score:
    counts = Counter(each.agreement for each in found)
    return Score({agreement: counts[agreement] for agreement in get_args(Agreement)})


def compare(moment: Moment, options: SchedulerOptions) -> Compared:
    """Set kviz's verdict beside one decision."""
    decision = moment.decision
    kviz = _attempt(moment, options)
    agreement = _agreement(decision, kviz)
    if agreement != "unexplained" or kviz.ending == "not tried":
        cause, sentence = _cause(moment, kviz, options) if agreement == "unexplained" else ("", "")
        return Compared(decision, agreement, kviz, 0, cause, sentence)
    for n, later in enumerate(islice(moment.with_later(), MAX_ASSUMED), 1):
        found = _attempt(later, options)
        if _agreement(decision, found) in SAME:
            return Compared(decision, "same once later bindings count as assumed", found, n)
    if decision.what == "message":
        for n, earlier in enumerate(islice(moment.before_changes(), MAX_EARLIER), 1):
            found = _attempt(earlier, options)
            if _agreement(decision, found) in SAME:
                return Compared(decision, "speaks of the state before", found, n)
    cause, sentence = _cause(moment, kviz, options)
    return Compared(decision, "unexplained", kviz, 0, cause, sentence)


def _attempt(moment: Moment, options: SchedulerOptions) -> SingleAttempt:
    return attempt_once(moment.objects(), moment.pod.key, options)


def _agreement(decision: Decision, kviz: SingleAttempt) -> Agreement:
    if decision.what == "message":
        return "message the same" if decision.message == kviz.message else "unexplained"
    if kviz.ending != "bound":
        return "unexplained"
    if kviz.node == decision.node:
        return "same"
    return "among the equals" if decision.node in kviz.tied else "unexplained"


# ---------------------------------------------------------------- the most likely cause


def _cause(moment: Moment, kviz: SingleAttempt, options: SchedulerOptions) -> tuple[Cause, str]:
    decision, configuration = moment.decision, options.configuration
    if kviz.ending == "not tried":
        return "configuration", _not_tried(moment, kviz, configuration)
    if configuration.extenders:
        return "extender", "An extender of the configuration has a say, and kviz did not ask it."
    n_beside = sum(1 for _ in islice(moment.with_later(), MAX_ASSUMED + 1))
    if decision.what == "message":
        return _cause_of_message(moment, kviz, n_beside)
    return _cause_of_binding(moment, kviz, n_beside)


def _not_tried(
    moment: Moment, kviz: SingleAttempt, configuration: KubeSchedulerConfiguration
) -> str:
    name = moment.pod.spec.scheduler_name or "default-scheduler"
    profiles = ", ".join(profile.scheduler_name for profile in configuration.profiles)
    return (
        f"kviz did not try the pod ({kviz.why}): it asks for {name}, the profiles are {profiles}."
    )


def _cause_of_binding(moment: Moment, kviz: SingleAttempt, n_beside: int) -> tuple[Cause, str]:
    node = moment.decision.node
    more = "More than " if n_beside > MAX_ASSUMED else ""
    racing = f"{more}{counted(min(n_beside, MAX_ASSUMED), 'other binding')}"
    if kviz.ending != "bound":
        if _touched(moment, node):
            return "stale cache", f"kviz finds no node; {node} had changed just before."
        return "plugin", f"kviz finds no node: {kviz.message}"
    if node not in kviz.feasible:
        if _touched(moment, node):
            return "stale cache", f"kviz rejects {node}, which had changed just before."
        return "plugin", f"kviz rejects {node}: a plugin or its arguments may be others there."
    if kviz.n_examined < kviz.n_nodes:
        text = f"Which {kviz.n_examined} of {kviz.n_nodes} nodes were looked at is not told."
        return "sampling", text
    if n_beside:
        text = f"{racing} came within two seconds after it; which of these pods the scheduler "
        return "race", f"{text}had placed before is not told."
    text = f"{node} fits, but kviz scores {kviz.node} higher: weights or arguments may differ."
    return "configuration", text


def _cause_of_message(moment: Moment, kviz: SingleAttempt, n_beside: int) -> tuple[Cause, str]:
    if kviz.ending == "bound":
        text = f"kviz finds a node for it, {kviz.node}."
        if n_beside or _recent(moment):
            return "race", f"{text} Others were placed or went at the same time."
        return "plugin", f"{text} A plugin that kviz does not know may reject it."
    if _recent(moment):
        return "stale cache", "The cluster changed just before; the message may mix both states."
    if n_beside:
        return (
            "race",
            "Other pods were bound just after, some of which may have been placed before.",
        )
    unknown = _unknown_reasons(moment.decision.message, kviz.message)
    if unknown:
        return "plugin", f"kviz does not say {unknown!r} here."
    return (
        "kviz",
        "Nothing else changed at the time: kviz may be wrong, or the configuration other.",
    )


def _recent(moment: Moment) -> bool:
    return any(True for _ in islice(moment.before_changes(), 1))


def _touched(moment: Moment, node: str) -> bool:
    """Return whether a node, or a pod on it, changed just before."""
    return any(
        past.change.resource in ("nodes", "pods")
        and node in (past.change.item.key, _node_of(past.change.item))
        for past in moment.past
        if past.now_ns >= moment.now_ns - SECOND_NS
    )


def _node_of(item: object) -> str:
    spec = getattr(item, "spec", None)
    return getattr(spec, "node_name", "")


def _unknown_reasons(told: str, own: str) -> str:
    """Return the first clause of a message that kviz's own has in no number, empty if none."""
    for clause in told.partition(": ")[2].split(", "):
        words = clause.strip(" .").split(" ", 1)[-1]
        if words and words not in own:
            return words
    return ""
