"""What kube-scheduler's own metrics would have shown of a run: its names, labels and buckets.

Virtual time passes between cycles and not within them, so what upstream measures of one cycle or
one plugin is not here: it would be zero. Waits on Permit and the points of a binding cycle last in
virtual time. `kviz_release_info` is ours, and so are the calls of extenders, in real time.
Upstream: v1.36 pkg/scheduler/metrics/metrics.go.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    generate_latest,
)

from kviz.runs.models import Cycle, Run
from kviz.runs.reading.trace import header_events
from scheduler_core.trace.events import (
    ClockAdvanced,
    ExtenderCalled,
    HeaderEvent,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    PointFinished,
)

NOT_HERE: Final = """\
# No virtual time passes within a scheduling cycle. So these would be 0, and are not here:
# scheduler_scheduling_attempt_duration_seconds, scheduler_scheduling_algorithm_duration_seconds,
# scheduler_plugin_execution_duration_seconds, scheduler_queueing_hint_execution_duration_seconds,
# scheduler_framework_extension_point_duration_seconds of all points but PreBind and Bind.
"""
SECOND_NS: Final = 1_000_000_000
MOST_ATTEMPTS: Final = 15
"""Upstream: more attempts share a label."""
RESULTS: Final = {
    Cycle.Result.SCHEDULED: "scheduled",
    Cycle.Result.UNSCHEDULABLE: "unschedulable",
    Cycle.Result.ERROR: "error",
    Cycle.Result.BIND_ERROR: "error",
}
"""Results that upstream counts; a pod that waits on Permit is counted when it no longer does."""
QUEUES: Final = ("active", "backoff", "unschedulable", "gated")


def scheduler_metrics(run: Run) -> bytes:
    """Prometheus text of the recorded part of a run."""
    registry = CollectorRegistry()
    release = Info("kviz_release", "The release that the run follows", registry=registry)
    release.info({"release": run.release_name, "told": run.release_told})
    profiles = dict(run.pod_outcomes.values_list("pod", "scheduler_name"))
    cycles = run.cycle_rows.order_by("number")
    rows = list(cycles.values_list("pod", "attempt", "result", "now_ns", "n_victims"))
    _attempts(registry, profiles, rows)
    _pods(registry, rows)
    victims = Histogram(
        "scheduler_preemption_victims",
        "Number of selected preemption victims",
        buckets=[2**n for n in range(7)],
        registry=registry,
    )
    for *_, n_victims in rows:
        if n_victims:
            victims.observe(n_victims)
    pending = Gauge(
        "scheduler_pending_pods", "Number of pending pods, by queue", ["queue"], registry=registry
    )
    found = Tally(run.pod_outcomes.filter(deleted=False).values_list("queue", flat=True))
    for queue in QUEUES:
        pending.labels(queue).set(found[queue])
    _Durations(registry).observe(header_events(run.chunks.all()))
    return NOT_HERE.encode() + generate_latest(registry)


class _Durations:
    """Waits on Permit, PreBind and Bind in virtual time, and calls of extenders in real time."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._permit = Histogram(
            "scheduler_permit_wait_duration_seconds",
            "Virtual time that pods waited on Permit",
            ["result"],
            buckets=[0.001 * 2**n for n in range(15)],
            registry=registry,
        )
        self._points = Histogram(
            "scheduler_framework_extension_point_duration_seconds",
            "Virtual time of the points of binding cycles",
            ["extension_point", "status", "profile"],
            buckets=[0.0001 * 2**n for n in range(12)],
            registry=registry,
        )
        self._calls = Histogram(
            "kviz_extender_call_duration_seconds",
            "Real time of calls to scheduler extenders",
            ["extender", "verb"],
            buckets=[0.001 * 2**n for n in range(15)],
            registry=registry,
        )
        self._now_ns = 0
        self._profiles: dict[int, str] = {}
        self._waits: dict[int, tuple[int, set[int]]] = {}
        """By pod, since when it waits and for which plugins."""
        self._since_ns: dict[int, int] = {}
        """By pod, when the last point or wait ended."""

    def observe(self, events: Iterable[HeaderEvent]) -> None:
        for event in events:
            match event:
                case ClockAdvanced():
                    self._now_ns = event.now_ns
                case PodAdded():
                    self._profiles[event.pod] = event.scheduler_name
                case PermitWaiting():
                    self._waits.setdefault(event.pod, (self._now_ns, set()))[1].add(event.plugin)
                case PermitResolved():
                    self._resolved(event)
                case PointFinished():
                    self._finished(event)
                case ExtenderCalled():
                    calls = self._calls.labels(event.extender, event.verb)
                    calls.observe(event.duration_ns / SECOND_NS)

    def _resolved(self, event: PermitResolved) -> None:
        since_ns, plugins = self._waits.get(event.pod, (self._now_ns, set()))
        plugins.discard(event.plugin)
        allowed = event.decision == "allow"
        if plugins and allowed:
            return
        self._waits.pop(event.pod, None)
        self._since_ns[event.pod] = self._now_ns
        waited = self._permit.labels("Success" if allowed else "Unschedulable")
        waited.observe((self._now_ns - since_ns) / SECOND_NS)

    def _finished(self, event: PointFinished) -> None:
        since_ns = self._since_ns.get(event.pod, self._now_ns)
        self._since_ns[event.pod] = self._now_ns
        if event.point in ("PreBind", "Bind"):
            profile = self._profiles.get(event.pod, "")
            took = self._points.labels(event.point, event.status.code, profile)
            took.observe((self._now_ns - since_ns) / SECOND_NS)


Row = tuple[str, int, str, int, int]
"""Pod, attempt, result, the time of the cycle in nanoseconds, victims."""


def _attempts(registry: CollectorRegistry, profiles: dict[str, str], rows: Iterable[Row]) -> None:
    attempts = Counter(
        "scheduler_schedule_attempts",
        "Number of attempts to schedule pods, by the result",
        ["profile", "result"],
        registry=registry,
    )
    for pod, _, result, _, _ in rows:
        if counted := RESULTS.get(Cycle.Result(result)):
            attempts.labels(profiles.get(pod, ""), counted).inc()


def _pods(registry: CollectorRegistry, rows: Iterable[Row]) -> None:
    """Measure pods that were bound: how often they were tried, and for how long."""
    tried = Histogram(
        "scheduler_pod_scheduling_attempts",
        "Number of attempts to successfully schedule a pod",
        buckets=[1, 2, 4, 8, 16],
        registry=registry,
    )
    took = Histogram(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "Virtual time from a pod's first attempt to its last",
        ["attempts"],
        buckets=[0.01 * 2**n for n in range(20)],
        registry=registry,
    )
    first_ns: dict[str, int] = {}
    for pod, attempt, result, now_ns, _ in rows:
        if attempt == 1:
            first_ns[pod] = now_ns
        if result == Cycle.Result.SCHEDULED:
            label = str(attempt) if attempt < MOST_ATTEMPTS else f"{MOST_ATTEMPTS}+"
            tried.observe(attempt)
            took.labels(label).observe((now_ns - first_ns.get(pod, now_ns)) / SECOND_NS)
