"""The reality check: what a scheduler did, and what kviz's engine does in the same place.

For each decision the cluster is rebuilt as it was (`moments`), and the engine attempts the pod. The
first of these that holds is said, and nothing better: the same; among the equals; the same if other
nodes were looked at, where a scheduler stops at enough of them; the same among the bindings that
were decided on before by the order of the queue, whenever they were written; the same once more of
those written just after count as made, as they do for a scheduler that has assumed them; the same
in the state before the latest changes; else unexplained. Where the scheduler is of another release
(`another_release`), that is the cause, and nothing is searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, get_args

from kviz.following.another_release import another_release, in_group
from kviz.following.decisions import Decision
from kviz.following.follower import Journal
from kviz.following.moments import NEAR_NS, Moment, matters, moments
from scheduler_core.analysis.advice.single_attempt import InAnySample, SingleAttempt, attempt_once
from scheduler_core.api import Node, Pod
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.wording import say, series

Agreement = Literal[
    "same",
    "among the equals",
    "same where others were looked at",
    "same once later bindings count as assumed",
    "message the same",
    "speaks of the state before",
    "same in another order of bindings",
    "unexplained",
    "not modelled",
]
Cause = Literal[
    "",
    "release",
    "configuration",
    "plugin",
    "extender",
    "sampling",
    "race",
    "not known",
    "kviz",
]
"""What most likely parts kviz from what happened; `kviz`: nothing else is in sight.

A cache that was stale is no cause: where one explains a decision, it `speaks of the state before`.
"""

AGREEMENTS: Final[Mapping[Agreement, str]] = {
    "same": say("reality.agrees", "same"),
    "among the equals": say("reality.among_equals", "among the equals"),
    "same where others were looked at": say(
        "reality.others_looked_at", "same where others were looked at"
    ),
    "same once later bindings count as assumed": say(
        "reality.later_assumed", "same once later bindings count as assumed"
    ),
    "message the same": say("reality.same_message", "message the same"),
    "speaks of the state before": say("reality.state_before", "speaks of the state before"),
    "same in another order of bindings": say(
        "reality.another_order", "same in another order of bindings"
    ),
    "unexplained": say("reality.unexplained", "unexplained"),
    "not modelled": say("reality.not_modelled", "not modelled"),
}
CAUSES: Final[Mapping[Cause, str]] = {
    "release": say("cause.release", "release"),
    "configuration": say("cause.configuration", "configuration"),
    "plugin": say("cause.plugin", "plugin"),
    "extender": say("cause.extender", "extender"),
    "sampling": say("cause.sampling", "sampling"),
    "race": say("cause.race", "race"),
    "not known": say("cause.not_known", "not known"),
    "kviz": "kviz",
}
"""In words for people; the keys are what scripts read."""

MAX_ASSUMED: Final = 3
"""So many bindings that follow may count as made already."""
MAX_EARLIER: Final = 8
"""So many changes back a decision may rest on."""


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
        return self.agreement not in ("unexplained", "not modelled")


@dataclass(frozen=True, slots=True)
class Score:
    """How often each agreement was found."""

    counts: Mapping[Agreement, int]

    @property
    def n_not_modelled(self) -> int:
        return self.counts["not modelled"]

    @property
    def n_decisions(self) -> int:
        """Those that kviz models."""
        return sum(self.counts.values()) - self.n_not_modelled

    @property
    def n_explained(self) -> int:
        return self.n_decisions - self.counts["unexplained"]

    @property
    def sentence(self) -> str:
        if not self.n_decisions and not self.n_not_modelled:
            return say("reality.none_seen", "No decision was seen yet.")
        text = say(
            "reality.score",
            "{n} of {all} decisions explained.",
            n=self.n_explained,
            all=self.n_decisions,
        )
        if not self.n_not_modelled:
            return text
        return say(
            "reality.score_and_groups",
            "{score} {n} more are about pods in groups: not modelled.",
            score=text,
            n=self.n_not_modelled,
        )


def check(journal: Journal, options: SchedulerOptions) -> Iterator[Compared]:
    """Yield every decision of a journal beside kviz's own.

    Raises ConfigError for a bad configuration, and PluginFailure.
    """
    another = another_release(journal, options)
    for moment in moments(journal):
        yield compare(moment, options, another)


def score(found: Iterable[Compared]) -> Score:
    counts = Counter(each.agreement for each in found)
    return Score({agreement: counts[agreement] for agreement in get_args(Agreement)})


def compare(moment: Moment, options: SchedulerOptions, another: str = "") -> Compared:
    """Set kviz's verdict beside one decision.

    `another` says why the scheduler is of another release (`another_release`).
    """
    decision = moment.decision
    if in_group(moment.pod):
        kviz = SingleAttempt("not tried", why="kviz does not model pod groups")
        return Compared(decision, "not modelled", kviz)
    kviz = _attempt(moment, options)
    agreement = _agreement(decision, kviz)
    if agreement == "unexplained" and another:
        return Compared(decision, agreement, kviz, 0, "release", another)
    if agreement == "unexplained" and kviz.ending != "not tried":
        ordered = moment.in_queue_order()
        found = _in_order(ordered, options) if ordered is not moment else None
        found = found or _in_another_state(ordered, options)
        if found is not None:
            return found
    cause, sentence = _cause(moment, kviz, options) if agreement == "unexplained" else ("", "")
    return Compared(decision, agreement, kviz, 0, cause, sentence)


def _in_order(ordered: Moment, options: SchedulerOptions) -> Compared | None:
    """Attempt the pod among those that left the queue before it, whenever they were written."""
    kviz = _attempt(ordered, options)
    if _agreement(ordered.decision, kviz) == "unexplained":
        return None
    return Compared(ordered.decision, "same in another order of bindings", kviz)


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
        return "extender", say(
            "reality.extender",
            "An extender of the configuration has a say, and kviz did not ask it.",
        )
    if decision.what == "binding" and kviz.asked is InAnySample.BEATEN:
        return "sampling", say(
            "reality.sampling",
            "It is not reported which {n} of {all} nodes were examined.",
            n=kviz.n_examined,
            all=kviz.n_nodes,
        )
    n_beside = sum(1 for _ in islice(moment.with_later(), MAX_ASSUMED + 1))
    if decision.what == "message":
        return _cause_of_message(moment, kviz, n_beside)
    return _cause_of_binding(moment, kviz, n_beside)


def _not_tried(
    moment: Moment, kviz: SingleAttempt, configuration: KubeSchedulerConfiguration
) -> str:
    return say(
        "reality.not_tried",
        "kviz did not try the pod ({why}): it asks for {name}, the profiles are {profiles}.",
        why=kviz.why,
        name=moment.pod.spec.scheduler_name or "default-scheduler",
        profiles=series(profile.scheduler_name for profile in configuration.profiles),
    )


def _cause_of_binding(moment: Moment, kviz: SingleAttempt, n_beside: int) -> tuple[Cause, str]:
    node = moment.decision.node
    if n_beside and kviz.ending == "bound" and node in kviz.feasible:
        return "race", say(
            "reality.race",
            "Other pods were bound within two seconds after it; it is not reported which of them "
            "the scheduler had placed before.",
        )
    if _recent(moment):
        return "not known", say(
            "reality.binding_not_known",
            "kviz finds no node for it, or another than {node}, also in the states just before. "
            "Changes may be missing in what was told, or a plugin may be another one.",
            node=node,
        )
    if kviz.ending != "bound":
        return "plugin", say(
            "reality.no_node", "kviz finds no node: {message}", message=kviz.message
        )
    if kviz.n_examined < kviz.n_nodes and kviz.asked is None:
        return "race", say(
            "reality.nominated_alone",
            "kviz looks at {node} alone, to which the pod is nominated.",
            node=kviz.node,
        )
    if node not in kviz.feasible and kviz.asked is not InAnySample.BEATEN:
        return "plugin", say(
            "reality.rejected",
            "kviz rejects {node}: a plugin or its arguments may be others there.",
            node=node,
        )
    return "configuration", say(
        "reality.scored_higher",
        "{node} fits, but kviz scores {higher} higher: weights or arguments may differ.",
        node=node,
        higher=kviz.node,
    )


def _cause_of_message(moment: Moment, kviz: SingleAttempt, n_beside: int) -> tuple[Cause, str]:
    if kviz.ending == "bound":
        if n_beside:
            return "race", say(
                "reality.others_placed",
                "kviz finds a node for it, {node}. Others were placed at the same time.",
                node=kviz.node,
            )
        if _recent(moment):
            return "not known", say(
                "reality.node_not_known",
                "kviz finds a node for it, {node}, also in the states just before. Changes may be "
                "missing in what was told, or a plugin may be another one.",
                node=kviz.node,
            )
        return "plugin", say(
            "reality.unknown_plugin",
            "kviz finds a node for it, {node}. A plugin that kviz does not know may reject it.",
            node=kviz.node,
        )
    if _recent(moment):
        return "not known", say(
            "reality.message_not_known",
            "kviz writes another message, also in the states just before. Changes may be missing "
            "in what was told, or a plugin may be another one.",
        )
    if n_beside:
        return "race", say(
            "reality.bound_after",
            "Other pods were bound just after, some of which may have been placed before.",
        )
    unknown = _unknown_reasons(moment.decision.message, kviz.message)
    if unknown:
        return "plugin", say(
            "reality.not_said", 'kviz does not say "{reason}" here.', reason=unknown
        )
    return "kviz", say(
        "reality.quiet",
        "Nothing else changed at the time: kviz may be wrong, or the configuration other.",
    )


def _recent(moment: Moment) -> bool:
    """Return whether a pod or a node changed within two seconds before, or what matters else."""
    return any(
        isinstance(past.change.item, Pod | Node) or matters(past)
        for past in moment.past
        if past.now_ns >= moment.now_ns - NEAR_NS and past.change.item.key != moment.pod.key
    )


def _unknown_reasons(told: str, own: str) -> str:
    """Return the first clause of a message that kviz's own has in no number, empty if none."""
    for clause in told.partition(": ")[2].split(", "):
        words = clause.strip(" .").split(" ", 1)[-1]
        if words and words not in own:
            return words
    return ""
