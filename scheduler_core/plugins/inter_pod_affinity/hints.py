"""Whether a change of a pod or a node may help a pod that required terms have rejected.

Upstream: v1.36 plugins/interpodaffinity/plugin.go (isSchedulableAfter...).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler_core.api import Node
from scheduler_core.cluster.pods import AffinityTerm, PodInfo
from scheduler_core.framework.event_objects import queue_if
from scheduler_core.framework.events import QueueingHint
from scheduler_core.plugins.inter_pod_affinity.terms import term_error, term_matches


def after_pod_change(
    pod: PodInfo, old: PodInfo | None, new: PodInfo | None, *, any_anti_term: bool
) -> QueueingHint:
    """Say whether a pod that came, went or changed may help one that was rejected.

    `any_anti_term`: it is enough that one anti-affinity term is about the other pod.
    """
    if old is not None and new is not None and pod.uid == new.uid:
        # Only label changes are listened to: others may have kept away from the old labels.
        return QueueingHint.QUEUE
    if any(each is not None and not _is_placed(each) for each in (new, old)):
        return QueueingHint.SKIP
    near, far = pod.template.required_affinity, pod.template.required_anti_affinity
    if _malformed(near, far):
        return QueueingHint.QUEUE
    if old is not None and new is not None:
        came_near = not _meets_all(near, old) and _meets_all(near, new)
        meets = _meets_any if any_anti_term else _meets_all
        went_far = meets(far, old) and not meets(far, new)
        return queue_if(came_near or went_far)
    if new is not None:
        return queue_if(_meets_all(near, new))
    return queue_if(
        old is not None and _leaving_helps(pod, old, _meets_any if any_anti_term else _meets_all)
    )


def _is_placed(pod: PodInfo) -> bool:
    return bool(pod.node_name or pod.nominated_node_name)


def _malformed(*kinds: Sequence[AffinityTerm]) -> bool:
    return any(term_error(term) for terms in kinds for term in terms)


def _meets_all(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    """Whether there are terms and the pod meets them all, its namespace taken as unlabelled."""
    template = pod.template
    return bool(terms) and all(
        term_matches(term, template.namespace, template.labels, {}) for term in terms
    )


def _meets_any(terms: Sequence[AffinityTerm], pod: PodInfo) -> bool:
    return any(_meets_all((term,), pod) for term in terms)


def _leaving_helps(
    pod: PodInfo, gone: PodInfo, meets: Callable[[Sequence[AffinityTerm], PodInfo], bool]
) -> bool:
    if meets(pod.template.required_anti_affinity, gone):
        return True
    theirs = gone.template.required_anti_affinity
    return _malformed(theirs) or meets(theirs, pod)


def after_node_change(pod: PodInfo, old: Node | None, new: Node) -> QueueingHint:
    near, far = pod.template.required_affinity, pod.template.required_anti_affinity
    if _malformed(near, far):
        return QueueingHint.QUEUE
    if old is None:
        # Under anti-affinity a new node always may help: without the label it takes any pod.
        return queue_if(bool(far) or any(term.topology_key in new.metadata.labels for term in near))
    before, after = old.metadata.labels, new.metadata.labels

    def value_added(key: str) -> bool:
        return key in after and after[key] != before.get(key)

    def value_taken(key: str) -> bool:
        return key in before and before[key] != after.get(key)

    return queue_if(
        any(value_added(term.topology_key) for term in near)
        or any(value_taken(term.topology_key) for term in far)
    )
