"""What kubelets do in the simulated cluster: start bound pods, end deleted ones."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.reach import is_out_of_reach
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.clock import VirtualClock
from scheduler_core.sim.eviction import pods_on
from scheduler_core.trace.tables import TERMINAL_PHASES


class Kubelets:
    """All kubelets of the cluster; a watcher of the API server.

    A bound pod runs `start_after_ns` after its binding. A pod being deleted is gone when its
    grace period is over, or at once if it has finished; on a node out of reach it stays until the
    node is back.
    """

    def __init__(self, server: ApiServer, clock: VirtualClock, start_after_ns: int) -> None:
        self._server = server
        self._clock = clock
        self._start_after_ns = start_after_ns

    def added(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            self._heed_deletion(item)
            self._heed_binding(item)

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            if is_out_of_reach(old) and not is_out_of_reach(new):
                for pod in pods_on(self._server, new.name):
                    self._heed_deletion(pod)
            return
        if not isinstance(old, Pod) or not isinstance(new, Pod):
            return
        if new.metadata.deletion_timestamp != old.metadata.deletion_timestamp:
            self._heed_deletion(new)
        if new.spec.node_name != old.spec.node_name:
            self._heed_binding(new)

    def deleted(self, item: KubeObject) -> None:
        return None

    def _heed_deletion(self, pod: Pod) -> None:
        gone_at_ns = pod.metadata.deletion_timestamp
        if gone_at_ns is not None:
            if pod.status.phase in TERMINAL_PHASES:
                gone_at_ns = self._clock.now_ns()
            at_ns = max(gone_at_ns, self._clock.now_ns())
            self._clock.call_at(at_ns, lambda: self._end(pod))

    def _end(self, pod: Pod) -> None:
        live = self._live(pod)
        node = self._server.get(Node, pod.spec.node_name)
        if live is not None and (node is None or not is_out_of_reach(node)):
            self._server.delete(live)

    def _heed_binding(self, pod: Pod) -> None:
        if pod.spec.node_name and pod.status.phase in ("", "Pending"):
            at_ns = self._clock.now_ns() + self._start_after_ns
            self._clock.call_at(at_ns, lambda: self._run(pod))

    def _run(self, pod: Pod) -> None:
        live = self._live(pod)
        waiting = live is not None and live.status.phase in ("", "Pending")
        if live is not None and waiting and live.metadata.deletion_timestamp is None:
            self._server.update(replace(live, status=replace(live.status, phase="Running")))

    def _live(self, pod: Pod) -> Pod | None:
        """Return the pod as it is now, None if it is gone or another of its name is there."""
        live = self._server.get(Pod, pod.key)
        return live if live is not None and live.uid == pod.uid else None
