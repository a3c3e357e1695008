"""Plugins that answer as told at the points from Reserve to PostBind, and keep a diary."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import ClusterEventWithHint
from scheduler_core.framework.interface import PermitOutcome
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.trace.events import (
    CycleFinished,
    PointFinished,
)
from scheduler_core.trace.records import Result
from tests.builders import make_node
from tests.simulated import SECOND_NS, Cluster

REFUSED = Status(Code.UNSCHEDULABLE, ("refused",))
FAILED = Status(Code.ERROR, ("failed",))
WAIT = Status(Code.WAIT)
MILLI_NS = 1_000_000


class Steps:
    """Answers each point as told and keeps a diary; several may be given different names."""

    def __init__(
        self,
        diary: list[str],
        name: str = "Steps",
        *,
        answers: Mapping[str, Status] | None = None,
        timeout_seconds: int = 0,
    ) -> None:
        self.name = name
        self._diary = diary
        self._answers = dict(answers or {})
        self._timeout_ns = timeout_seconds * SECOND_NS

    def _say(self, point: str, pod: PodInfo) -> Status:
        self._diary.append(f"{self.name}.{point} {pod.pod.name}")
        return self._answers.get(point, SUCCESS)

    def reserve(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return self._say("reserve", pod)

    def unreserve(self, state: None, pod: PodInfo, node_name: str) -> None:
        self._say("unreserve", pod)

    def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
        return PermitOutcome(self._say("permit", pod), self._timeout_ns)

    def pre_bind_pre_flight(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return self._say("pre_flight", pod)

    def pre_bind(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return self._say("pre_bind", pod)

    def post_bind(self, state: None, pod: PodInfo, node_name: str) -> None:
        self._say("post_bind", pod)

    def events_to_register(self) -> tuple[ClusterEventWithHint, ...]:
        return ()


class Binder:
    """A Bind plugin; with SKIP it leaves the pod to the next one."""

    def __init__(self, diary: list[str], name: str, answer: Status) -> None:
        self.name = name
        self._diary = diary
        self._answer = answer

    def bind(self, state: None, pod: PodInfo, node_name: str) -> Status:
        self._diary.append(f"{self.name}.bind {pod.pod.name}")
        return self._answer


def points(cluster: Cluster) -> list[tuple[str, str]]:
    return [(event.point, event.status.code) for event in cluster.of_type(PointFinished)]


def results(cluster: Cluster) -> list[Result]:
    return [event.result for event in cluster.of_type(CycleFinished)]


def one_node(*pods: object, **kwargs: object) -> Cluster:
    return Cluster(make_node("n").obj(), *pods, **kwargs)  # type: ignore[arg-type]


def holding(seconds: int, name: str = "Steps", diary: list[str] | None = None) -> Steps:
    return Steps(
        [] if diary is None else diary, name, answers={"permit": WAIT}, timeout_seconds=seconds
    )
