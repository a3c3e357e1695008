"""Which pods wait for room on which node.

Upstream: v1.36 pkg/scheduler/backend/queue/nominator.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from scheduler_core.api import Pod
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.queue.moves import Nomination
from scheduler_core.trace.records import Nominating

OVERRIDE: Final = "override"
"""Nominate the named node, or clear the nomination."""

NOOP: Final = "noop"
"""Keep to the pod's own `status.nominatedNodeName`."""


class Nominator:
    """Pods by nominated node, in order of nomination.

    `live_pod` looks a pod up by key (`namespace/name`) as the API server has it now, None if it
    is gone. `emit` is called with every change of a pod's nominated node.
    """

    def __init__(
        self, *, live_pod: Callable[[str], Pod | None], emit: Callable[[Nomination], None]
    ) -> None:
        self._live_pod = live_pod
        self._emit = emit
        self._on_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._by_node: dict[str, list[PodInfo]] = {}

    def fork(self, live_pod: Callable[[str], Pod | None]) -> Nominator:
        """Return an independent copy, which notifies nobody."""
        fork = Nominator(live_pod=live_pod, emit=lambda nomination: None)
        fork._on_node = {node: pods.copy() for node, pods in self._on_node.items()}
        fork._node_of = self._node_of.copy()
        fork._by_node = self._by_node.copy()
        return fork

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        return list(self._on_node.get(node_name, {}).values())

    def nominated_by_node(self) -> dict[str, list[PodInfo]]:
        """Return the nominated pods of every node that has any.

        The mapping follows later nominations; the lists in it do not.
        """
        return self._by_node

    def node_of(self, pod: PodInfo) -> str:
        """Return the pod's nominated node, empty if it has none."""
        return self._node_of.get(pod.uid, "")

    def nominations(self) -> dict[str, str]:
        """Return node names by pod key."""
        return {
            pod.key: node_name for node_name, pods in self._on_node.items() for pod in pods.values()
        }

    def add(self, pod: PodInfo, nominating: Nominating = NOOP, node_name: str = "") -> None:
        """Nominate a node for a pod in place of the one it has.

        `nominating` is `override` (use `node_name`; empty clears) or `noop` (or empty: use the
        pod's own status). A pod that is gone or bound is not nominated.
        """
        before = self._remove(pod)
        wanted = node_name if nominating == OVERRIDE else pod.nominated_node_name
        after = wanted if wanted and self._is_pending(pod) else ""
        if after:
            self._node_of[pod.uid] = after
            self._on_node.setdefault(after, {})[pod.uid] = pod
            self._list(after)
        if before != after:
            self._emit(Nomination(pod, after))

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """Take over the pod's new state.

        A nomination made in memory is kept while neither state names a node: the update may
        have been under way before it.
        """
        nominated = self.node_of(old)
        if nominated and not old.nominated_node_name and not new.nominated_node_name:
            self.add(new, OVERRIDE, nominated)
        else:
            self.add(new)

    def restate(self, pod: PodInfo) -> None:
        """Take over what is known of a pod now; its nomination, if it has one, stays."""
        if node_name := self._node_of.get(pod.uid):
            self._on_node[node_name][pod.uid] = pod
            self._list(node_name)

    def delete(self, pod: PodInfo) -> None:
        """Drop the pod's nomination, if it has one."""
        if self._remove(pod):
            self._emit(Nomination(pod, ""))

    def _remove(self, pod: PodInfo) -> str:
        node_name = self._node_of.pop(pod.uid, "")
        if node_name:
            pods = self._on_node[node_name]
            del pods[pod.uid]
            if not pods:
                del self._on_node[node_name]
            self._list(node_name)
        return node_name

    def _list(self, node_name: str) -> None:
        """Take over a change of the pods nominated to a node."""
        if node_name in self._on_node:
            self._by_node[node_name] = list(self._on_node[node_name].values())
        else:
            del self._by_node[node_name]

    def _is_pending(self, pod: PodInfo) -> bool:
        live = self._live_pod(pod.key)
        return live is not None and not live.spec.node_name
