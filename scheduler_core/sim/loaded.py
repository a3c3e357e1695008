"""A cluster that is loaded once, for many runs that differ little in what they begin with.

A run over other objects begins as a copy of the loaded one in which the difference has been made
up for. That is done only where a cluster loaded afresh would be the same for the scheduler: for
pods that pend, nodes that change, come or go, pods that leave their node, and what volumes and
budgets are. For all else there is no such run, and the caller loads one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from scheduler_core.api import (
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    StorageClass,
)
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.cluster.node_tree import NodeTree
from scheduler_core.sim.copies import CannotCopy, RunCopies
from scheduler_core.sim.run import Run, RunOptions, start_ns
from scheduler_core.trace.events import AnyEvent

_Key = tuple[str, str]

_MADE_UP_FOR: Final = (PersistentVolume, PersistentVolumeClaim, StorageClass, PodDisruptionBudget)
"""Kinds that nothing reads while a cluster is loaded."""
_REMOVABLE: Final = (Node, *_MADE_UP_FOR)


@dataclass
class _Edits:
    """What is different in the cluster that stands, all but the pods that pend."""

    gone: list[KubeObject] = field(default_factory=list)
    written: list[KubeObject] = field(default_factory=list)

    @property
    def change_nodes(self) -> bool:
        return any(isinstance(each, Node) for each in (*self.gone, *self.written))


class LoadedCluster:
    """The objects of a cluster, loaded.

    `loading` are the events of that; they are not among those of the copies.
    """

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        self._objects: dict[_Key, KubeObject] = {(each.kind, each.key): each for each in objects}
        self._start_ns = start_ns(objects)
        self._has_claims = any(isinstance(each, ResourceClaim) for each in objects)
        self._options = options
        run = Run(objects, options)
        with gc_paused():
            run.load()
            run.number_templates()
        self.loading: tuple[AnyEvent, ...] = tuple(run.drain())
        self._copies = _copies_of(run)
        self._learned_from: Run | None = None

    def run_of(self, objects: Sequence[KubeObject]) -> Run | None:
        """Return a run over other objects that is loaded already, None if it has to be loaded."""
        if self._copies is None or start_ns(objects) != self._start_ns:
            return None
        edits = self._edits(objects)
        if edits is None:
            return None
        run = self._take()
        with gc_paused():
            for item in sorted(edits.gone, key=_pods_first):
                run.simulation.delete(item)
            for item in edits.written:
                run.simulation.write(item)
        run.expect(objects)
        if edits.change_nodes and run.simulation.scheduler.cache.next_order() != _order(objects):
            return None
        return run

    def learn_from(self, run: Run) -> None:
        """Let all further runs begin with what a run of the cluster as it is has worked out.

        `run` is one that has been handed out for the same objects.
        """
        self._learned_from = run

    def _take(self) -> Run:
        assert self._copies is not None
        run = self._copies.take()
        if self._learned_from is not None:
            run.take_back(self._learned_from)
        return run

    def _edits(self, objects: Sequence[KubeObject]) -> _Edits | None:
        """Return how the cluster that stands differs, None if that cannot be made up for."""
        edits, left = _Edits(), dict(self._objects)
        for new in objects:
            old = left.pop((new.kind, new.key), None)
            if old is new or (_pends(new) and (old is None or _pends(old))):
                continue
            if self._may_leave(old) and _pends(new):
                edits.gone.append(old)
            elif _may_be_written(old, new):
                edits.written.append(new)
            else:
                return None
        standing = [old for old in left.values() if not _pends(old)]
        if not all(self._may_leave(old) or isinstance(old, _REMOVABLE) for old in standing):
            return None
        edits.gone += standing
        return edits

    def _may_leave(self, item: KubeObject | None) -> TypeGuard[Pod]:
        """Return whether nothing but its node knows of a pod that runs."""
        return (
            isinstance(item, Pod)
            and item.status.phase == "Running"
            and item.metadata.deletion_timestamp is None
            and not self._has_claims
        )


def _copies_of(run: Run) -> RunCopies | None:
    try:
        return RunCopies(run)
    except CannotCopy:
        return None


def _may_be_written(old: KubeObject | None, new: KubeObject) -> bool:
    """Return whether it is the same to load an object and to write it later.

    Not with a NoExecute taint: pods that a cluster comes with stay under those it comes with.
    """
    if isinstance(new, Node):
        before = old.spec.taints if isinstance(old, Node) else ()
        return not any(each.effect == "NoExecute" for each in (*before, *new.spec.taints))
    return isinstance(new, _MADE_UP_FOR)


def _pends(item: KubeObject) -> bool:
    return isinstance(item, Pod) and not item.spec.node_name


def _pods_first(item: KubeObject) -> bool:
    return not isinstance(item, Pod)


def _order(objects: Sequence[KubeObject]) -> list[str]:
    """Return the order of nodes in a cluster that is loaded afresh."""
    tree = NodeTree()
    for item in objects:
        if isinstance(item, Node):
            tree.add(item.name, item.metadata.labels)
    return tree.order()
