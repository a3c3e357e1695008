"""A pod between its scheduling cycle and its binding.

Upstream: v1.36 pkg/scheduler/schedule_one.go (what schedulingCycle hands over to bindingCycle).
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.status import SKIP, Status
from scheduler_core.framework.waiting import PodInPreBind
from scheduler_core.queue.queued_pod import QueuedPodInfo


@dataclass(slots=True, eq=False)
class AssumedPod:
    """A pod that counts as running on `node_name`; `pod` carries the node name already.

    `cycle` is the number of its scheduling cycle. `expected` says that the pod's status names the
    node ahead of its binding.
    """

    cycle: int
    queued: QueuedPodInfo
    pod: PodInfo
    node_name: str
    framework: Framework
    state: CycleState
    pre_flight: Status = SKIP
    expected: bool = False
    in_pre_bind: PodInPreBind | None = None
