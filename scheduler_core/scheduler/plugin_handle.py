"""The scheduler as its plugins see it.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go (frameworkImpl as a Handle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.api import KubeObject, Pod, PodExtendedResourceClaimStatus
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.inventory import Devices
from scheduler_core.extender.extenders import Extenders
from scheduler_core.framework.chance import PINNED, Chance
from scheduler_core.framework.waiting import PodsInPreBind, WaitingPods
from scheduler_core.preemption.pick import BreakTie
from scheduler_core.queue.nominator import Nominator
from scheduler_core.queue.scheduling_queue import SchedulingQueue
from scheduler_core.scheduler.client import Background, Client

PREEMPTING_PLUGIN = "DefaultPreemption"


class SchedulerHandle:
    """The scheduler as its plugins see it (implements `framework.handle.Handle`)."""

    def __init__(
        self,
        *,
        cache: Cache,
        features: FeatureGates,
        client: Client,
        background: Background,
        now_ns: Callable[[], int],
        break_tie: BreakTie,
        chance: Chance = PINNED,
        extenders: Extenders | None = None,
    ) -> None:
        self.break_tie = break_tie
        self.first_candidate = chance.first_candidate
        self.extenders = extenders
        self.cache = cache
        self.objects = ObjectStore()
        self.features = features
        self.devices = Devices(self.objects, features)
        self.waiting_pods = WaitingPods()
        self.pods_in_pre_bind = PodsInPreBind()
        self._client = client
        self._background = background
        self._now_ns = now_ns
        self._queue: SchedulingQueue | None = None
        self._nominator: Nominator | None = None

    def attach(self, queue: SchedulingQueue) -> None:
        """Make the queue known, with its nominations: it is built from the handle's plugins."""
        self._queue = queue
        self._nominator = queue.nominator

    def fork(self, client: Client, background: Background) -> SchedulerHandle:
        """Return the scheduler as it is now, to be looked at by plugins: nobody is evicted.

        There are no extenders beside it.
        """
        fork = _Fork(
            cache=self.cache.fork(),
            features=self.features,
            client=client,
            background=background,
            now_ns=self._now_ns,
            break_tie=self.break_tie,
        )
        fork.objects = self.objects.fork()
        fork.devices = self.devices.fork(fork.objects)
        fork.waiting_pods = self.waiting_pods.fork()
        fork._nominator = self.nominator.fork(client.pod)
        return fork

    @property
    def cluster(self) -> ClusterColumns:
        return self.cache.columns

    @property
    def nominator(self) -> Nominator:
        assert self._nominator is not None
        return self._nominator

    def nominated_by_node(self) -> Mapping[str, list[PodInfo]]:
        return self._nominator.nominated_by_node() if self._nominator is not None else {}

    def nominated_node(self, pod: PodInfo) -> str:
        return self._nominator.node_of(pod) if self._nominator is not None else ""

    def now_ns(self) -> int:
        return self._now_ns()

    def all_nodes(self) -> Nodes:
        return self.cache.update_snapshot()

    def live_pod(self, key: str) -> Pod | None:
        return self._client.pod(key)

    def evict(self, victim: PodInfo, preemptor: PodInfo, message: str) -> bool:
        """Send a victim back that is not bound yet, or delete it through the API server.

        Return whether it was sent back.
        """
        is_sent_back = self._sends_back(victim)
        if is_sent_back:
            message += " (in kube-scheduler memory)."
        elif not self._client.evict_pod(victim, preemptor, message):
            return False
        self._client.record_event(victim, "Normal", "Preempted", message)
        return is_sent_back

    def activate(self, pod: PodInfo) -> None:
        assert self._queue is not None
        self._queue.activate((pod,))

    def _sends_back(self, victim: PodInfo) -> bool:
        """Stop the binding cycle of a pod that waits on Permit or is in PreBind."""
        waiting = self.waiting_pods.get(victim.uid)
        if waiting is not None:
            return waiting.preempt(PREEMPTING_PLUGIN, "preempted")
        in_pre_bind = self.pods_in_pre_bind.get(victim.uid)
        return in_pre_bind is not None and in_pre_bind.cancel(f"preempted by {PREEMPTING_PLUGIN}")

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        self._client.set_extended_resource_claim(pod, status)

    def record_event(self, pod: PodInfo, reason: str, message: str) -> None:
        self._client.record_event(pod, "Normal", reason, message)

    def bind(self, pod: PodInfo, node_name: str) -> str:
        return self._client.bind(pod, node_name)

    def write(self, item: KubeObject) -> None:
        self._client.write(item)

    def delete(self, item: KubeObject) -> None:
        self._client.delete(item)

    def clear_nomination(self, pod: PodInfo) -> None:
        self._client.patch_pod_status(pod, None, "")

    def after_attempt(self, work: Callable[[], None]) -> None:
        self._background.after_attempt(work)


class _Fork(SchedulerHandle):
    """A scheduler that plugins may look at, and send nobody away from."""

    def evict(self, victim: PodInfo, preemptor: PodInfo, message: str) -> bool:
        """Leave the victim where it is."""
        return False
