"""A scheduler plugin for kviz, written one node at a time: siblings belong in one rack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import JsonValue
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.per_node import NodeView, NodeViews
from scheduler_core.framework.scoring import default_normalize_score
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status

NO_RACK = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) stood in no rack",))


class RackSibling:
    """Keep the pods of one workload out of nodes without a rack, and near each other.

    Filter: a pod that has a controller goes only where the node has the rack label.
    Score: the more siblings (pods of the same controller) a rack has, the better.
    Other pods go anywhere. Argument: `label`, the label that names a node's rack.
    """

    name = "RackSibling"

    def __init__(self, args: JsonValue, handle: Handle) -> None:
        settings = {} if args is None else args
        if not isinstance(settings, dict) or settings.keys() - {"label"}:
            raise ValueError("RackSibling takes one argument, label")
        label = settings.get("label", "example.com/rack")
        if not isinstance(label, str):
            raise ValueError("label must be the name of a node label")
        self._label = label
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Try a rejected pod again when a node comes, or is moved to a rack."""
        change = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return [ClusterEventWithHint(ClusterEvent(EventResource.NODE, change))]

    def pre_filter(self, pod: PodInfo, nodes: NodeViews) -> Prepared[None] | Status:
        return SKIP if pod.template.owner is None else Prepared(None)

    def filter_node(self, state: None, pod: PodInfo, node: NodeView) -> Status:
        return SUCCESS if self._label in node.labels else NO_RACK

    def pre_score(
        self, state: None, pod: PodInfo, nodes: NodeViews
    ) -> Prepared[Counter[str]] | Status:
        """Count siblings per rack: on all nodes, as those in `nodes` are only the feasible."""
        owner = pod.template.owner
        if owner is None:
            return SKIP
        siblings: Counter[str] = Counter()
        for node in NodeViews(self._handle.all_nodes()):
            rack = node.labels.get(self._label)
            if rack is not None:
                siblings[rack] += sum(each.template.owner == owner for each in node.pods)
        return Prepared(siblings) if siblings.total() else SKIP

    def score_node(self, state: Counter[str], pod: PodInfo, node: NodeView) -> int:
        return state[node.labels.get(self._label, "")]

    def normalize_score(
        self, state: Counter[str], pod: PodInfo, nodes: NodeViews, scores: Scores
    ) -> Scores:
        """Stretch the counts: the rack with most siblings gets 100."""
        return default_normalize_score(scores)
