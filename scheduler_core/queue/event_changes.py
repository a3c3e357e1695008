"""Which cluster events an update of a node or a pod amounts to.

Upstream: v1.36 pkg/scheduler/framework/events.go.
"""

from __future__ import annotations

from scheduler_core.api import Node
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import parse_resources
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.releases.switches import AS_IN_1_36_2, Switches


def node_scheduling_properties_change(
    old: Node, new: Node, features: FeatureGates
) -> list[ClusterEvent]:
    """Return the events of a node's update, none if nothing the scheduler reads has changed.

    Uncordoning counts as a change of taints, so that the event may come twice.
    """
    changes = (
        (ActionType.UPDATE_NODE_TAINT, old.spec.unschedulable and not new.spec.unschedulable),
        (ActionType.UPDATE_NODE_ALLOCATABLE, _allocatable(old) != _allocatable(new)),
        (ActionType.UPDATE_NODE_LABEL, old.metadata.labels != new.metadata.labels),
        (ActionType.UPDATE_NODE_TAINT, old.spec.taints != new.spec.taints),
        (ActionType.UPDATE_NODE_CONDITION, _conditions(old) != _conditions(new)),
        (ActionType.UPDATE_NODE_ANNOTATION, old.metadata.annotations != new.metadata.annotations),
        (
            ActionType.UPDATE_NODE_DECLARED_FEATURE,
            features.enabled("NodeDeclaredFeatures")
            and old.status.declared_features != new.status.declared_features,
        ),
    )
    return [ClusterEvent(EventResource.NODE, action) for action, changed in changes if changed]


def pod_scheduling_properties_change(
    old: PodInfo, new: PodInfo, switches: Switches = AS_IN_1_36_2
) -> list[ClusterEvent]:
    """Return the events of a pod's update: the specific ones, or a general Update.

    The pod is bound, or it is the one that waits.
    """
    waiting = (
        EventResource.TARGET_POD if switches.target_pod_events else EventResource.UNSCHEDULABLE_POD
    )
    resource = EventResource.ASSIGNED_POD if new.node_name else waiting
    was, now = old.pod.spec, new.pod.spec
    changes = (
        (ActionType.UPDATE_POD_LABEL, old.pod.metadata.labels != new.pod.metadata.labels),
        (ActionType.UPDATE_POD_SCALE_DOWN, _scaled_down(old, new)),
        (ActionType.UPDATE_POD_SCALE_UP, switches.scale_up_events and _scaled_down(new, old)),
        (
            ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
            bool(was.scheduling_gates) and not now.scheduling_gates,
        ),
        # Tolerations can only be added, so that their number tells.
        (ActionType.UPDATE_POD_TOLERATION, len(was.tolerations) != len(now.tolerations)),
        (
            ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
            _generated_claims(old) != _generated_claims(new),
        ),
    )
    actions = [action for action, changed in changes if changed] or [ActionType.UPDATE]
    return [ClusterEvent(resource, action) for action in actions]


def _generated_claims(pod: PodInfo) -> tuple[object, ...]:
    status = pod.pod.status
    return status.resource_claim_statuses, status.extended_resource_claim_status


def _scaled_down(old: PodInfo, new: PodInfo) -> bool:
    """Return whether the pod requests less of a resource, or no longer names it."""
    before, after = old.template.requests.in_events, new.template.requests.in_events
    if before is after:
        return False
    return any(name not in after or amount > after[name] for name, amount in before.items())


def _allocatable(node: Node) -> dict[str, int]:
    return parse_resources(node.status.allocatable)


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}
