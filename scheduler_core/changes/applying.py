"""Changes of a cluster at rest: objects and changes in, objects out.

What is deleted is gone at once, and so are the pods that have to leave a node. Pods that their
owners would make again come back pending, under their own names: so they can be compared. In a
simulation `sim.steps` carries out the same changes, in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from scheduler_core.api import KubeObject, Node, Pod, Taint
from scheduler_core.api.selectors import toleration_tolerates
from scheduler_core.changes.editing import admitted, edited, found, node_copies, replacement
from scheduler_core.changes.lines import ChangeError
from scheduler_core.changes.node_changes import marked
from scheduler_core.changes.owners import comes_back, is_pinned, like, next_name, pods_of, surplus
from scheduler_core.changes.refusals import NO_POD_TO_COPY, Objects, Refused, why_in_use
from scheduler_core.changes.sentences import named, sentence
from scheduler_core.changes.vocabulary import (
    MAX_CREATED,
    AddTaint,
    Change,
    CopyNode,
    Create,
    Delete,
    Drain,
    ObjectChange,
    Put,
    Restore,
    RuleChange,
    Scale,
    Target,
    most_created,
)
from scheduler_core.cluster.pods import controller_of
from scheduler_core.config.problems import Problem
from scheduler_core.wording import say, told

K = TypeVar("K", bound=KubeObject)

_Key = tuple[str, str]


class Changeable(Objects, Protocol):
    """The objects of a cluster at rest, to be changed one by one."""

    def write(self, item: KubeObject) -> None:
        """Put an object in place of that of its name, or add it at the end."""

    def remove(self, item: KubeObject | Target) -> None:
        """Take an object away, if it is there."""

    def restore(self, change: Restore) -> None:
        """Take objects away, and put others at their places."""


class RestingCluster:
    """The objects of a cluster in their order, by kind and key."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._take(objects)

    def _take(self, objects: Iterable[KubeObject]) -> None:
        self._objects: dict[_Key, KubeObject] = {}
        self._by_kind: dict[str, dict[str, KubeObject]] = {}
        for item in objects:
            self.write(item)

    def fork(self) -> RestingCluster:
        """Return an independent copy; it costs much less than reading the objects in."""
        fork = RestingCluster(())
        fork._objects = self._objects.copy()
        fork._by_kind = {kind: items.copy() for kind, items in self._by_kind.items()}
        return fork

    def after(self, changes: Iterable[Change]) -> RestingCluster:
        """Return the cluster after some changes; this one stays. Raises ChangeError."""
        return _after(self, changes)[0]

    def get(self, kind: type[K], key: str) -> K | None:
        found = self._objects.get((kind.kind, key))
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        there = list(self._by_kind.get(kind.kind, {}).values())
        return (item for item in there if isinstance(item, kind))

    def objects(self) -> list[KubeObject]:
        """Return all objects, those that were added last."""
        return list(self._objects.values())

    def write(self, item: KubeObject) -> None:
        """Put an object in place of that of its name, or add it at the end."""
        self._objects[item.kind, item.key] = item
        self._by_kind.setdefault(item.kind, {})[item.key] = item

    def remove(self, item: KubeObject | Target) -> None:
        """Take an object away, if it is there."""
        kind = item.kind if isinstance(item, KubeObject) else item.kind.kind
        self._objects.pop((kind, item.key), None)
        self._by_kind.get(kind, {}).pop(item.key, None)

    def restore(self, change: Restore) -> None:
        """Take objects away, and put others at their places."""
        for target in change.remove:
            self.remove(target)
        for placed in change.objects:
            self.remove(placed.item)
        items = self.objects()
        for placed in change.objects:
            items.insert(placed.place, placed.item)
        self._take(items)


def apply(objects: Sequence[KubeObject], changes: Iterable[Change]) -> list[KubeObject]:
    """Return the objects after the changes, one after the other; those of rules change nothing.

    What nothing happens to keeps its place, what is new comes last. Raises ChangeError, which
    names every change that cannot be carried out by its index, and why.
    """
    return carried_out(objects, changes)[0]


def carried_out(
    objects: Sequence[KubeObject], changes: Iterable[Change]
) -> tuple[list[KubeObject], tuple[str, ...]]:
    """Return the objects after the changes, and a sentence for each change of objects.

    Raises ChangeError, see `apply`.
    """
    cluster, sentences = _after(RestingCluster(objects), changes)
    return cluster.objects(), sentences


def _after(
    before: RestingCluster, changes: Iterable[Change]
) -> tuple[RestingCluster, tuple[str, ...]]:
    cluster, changes = before.fork(), list(changes)
    refuse_many(changes)
    problems, sentences = [], []
    for i, change in enumerate(changes):
        if isinstance(change, RuleChange):
            continue
        text = sentence(change, cluster)
        sentences.append(text)
        try:
            carry_out(change, cluster)
        except Refused as refusal:
            why = say("list.what_why", "{what}: {why}", what=text, why=told(refusal))
            problems.append(Problem(("changes", i), why))
    if problems:
        raise ChangeError(problems)
    return cluster, tuple(sentences)


def refuse_many(changes: Sequence[Change]) -> None:
    """Raise ChangeError for changes that may create too much, whatever of it would come about."""
    n_created = sum(map(most_created, changes))
    if n_created > MAX_CREATED:
        raise ChangeError([Problem(("changes",), too_many_objects(n_created))])


def too_many_objects(n: int) -> str:
    """Say that so many objects may not be created by one run."""
    return say(
        "refused.too_many_created",
        "may create {n:,} objects in all; the limit is {most:,}",
        n=n,
        most=MAX_CREATED,
    )


def carry_out(change: ObjectChange, cluster: Changeable) -> None:
    """Carry out one change of objects. Raises Refused, and then nothing is changed."""
    lost = leaving(change, cluster)
    match change:
        case Create():
            _create(list(change.items()), cluster)
        case Put(items):
            for _, item in [replacement(each, cluster) for each in items]:
                cluster.write(item)
        case Delete(target, _):
            _delete(found(target.kind, target.key, cluster), lost, cluster)
        case Restore():
            cluster.restore(change)
        case CopyNode():
            for item in list(node_copies(change, cluster)):
                cluster.write(item)
        case Drain(name):
            cluster.write(marked(found(Node, name, cluster), True))
            _lose(lost, cluster)
        case AddTaint():
            cluster.write(edited(change, cluster))
            _lose(lost, cluster)
        case Scale():
            _scale(change, cluster)
        case _:
            cluster.write(edited(change, cluster))


def _create(items: Sequence[KubeObject], cluster: Changeable) -> None:
    for item in items:
        if cluster.get(type(item), item.key) is not None:
            raise Refused(
                say(
                    "refused.object_exists",
                    '{object}: refused, "{name}" already exists',
                    object=named(item),
                    name=item.name,
                )
            )
    for item in [admitted(each, cluster) for each in items]:
        cluster.write(item)


def _delete(item: KubeObject, lost: Sequence[Pod], cluster: Changeable) -> None:
    if reason := why_in_use(item, cluster):
        raise Refused(say("refused.why", "refused, {why}", why=reason))
    cluster.remove(item)
    if isinstance(item, Node):
        _lose(lost, cluster)


def leaving(change: ObjectChange, objects: Objects) -> list[Pod]:
    """Return the pods that lose their node by a change. Raises Refused for a node not there."""
    match change:
        case Drain(name):
            return _on(found(Node, name, objects), objects, lambda pod: not is_pinned(pod, objects))
        case AddTaint(name, taint) if taint.effect == "NoExecute":
            node = found(Node, name, objects)
            return _on(node, objects, lambda pod: not _tolerates(pod, taint))
        case Delete(target):
            item = objects.get(target.kind, target.key)
            if isinstance(item, Node):
                return _on(item, objects, lambda pod: True)
            return [item] if isinstance(item, Pod) and item.spec.node_name else []
        case Scale(kind, namespace, name, replicas):
            pods = pods_of(objects, kind, namespace, name)
            gone = surplus(pods, max(len(pods) - replicas, 0))
            return [pod for pod in gone if pod.spec.node_name]
        case _:
            return []


def _on(node: Node, objects: Objects, wanted: Callable[[Pod], bool]) -> list[Pod]:
    there = (pod for pod in objects.all(Pod) if pod.spec.node_name == node.name)
    return [pod for pod in there if wanted(pod)]


def _lose(pods: Iterable[Pod], cluster: Changeable) -> None:
    """Let pods leave their node; those of owners come back pending."""
    for pod in pods:
        cluster.remove(pod)
        if comes_back(pod):
            cluster.write(like(pod, pod.name, pod.uid))


def _tolerates(pod: Pod, taint: Taint) -> bool:
    return any(toleration_tolerates(each, taint) for each in pod.spec.tolerations)


def _scale(change: Scale, cluster: Changeable) -> None:
    pods = pods_of(cluster, change.kind, change.namespace, change.name)
    if not pods:
        raise Refused(NO_POD_TO_COPY)
    for pod in surplus(pods, max(len(pods) - change.replicas, 0)):
        cluster.remove(pod)
    number = 0
    for _ in range(change.replicas - len(pods)):
        template, owner = pods[0], controller_of(pods[0])
        name, key = "", ""
        while not name or cluster.get(Pod, key) is not None:
            number += 1
            name = next_name(template, owner, pods, number)
            key = f"{template.namespace}/{name}"
        fresh = like(template, name)
        pods.append(fresh)
        cluster.write(fresh)
