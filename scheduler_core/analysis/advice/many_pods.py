"""Plans for several pods that wait: what is done for one of them, done for all that are like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import Plan, action
from scheduler_core.api import Pod
from scheduler_core.changes.owners import like
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import (
    Change,
    CopyNode,
    Create,
    Delete,
    SetField,
    target_of,
)


def for_many(plans: Sequence[Plan], n_pods: int) -> list[Plan]:
    """Return the plans, cheapest first, with those for a node for each of several pods, too."""
    found = list(plans)
    for plan in plans if n_pods > 1 else ():
        match plan.changes:
            case (CopyNode(node, 1),):
                node_each = action("node", CopyNode(node, n_pods))
                found.append(Plan((node_each.dearer(node_each.price * (n_pods - 1)),)))
            case _:
                pass
    return sorted(found, key=lambda plan: plan.price)


def of_all(changes: Sequence[Change], pods: Sequence[str], objects: Objects) -> tuple[Change, ...]:
    """Return changes of the first of some pods, and the same of those that are like it."""
    known = [pod for pod in (objects.get(Pod, key) for key in pods) if pod is not None]
    alike = [pod for pod in known[1:] if pod.spec == known[0].spec]
    return tuple(each for change in changes for each in _of_all(change, pods[0], alike))


def _of_all(change: Change, first: str, alike: Sequence[Pod]) -> Iterator[Change]:
    yield change
    match change:
        case SetField(target, path, value) if target.kind is Pod and target.key == first:
            yield from (SetField(target_of(pod), path, value) for pod in alike)
        case Delete(target) if target.kind is Pod and target.key == first:
            yield from (Delete(target_of(pod)) for pod in alike)
        case Create((Pod() as again,)) if again.key == first:
            yield from (Create((_again(again, pod),)) for pod in alike)
        case _:
            pass


def _again(made: Pod, pod: Pod) -> Pod:
    """Return a pod as it is made again, like another that was."""
    return replace(made, metadata=like(pod, pod.name).metadata)
