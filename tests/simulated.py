"""A simulated cluster for tests: driven attempt by attempt, or until nothing is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import FeatureGates, load_configuration
from scheduler_core.framework.interface import Plugin
from scheduler_core.preemption.report import PreemptionReport
from scheduler_core.registry import Factory, Registry, in_tree_registry
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Failed, Unschedulable
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.events import (
    AnyEvent,
    EventRecorded,
    QueueMoved,
)
from scheduler_core.trace.recorder import Recorder

E = TypeVar("E", bound=AnyEvent)


def not_scheduled(cycle: Cycle) -> Unschedulable | Failed:
    """Return how a cycle ended that must not have found a node."""
    assert isinstance(cycle.outcome, Unschedulable | Failed), cycle.outcome
    return cycle.outcome


START_NS = 1_767_225_600_000_000_000
SECOND_NS = 1_000_000_000
MILLI_NS = 1_000_000
HOUR_NS = 3600 * SECOND_NS
IMMEDIATE = Timing(pre_bind_ns=0, binding_ns=0, kubelet_start_ns=None)
"""Nothing takes time but attempts, and there are no kubelets."""

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


class Cluster:
    """A simulated cluster and its trace.

    `profile` is YAML under `profiles[0]`, at its indentation. Unless it says itself which run,
    `plugins` are enabled beside those in the tree, at every point they implement.
    """

    def __init__(
        self,
        *objects: KubeObject,
        plugins: Sequence[Plugin] = (),
        profile: str = "",
        timing: Timing = IMMEDIATE,
        features: FeatureGates | None = None,
        options: SchedulerOptions | None = None,
    ) -> None:
        """`options` stand in the place of all that is said of plugins and gates."""
        self.trace: list[AnyEvent] = []
        self.recorder = Recorder(self.trace.append)
        options = options or SchedulerOptions(
            configuration=load_configuration(_configuration(plugins, profile)),
            registry=registry_with(plugins),
            features=features or FeatureGates(),
        )
        self.simulation = Simulation(options, self.recorder, START_NS, timing)
        self.server = self.simulation.server
        self.scheduler = self.simulation.scheduler
        self.queue = self.scheduler.queue
        self.simulation.load(objects)

    # ------------------------------------------------------------ driving

    def attempt(self) -> Cycle:
        """Run the next attempt, which there must be, and return it."""
        assert self.simulation.attempt(), "no pod can be tried"
        attempt = self.scheduler.last_cycle
        assert attempt is not None
        return attempt

    def preempt(self) -> PreemptionReport:
        """Run the next attempt and return how its preemption went."""
        outcome = self.attempt().post_filter
        assert outcome is not None
        assert isinstance(outcome.report, PreemptionReport)
        return outcome.report

    def attempt_all(self) -> int:
        """Run attempts until no pod can be tried, a millisecond each; return how many."""
        n = 0
        while self.simulation.attempt():
            self.advance_ms(1)
            n += 1
        return n

    def settle(self) -> None:
        """Run attempts and let time pass until nothing more happens by itself."""
        while True:
            self.attempt_all()
            due_ns = self.simulation.next_due_ns()
            if due_ns is None:
                return
            self.simulation.advance_to(due_ns)

    def advance(self, seconds: float) -> None:
        self.advance_ms(int(seconds * 1000))

    def advance_ms(self, milliseconds: int) -> None:
        self.simulation.advance_to(self.simulation.clock.now_ns() + milliseconds * MILLI_NS)

    def create(self, *objects: KubeObject) -> None:
        self.simulation.load(objects)

    # ------------------------------------------------------------ looking

    @property
    def seconds(self) -> float:
        """Return the time since the start."""
        return (self.simulation.clock.now_ns() - START_NS) / SECOND_NS

    def pod(self, name: str) -> Pod:
        found = self.server.get(Pod, f"default/{name}")
        assert found is not None, f"there is no pod {name}"
        return found

    def info(self, name: str) -> PodInfo:
        return self.scheduler.cache.columns.templates.info(self.pod(name))

    def exists(self, name: str) -> bool:
        return self.server.get(Pod, f"default/{name}") is not None

    def node(self, name: str) -> Node:
        found = self.server.get(Node, name)
        assert found is not None, f"there is no node {name}"
        return found

    def node_of(self, name: str) -> str:
        """Return where a pod is bound, empty if it is not."""
        return self.pod(name).spec.node_name

    def places(self) -> dict[str, str]:
        """Return the node of every pod."""
        return {pod.name: pod.spec.node_name for pod in self.server.all(Pod)}

    def of_type(self, kind: type[E]) -> list[E]:
        return [event for event in self.trace if isinstance(event, kind)]

    def told_of(self, name: str) -> list[tuple[str, str]]:
        """Return reason and message of the Kubernetes Events about a pod."""
        number = self.recorder.pod(self.info(name).uid)
        return [(e.reason, e.message) for e in self.of_type(EventRecorded) if e.pod == number]

    def moves(self, name: str) -> list[str]:
        """Return the labels of the events that moved a pod, or looked at it."""
        number = self.recorder.pod(f"default/{name}")
        return [event.event for event in self.of_type(QueueMoved) if event.pod == number]

    def active(self) -> list[str]:
        return [queued.pod.pod.name for queued in self.queue.active_pods()]

    def parked(self) -> list[str]:
        return [queued.pod.pod.name for queued in self.queue.unschedulable_pods()]

    def backing_off(self) -> list[str]:
        return [queued.pod.pod.name for queued in self.queue.backoff_pods()]

    def gated(self) -> list[str]:
        return [queued.pod.pod.name for queued in self.queue.gated_pods()]


def registry_with(plugins: Sequence[Plugin]) -> Registry:
    """Return the plugins of the tree and those given, each in one instance."""
    registry = in_tree_registry()
    for plugin in plugins:
        registry.register(plugin.name, type(plugin), _always(plugin))
    return registry


def _always(plugin: Plugin) -> Factory:
    return lambda _args, _handle: plugin


def _configuration(plugins: Sequence[Plugin], profile: str) -> str:
    text = CONFIGURATION + "profiles:\n- schedulerName: default-scheduler\n"
    if plugins and "  plugins:\n" not in profile:
        text += "  plugins:\n    multiPoint:\n      enabled:\n"
        text += "".join(f"      - name: {plugin.name}\n" for plugin in plugins)
    return text + profile
