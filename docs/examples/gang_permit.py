"""GangPermit, an example of a plugin of one's own: all pods of a group start, or none.

Pods of a group carry two labels, the group's name and how many of them are needed. Each holds
its place on a node while it waits on Permit; when enough are there all of them go. When one has
waited too long, or loses its place, all are turned down and free their places.

Run a cluster with it:

    from scheduler_core.registry import in_tree_registry
    from scheduler_core.sim import RunOptions, load_scenario, simulate

    registry = in_tree_registry()
    register(registry)
    options = RunOptions(
        configuration=load_configuration(CONFIGURATION),
        registry=registry,
        scenario=load_scenario(Path("docs/examples/gang.yaml").read_text()),
    )
    for event in simulate([], options):
        ...

Modelled on the coscheduling plugin of kubernetes-sigs/scheduler-plugins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import Args, UnknownArgs
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import PermitOutcome
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.registry import Registry

GROUP: Final = "pod-group.example.com/name"
MIN_AVAILABLE: Final = "pod-group.example.com/min-available"
SECOND_NS: Final = 1_000_000_000
DEFAULT_TIMEOUT_SECONDS: Final = 60

CONFIGURATION: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: GangPermit
  pluginConfig:
  - name: GangPermit
    args:
      timeoutSeconds: 10
"""


class GangPermit:
    """Hold the pods of a group on Permit until `min-available` of them have a place."""

    name = "GangPermit"

    def __init__(self, args: Args | None, handle: Handle) -> None:
        given = args.value if isinstance(args, UnknownArgs) else None
        seconds = given.get("timeoutSeconds") if isinstance(given, dict) else None
        timeout_s = seconds if isinstance(seconds, int) else DEFAULT_TIMEOUT_SECONDS
        self._timeout_ns = timeout_s * SECOND_NS
        self._handle = handle

    def reserve(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return SUCCESS

    def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
        """Let the whole group go with its last pod; before that, wait."""
        group = _group(pod)
        if not group or self._n_placed(pod, group) < _min_available(pod):
            timeout_ns = self._timeout_ns if group else 0
            return PermitOutcome(Status(Code.WAIT) if group else SUCCESS, timeout_ns)
        for waiting in self._handle.waiting_pods:
            if _is_member(waiting.pod, pod, group):
                waiting.allow(self.name)
        return PermitOutcome(SUCCESS)

    def unreserve(self, state: None, pod: PodInfo, node_name: str) -> None:
        """Turn the others down: without this pod the group is not complete."""
        group = _group(pod)
        for waiting in self._handle.waiting_pods:
            if group and _is_member(waiting.pod, pod, group):
                waiting.reject(self.name, f"the group {group} lost {pod.key}")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Hear of pods, as one may complete the group, and of nodes, which may hold the rest."""
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.ADD), _after_pod_added),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
        )

    def _n_placed(self, pod: PodInfo, group: str) -> int:
        """Count the group's pods that have a node, this one and those that wait among them."""
        cluster, namespace = self._handle.cluster, pod.pod.namespace
        members = cluster.templates.matching(
            (self.name, namespace, group),
            lambda template: (
                template.namespace == namespace and template.labels.get(GROUP) == group
            ),
        )
        return int(cluster.count_pods(members).sum())


def register(registry: Registry) -> None:
    """Make the plugin known; a configuration has to enable it."""
    registry.register(GangPermit.name, GangPermit, GangPermit)


def _group(pod: PodInfo) -> str:
    return pod.template.labels.get(GROUP, "")


def _min_available(pod: PodInfo) -> int:
    text = pod.template.labels.get(MIN_AVAILABLE, "1")
    return int(text) if text.isdecimal() else 1


def _is_member(other: PodInfo, pod: PodInfo, group: str) -> bool:
    return other.pod.namespace == pod.pod.namespace and _group(other) == group


def _after_pod_added(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Try again when another pod of the group has come or got its node."""
    joined = isinstance(new, PodInfo) and _is_member(new, pod, _group(pod)) and new.uid != pod.uid
    return QueueingHint.QUEUE if joined else QueueingHint.SKIP
