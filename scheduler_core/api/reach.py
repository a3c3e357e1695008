"""Nodes whose kubelet nobody reaches, and the pods whose deletion nobody there carries out.

Upstream: v1.36 pkg/controller/nodelifecycle (the taint, Ready Unknown) and pkg/controller/podgc
(pods of a node out of service are deleted by force).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.timestamps import timestamp_text
from scheduler_core.wording import say

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"


def is_out_of_reach(node: Node) -> bool:
    """Whether pods that are deleted stay on the node until it is back, or goes."""
    keys = {taint.key for taint in node.spec.taints}
    is_silent = any(
        each.type == "Ready" and each.status == "Unknown" for each in node.status.conditions
    )
    return (is_silent or UNREACHABLE in keys) and OUT_OF_SERVICE not in keys


def stuck_pods(pods: Iterable[Pod], nodes: Iterable[Node]) -> Iterator[tuple[Pod, str]]:
    """Yield the pods that stay though they were deleted, each with a sentence of what to do."""
    lost = {node.name for node in nodes if is_out_of_reach(node)}
    for pod in pods:
        since = pod.metadata.deletion_timestamp
        if since is not None and pod.spec.node_name in lost:
            yield (
                pod,
                say(
                    "stuck.terminating",
                    "{pod} is terminating since {since}, its node {node} is unreachable: "
                    "force-delete it, or wait for the node",
                    pod=pod.key,
                    since=timestamp_text(since),
                    node=pod.spec.node_name,
                ),
            )
