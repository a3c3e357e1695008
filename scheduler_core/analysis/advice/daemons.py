"""What DaemonSets take of nodes that are not there yet: told by the pods that they have.

The DaemonSets themselves need not be in a dump. One of their pods says where others would run.

Upstream: v1.36 pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, OwnerReference, Pod
from scheduler_core.api.selectors import find_untolerated_taint, required_node_affinity_matches
from scheduler_core.changes.owners import DAEMON_SET, HARD_EFFECTS, like
from scheduler_core.cluster.pods import controller_of


def daemons_of(objects: Iterable[KubeObject]) -> tuple[Pod, ...]:
    """Return a pod of each DaemonSet that has one on a node."""
    first: dict[tuple[str, str], Pod] = {}
    for item in objects:
        if isinstance(item, Pod) and item.spec.node_name:
            owner = _daemon_set(item)
            if owner is not None:
                first.setdefault((item.namespace, owner.name), item)
    return tuple(first.values())


def runs_on(pod: Pod, node: Node) -> bool:
    """Return whether the pod's DaemonSet would have a pod on such a node.

    The controller names the pod's own node in its affinity: that is taken for the new one's name.
    """
    if find_untolerated_taint(node.spec.taints, pod.spec.tolerations, HARD_EFFECTS) is not None:
        return False
    return required_node_affinity_matches(pod.spec, node.metadata.labels, pod.spec.node_name)


def running_on(pod: Pod, node_name: str) -> Pod:
    """Return the pod that the DaemonSet of `pod` has on another node."""
    owner = _daemon_set(pod)
    assert owner is not None
    copy = like(pod, f"{owner.name}-{node_name}")
    status = replace(copy.status, phase="Running")
    return replace(copy, spec=replace(copy.spec, node_name=node_name), status=status)


def with_daemons(before: Iterable[KubeObject], after: Sequence[KubeObject]) -> list[KubeObject]:
    """Return a changed cluster with what DaemonSets run on nodes that it did not have before."""
    known = {item.name for item in before if isinstance(item, Node)}
    fresh = [item for item in after if isinstance(item, Node) and item.name not in known]
    if not fresh:
        return list(after)
    taken = {item.key for item in after if isinstance(item, Pod)}
    added = _on_all(fresh, daemons_of(after))
    return [*after, *(pod for pod in added if pod.key not in taken)]


def _on_all(nodes: Iterable[Node], daemons: Sequence[Pod]) -> Iterator[Pod]:
    for node in nodes:
        yield from (running_on(pod, node.name) for pod in daemons if runs_on(pod, node))


def is_of_daemon_set(pod: Pod) -> bool:
    return _daemon_set(pod) is not None


def _daemon_set(pod: Pod) -> OwnerReference | None:
    owner = controller_of(pod)
    return owner if owner is not None and owner.kind == DAEMON_SET else None
