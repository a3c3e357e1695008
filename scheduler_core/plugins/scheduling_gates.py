"""Hold pods back until somebody lifts their scheduling gates."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.event_objects import expect, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.status import SUCCESS, Code, Status


class SchedulingGates:
    """Keep a pod with `spec.schedulingGates` out of the queues.

    Upstream: v1.36 plugins/schedulinggates.
    """

    name = "SchedulingGates"
    depends_on = DependsOn()

    def pre_enqueue(self, pod: PodInfo) -> Status:
        gates = pod.pod.spec.scheduling_gates
        if not gates:
            return SUCCESS
        names = " ".join(gate.name for gate in gates)
        text = f"waiting for scheduling gates: [{names}]"
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        lifted = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (ClusterEventWithHint(lifted, _after_gates_eliminated),)


def _after_gates_eliminated(pod: PodInfo, old: object, new: object) -> QueueingHint:
    return queue_if(expect(PodInfo, new).uid == pod.uid)
