"""A cycle that has decided, in the cluster it decided in: what it found, and why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.evidence.cycle import CycleEvidence
from scheduler_core.framework.status import Status
from scheduler_core.scheduler.cycle_evidence import evidence_of
from scheduler_core.scheduler.cycle_record import Cycle


class DecidedCycle:
    """What is asked of it is worked out then, and cached, as long as nothing follows from it."""

    def __init__(self, cycle: Cycle, objects: ObjectStore) -> None:
        self._cycle = cycle
        self._objects = objects

    @property
    def decision(self) -> Cycle:
        """What each step found out; it has decided, and must not be changed."""
        return self._cycle

    @property
    def number(self) -> int:
        return self._cycle.number

    @property
    def pod(self) -> str:
        return self._cycle.pod.key

    @property
    def node(self) -> str:
        """The node that was chosen, empty if none was."""
        return self._cycle.suggested_host

    @cached_property
    def evidence(self) -> CycleEvidence:
        return evidence_of(self._cycle, self._objects)

    @cached_property
    def feasible(self) -> frozenset[str]:
        """The names of the nodes that fit."""
        filtering = self._cycle.filtering
        return frozenset(filtering.feasible.names) if filtering is not None else frozenset()

    @cached_property
    def rejected(self) -> Mapping[str, Status]:
        """What Filter found first, by node name."""
        filtering = self._cycle.filtering
        if filtering is None:
            return {}
        statuses = map(filtering.verdicts.status, range(filtering.examined.n))
        return {
            name: status
            for name, status in zip(filtering.examined.names, statuses, strict=True)
            if not status.is_success
        }
