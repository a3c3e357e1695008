"""Whether a change of a pod or a node may make room under spread constraints.

Upstream: v1.36 plugins/podtopologyspread/plugin.go (isSchedulableAfter...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.api import Node
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.event_objects import queue_if
from scheduler_core.framework.events import QueueingHint
from scheduler_core.plugins.pod_topology_spread.constraints import HONOR, SpreadConstraint


def after_pod_change(
    pod: PodInfo,
    constraints: Sequence[SpreadConstraint],
    old: PodInfo | None,
    new: PodInfo | None,
) -> QueueingHint:
    if any(each is not None and not _takes_part(each, pod) for each in (new, old)):
        return QueueingHint.SKIP
    if old is not None and new is not None:
        return queue_if(
            _newly_tolerates(pod, constraints, old, new)
            or any(
                each.matches(old.template.labels) != each.matches(new.template.labels)
                for each in constraints
            )
        )
    changed = new or old
    return queue_if(
        changed is not None and any(each.matches(changed.template.labels) for each in constraints)
    )


def _takes_part(changed: PodInfo, pod: PodInfo) -> bool:
    """Whether a changed pod can matter: the pod itself, or one of its namespace with a node."""
    if changed.uid == pod.uid:
        return True
    if not changed.node_name and not changed.nominated_node_name:
        return False
    return changed.template.namespace == pod.template.namespace


def _newly_tolerates(
    pod: PodInfo, constraints: Sequence[SpreadConstraint], old: PodInfo, new: PodInfo
) -> bool:
    return (
        pod.uid == new.uid
        and new.pod.spec.tolerations != old.pod.spec.tolerations
        and any(each.node_taints_policy == HONOR for each in constraints)
    )


def after_node_change(
    constraints: Sequence[SpreadConstraint], old: Node | None, new: Node | None
) -> QueueingHint:
    matched = old is not None and _has_all(old.metadata.labels, constraints)
    matches = new is not None and _has_all(new.metadata.labels, constraints)
    if old is None or new is None:
        return queue_if(matched or matches)
    moved = any(
        old.metadata.labels.get(each.topology_key, "")
        != new.metadata.labels.get(each.topology_key, "")
        for each in constraints
    )
    return queue_if(
        matched != matches or (matches and (moved or old.spec.taints != new.spec.taints))
    )


def _has_all(labels: Mapping[str, str], constraints: Sequence[SpreadConstraint]) -> bool:
    return all(each.topology_key in labels for each in constraints)
