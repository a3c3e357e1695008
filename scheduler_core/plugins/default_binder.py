"""Write the decision down."""

from __future__ import annotations

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.status import SUCCESS, Code, Status


class DefaultBinder:
    """Bind the pod to the chosen node through the API server, which may refuse.

    Upstream: v1.36 plugins/defaultbinder.
    """

    name = "DefaultBinder"
    depends_on = DependsOn()

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def bind(self, state: None, pod: PodInfo, node_name: str) -> Status:
        refusal = self._handle.bind(pod, node_name)
        return Status(Code.ERROR, (refusal,)) if refusal else SUCCESS
