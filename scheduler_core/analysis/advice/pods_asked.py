"""Which pending pods a question is about: one, or all of an owner."""

from __future__ import annotations

from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.api import Pod
from scheduler_core.changes.owners import pods_of
from scheduler_core.cluster.pods import controller_of
from scheduler_core.wording import say


class NothingToUnblock(LookupError):
    """The pod is not there, or is not pending; the text says which."""


def pending_pods(trials: Trials, kind: str, namespace: str, name: str) -> tuple[str, ...]:
    """Return the pending pods of an owner. Raises NothingToUnblock if it has none."""
    ends = trials.as_it_is
    pods = [pod.key for pod in pods_of(trials.resting, kind, namespace, name)]
    found = tuple(key for key in pods if ends.of(key).outcome == "pending")
    if not found:
        owner = f"{kind} {namespace}/{name}"
        raise NothingToUnblock(
            say("unblock.owner_none_pending", "{owner} has no pending pod", owner=owner)
        )
    return found


def with_others(trials: Trials, pod: str) -> tuple[str, ...]:
    """Return a pending pod and the others of its owner that are pending, too."""
    known = trials.resting.get(Pod, pod)
    owner = controller_of(known) if known is not None else None
    if known is None or owner is None or trials.as_it_is.of(pod).outcome != "pending":
        return (pod,)
    all_of_it = pending_pods(trials, owner.kind, known.namespace, owner.name)
    return (pod, *(each for each in all_of_it if each != pod))
