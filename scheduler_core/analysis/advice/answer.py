"""An answer: changes after which a pending pod binds, and what else came of the run with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_core.analysis.advice.actions import (
    BROKEN_BUDGET,
    EVICTED,
    NEWLY_PENDING,
    NOT_HELPED,
    Kind,
    Plan,
)
from scheduler_core.analysis.advice.budgets import Disruptions, against
from scheduler_core.analysis.advice.harm import ORDER, Harm, harm_of, leaving_of, warnings_of
from scheduler_core.analysis.advice.leaving import Leaving
from scheduler_core.analysis.advice.trial import RunEnd, differences
from scheduler_core.analysis.advice.words import sentence_of
from scheduler_core.api import Pod
from scheduler_core.changes import Change
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.wording import say


@dataclass(frozen=True, slots=True)
class Answer:
    """Changes after which the pod binds on `node`, in the run with them.

    `leaving` are the pods that the changes take off their nodes, `evicted` those that are evicted
    in that run and not in the one without; `budgets` is what disruption budgets say to both. The
    others are pods that have a node only with the changes, or only without. `warnings` are what
    whoever makes the changes ought to know. `base_price` is the
    price without what other pods feel. `n_helped` of the pods asked about bind, the first of them
    on `node`.
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

    @property
    def losing(self) -> tuple[str, ...]:
        """The other pods that lose their node, or have none then."""
        return tuple(dict.fromkeys((*self.leaving, *self.evicted, *self.newly_pending)))

    @property
    def harm(self) -> Harm:
        return harm_of(self.warnings, self.losing)

    @property
    def rank(self) -> tuple[int, int]:
        """By what answers are advised: whom they harm, then the price."""
        return (ORDER.index(self.harm), self.price)


@dataclass(frozen=True, slots=True)
class Asked:
    """The pods that are to bind, how the cluster ends without changes, and how it begins."""

    pods: tuple[str, ...]
    as_it_is: RunEnd
    cluster: RestingCluster


def answer_of(
    asked: Asked, plan: Plan, changes: tuple[Change, ...], nodes: Sequence[str], after: RunEnd
) -> Answer:
    """Return what came of a plan, as changes of all pods, that put some of them onto `nodes`."""
    others = [each for each in differences(asked.as_it_is, after) if each.pod not in asked.pods]
    known = set(asked.as_it_is.keys("evicted"))
    evicted = tuple(key for key in after.keys("evicted") if key not in known)
    pending = tuple(each.pod for each in others if each.what == "newly pending")
    leaving = tuple(leaving_of(changes, asked.cluster))
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
        warnings=warnings_of(changes, asked.cluster),
    )


def _pods(cluster: RestingCluster, keys: Sequence[str]) -> list[Pod]:
    return [pod for pod in (cluster.get(Pod, key) for key in keys) if pod is not None]
