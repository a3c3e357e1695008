"""The reality check: what a scheduler did, and what kviz's engine does in the same place.

For each decision the cluster is rebuilt as it was (`moments`), and the engine attempts the pod. The
first of these that holds is said, and nothing better: the same; among the equals; the same if other
nodes were looked at, where a scheduler stops at enough of them; the same once bindings that were
written just after count as made, as they do for a scheduler that has assumed them; the same in the
state before the latest changes; the same in another order of bindings; else unexplained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, get_args

from kviz.following.decisions import Decision
from kviz.following.follower import Journal
from kviz.following.moments import Moment, moments
from scheduler_core.analysis.advice.single_attempt import InAnySample, SingleAttempt, attempt_once
from scheduler_core.api.counting import counted
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.scheduler.assembly import SchedulerOptions

Agreement = Literal[
    "same",
    "among the equals",
    "same where others were looked at",
    "same once later bindings count as assumed",
    "message the same",
    "speaks of the state before",
    "same in another order of bindings",
    "unexplained",
]
Cause = Literal[
    "", "configuration", "plugin", "extender", "sampling", "race", "stale cache", "kviz"
]
"""What most likely parts kviz from what happened; `kviz`: nothing else is in sight."""

MAX_ASSUMED: Final = 5
"""So many bindings that follow may count as made already."""
MAX_REORDERED: Final = 8
"""So often the order of bindings is changed further."""
MAX_EARLIER: Final = 12
"""So many changes back a decision may rest on."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One decision: what happened, and what kviz says in its place.

    `n_shift` is how many later bindings counted, how many changes were not there yet, or how often
    the order of bindings was changed. `cause`
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
    if agreement == "unexplained" and kviz.ending != "not tried":
        found = _in_another_state(moment, options)
        if found is not None:
            return found
    cause, sentence = _cause(moment, kviz, options) if agreement == "unexplained" else ("", "")
    return Compared(decision, agreement, kviz, 0, cause, sentence)


def _in_another_state(moment: Moment, options: SchedulerOptions) -> Compared | None:
    """Find a state about then in which kviz decides what was decided.

    A scheduler has assumed pods whose bindings are written later, and hears late of what others
    wrote: some of the next bindings may count already, and some of the latest changes not yet.
    """
    for n, later in enumerate(islice(moment.with_later(), MAX_ASSUMED), 1):
        found = _attempt(later, options)
        if _agreement(moment.decision, found) != "unexplained":
            agreement: Agreement = "same once later bindings count as assumed"
            return Compared(moment.decision, agreement, found, n)
    for n, earlier in enumerate(islice(moment.before_changes(), MAX_EARLIER), 1):
        found = _attempt(earlier, options)
        if _agreement(moment.decision, found) != "unexplained":
            return Compared(moment.decision, "speaks of the state before", found, n)
    return _in_another_order(moment, options) if moment.decision.node else None


def _in_another_order(moment: Moment, options: SchedulerOptions) -> Compared | None:
    """Find an order of the bindings about then in which kviz binds the pod as it was bound."""
    state, kviz = moment, _attempt(moment, options)
    for n in range(1, MAX_REORDERED + 1):
        other = state.in_another_order(kviz.tied, moment.decision.node)
        if other is None:
            return None
        state, kviz = other, _attempt(other, options)
        if _agreement(moment.decision, kviz) != "unexplained":
            agreement: Agreement = "same in another order of bindings"
            return Compared(moment.decision, agreement, kviz, n)
    return None


def _attempt(moment: Moment, options: SchedulerOptions) -> SingleAttempt:
    return attempt_once(moment.objects(), moment.pod.key, options, moment.decision.node)


def _agreement(decision: Decision, kviz: SingleAttempt) -> Agreement:
    if decision.what == "message":
        return "message the same" if decision.message == kviz.message else "unexplained"
    if kviz.ending != "bound":
        return "unexplained"
    if kviz.node == decision.node:
        return "same"
    if decision.node in kviz.tied:
        return "among the equals"
    if kviz.asked is InAnySample.MAY_WIN:
        return "same where others were looked at"
    return "unexplained"


# ---------------------------------------------------------------- the most likely cause


def _cause(moment: Moment, kviz: SingleAttempt, options: SchedulerOptions) -> tuple[Cause, str]:
    decision, configuration = moment.decision, options.configuration
    if kviz.ending == "not tried":
        return "configuration", _not_tried(moment, kviz, configuration)
    if configuration.extenders:
        return "extender", "An extender of the configuration has a say, and kviz did not ask it."
    if decision.what == "binding" and kviz.asked is InAnySample.BEATEN:
        text = f"Which {kviz.n_examined} of {kviz.n_nodes} nodes were looked at is not told."
        return "sampling", text
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
    if n_beside and kviz.ending == "bound" and node in kviz.feasible:
        text = f"{racing} came within two seconds after it; which of these pods the scheduler "
        return "race", f"{text}had placed before is not told."
    if _recent(moment):
        text = f"kviz finds no node for it, or another than {node}; the cluster had changed just"
        return "stale cache", f"{text} before, and a scheduler may hear of that later."
    if kviz.ending != "bound":
        return "plugin", f"kviz finds no node: {kviz.message}"
    if kviz.n_examined < kviz.n_nodes and kviz.asked is None:
        return "race", f"kviz looks at {kviz.node} alone, to which the pod is nominated."
    if node not in kviz.feasible and kviz.asked is not InAnySample.BEATEN:
        return "plugin", f"kviz rejects {node}: a plugin or its arguments may be others there."
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


def _unknown_reasons(told: str, own: str) -> str:
    """Return the first clause of a message that kviz's own has in no number, empty if none."""
    for clause in told.partition(": ")[2].split(", "):
        words = clause.strip(" .").split(" ", 1)[-1]
        if words and words not in own:
            return words
    return ""
