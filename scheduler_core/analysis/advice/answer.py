"""An answer: changes after which a pending pod binds, and what else came of the run with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.analysis.advice.actions import (
    BROKEN_BUDGET,
    EVICTED,
    NEWLY_PENDING,
    NOT_HELPED,
    Kind,
    Plan,
)
from scheduler_core.analysis.advice.budgets import Disruptions, against
from scheduler_core.analysis.advice.harm import (
    ORDER,
    Harm,
    harm_of,
    leaving_of,
    warnings_of,
    warnings_of_place,
)
from scheduler_core.analysis.advice.leaving import Leaving
from scheduler_core.analysis.advice.made_again import MadeAgain, made_again
from scheduler_core.analysis.advice.titles import title_of
from scheduler_core.analysis.advice.trial import Differing, RunEnd, differences
from scheduler_core.analysis.advice.words import sentence_of
from scheduler_core.api import Node, Pod
from scheduler_core.changes import Change, line_of
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.owners import kind_told
from scheduler_core.changes.vocabulary import SetField, SetLabel
from scheduler_core.cluster.pods import controller_of
from scheduler_core.wording import say


@dataclass(frozen=True, slots=True)
class Answer:
    """Changes after which the pod binds on `node`, in the run with them.

    `leaving` are the pods that the changes take off their nodes, `evicted` those that are evicted
    in that run and not in the one without; `budgets` is what disruption budgets say to both. The
    others are pods that have a node only with the changes, or only without. `warnings` are what
    one ought to know before making the changes. `title` is the plan in a few words. `base_price` is
    the price without what other pods feel. `n_helped` of the pods asked about bind, the first of
    them on `node`.
    """

    changes: tuple[Change, ...]
    sentence: str
    node: str
    evicted: tuple[str, ...]
    newly_bound: tuple[str, ...]
    newly_pending: tuple[str, ...]
    price: int
    base_price: int
    kinds: tuple[Kind, ...]
    n_helped: int = 1
    leaving: tuple[str, ...] = ()
    budgets: tuple[Disruptions, ...] = ()
    warnings: tuple[str, ...] = ()
    title: str = ""
    afterwards: tuple[str, ...] = ()
    """What owners do about the evicted pods."""
    pod_kinds: Mapping[str, str] = field(default_factory=dict)
    """What bare, static and DaemonSet pods among those that lose something are called."""

    @property
    def losing(self) -> tuple[str, ...]:
        """The other pods that lose their node, or have none then."""
        return tuple(dict.fromkeys((*self.leaving, *self.evicted, *self.newly_pending)))

    @property
    def harm(self) -> Harm:
        return harm_of(self.warnings, self.losing)

    @property
    def rank(self) -> tuple[int, int]:
        """The order of answers: the pods they harm, then the price."""
        return (ORDER.index(self.harm), self.price)

    def repeats(self, other: Answer) -> bool:
        """Return whether it says no more than another that is at least as good.

        It does all that the other does, and more; or it sets the same fields to other values, and
        the run ends the same.
        """
        if self.n_helped > other.n_helped or self.rank < other.rank:
            return False
        if set(map(line_of, self.changes)) >= set(map(line_of, other.changes)):
            return True
        places = [_places(each.changes) for each in (self, other)]
        return places[0] == places[1] and self._felt == other._felt

    @property
    def _felt(self) -> tuple[object, ...]:
        return (self.node, self.evicted, self.leaving, self.newly_pending, self.newly_bound)


def without_repeats(answers: Iterable[Answer]) -> list[Answer]:
    """Return answers, best first, without those that repeat a better one."""
    kept: list[Answer] = []
    for each in answers:
        if not any(each.repeats(better) for better in kept):
            kept.append(each)
    return kept


def _places(changes: Sequence[Change]) -> list[object]:
    """Return what changes are about, without the values that they set."""
    return [
        (each.target, each.path)
        if isinstance(each, SetField)
        else (each.node, each.key)
        if isinstance(each, SetLabel)
        else line_of(each)
        for each in changes
    ]


@dataclass(frozen=True, slots=True)
class Asked:
    """The pods that are to bind, how the cluster ends without changes, and how it begins."""

    pods: tuple[str, ...]
    as_it_is: RunEnd
    cluster: RestingCluster
    again: Callable[[], RunEnd] | None = None
    """Runs the plan once more, with owners that make evicted pods again; None if they do."""

    def evicted(self, after: RunEnd) -> tuple[str, ...]:
        """Return the pods that a run evicts, and the one without changes does not."""
        known = set(self.as_it_is.keys("evicted"))
        return tuple(key for key in after.keys("evicted") if key not in known)

    def made_again(self, after: RunEnd) -> MadeAgain:
        victims = _pods(self.cluster, self.evicted(after))
        if self.again is None or not victims:
            return MadeAgain()
        ends = self.again() if any(map(controller_of, victims)) else after
        return made_again(victims, after, ends, self.pods)


def answer_of(
    asked: Asked, plan: Plan, changes: tuple[Change, ...], nodes: Sequence[str], after: RunEnd
) -> Answer:
    """Return what came of a plan, as changes of all pods, that put some of them onto `nodes`."""
    others = [each for each in differences(asked.as_it_is, after) if each.pod not in asked.pods]
    evicted, again = asked.evicted(after), asked.made_again(after)
    pending = tuple(each.pod for each in others if _has_no_node(each))
    leaving = tuple(leaving_of(plan.risking(changes), asked.cluster))
    losing = _pods(asked.cluster, dict.fromkeys((*leaving, *evicted, *pending)))
    budgets = Leaving(asked.cluster).disruptions(_pods(asked.cluster, (*leaving, *evicted)))
    text = sentence_of(plan, asked.cluster)
    if len(changes) > len(plan.changes):
        n = len(asked.pods) - 1
        text = say("advice.and_siblings", "{what} (and so of {n} more of its pods)", what=text, n=n)
    return Answer(
        changes=changes,
        sentence=text,
        node=nodes[0],
        evicted=evicted,
        newly_bound=tuple(each.pod for each in others if each.what == "newly bound"),
        newly_pending=pending,
        price=plan.price
        + EVICTED * len(evicted)
        + NEWLY_PENDING * len(pending)
        + NOT_HELPED * (len(asked.pods) - len(nodes))
        + BROKEN_BUDGET * len(against(budgets).intersection(evicted)),
        base_price=plan.price,
        kinds=tuple(each.kind for each in plan.actions),
        n_helped=len(nodes),
        leaving=leaving,
        budgets=budgets,
        warnings=(*_warned(asked, plan, changes, nodes), *again.warnings),
        title=title_of(plan, pending),
        afterwards=again.sentences,
        pod_kinds={pod.key: kind for pod in losing if (kind := kind_told(pod))},
    )


def _warned(
    asked: Asked, plan: Plan, changes: Sequence[Change], nodes: Sequence[str]
) -> Iterator[str]:
    """Yield what the changes risk, and what the nodes do on which the pods are then."""
    cluster = asked.cluster
    yield from warnings_of(plan.risking(changes), cluster)
    known = [node for name in dict.fromkeys(nodes) if (node := cluster.get(Node, name)) is not None]
    yield from warnings_of_place(cluster.get(Pod, asked.pods[0]), known, changes)


def _has_no_node(differing: Differing) -> bool:
    """Return whether a pod has no node then: one that had, or one that an owner made again."""
    is_new = differing.what == "new" and differing.after.outcome == "pending"
    return is_new or differing.what == "newly pending"


def _pods(cluster: RestingCluster, keys: Iterable[str]) -> list[Pod]:
    return [pod for pod in (cluster.get(Pod, key) for key in keys) if pod is not None]
