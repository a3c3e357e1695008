"""Runs a workload and takes its time, its trace's size and its memory.

All times are CPU seconds of this process, as the calibration's are, so that other work on the
machine does not count. Loading the cluster is not part of the time per cycle.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from kviz.bench.calibration import N_ITERATIONS, REFERENCE, loop_s
from kviz.bench.dump import name_of_dump, objects_of_dump
from kviz.bench.parts import Parts
from kviz.bench.workloads import WORKLOADS
from scheduler_core.api import KubeObject
from scheduler_core.registry import METHOD_OF_POINT
from scheduler_core.scheduler.cycle import Scheduler
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.codec import TraceWriter
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    CycleStarted,
)

# How long each plugin takes.

P = ParamSpec("P")
R = TypeVar("R")

NORMALIZE = "normalize_score"


class PluginTimes:
    """CPU seconds by plugin, over all its extension points.

    A plugin that has others run (PostFilter does, for its dry runs) is charged for its own
    part only.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.seconds: dict[str, float] = {}
        self._running: list[str] = []
        self._since_s = 0.0
        timed: set[tuple[str, str]] = set()
        for framework in scheduler.profiles.values():
            for point, attached in framework.points.items():
                for plugin, _ in attached:
                    for method in (METHOD_OF_POINT[point], NORMALIZE):
                        if hasattr(plugin, method) and (plugin.name, method) not in timed:
                            timed.add((plugin.name, method))
                            timed_method = self._timed(plugin.name, getattr(plugin, method))
                            setattr(plugin, method, timed_method)

    def reset(self) -> None:
        """Forget what was measured so far."""
        self.seconds.clear()

    def _timed(self, plugin: str, method: Callable[P, R]) -> Callable[P, R]:
        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            self._charge()
            self._running.append(plugin)
            try:
                return method(*args, **kwargs)
            finally:
                self._charge()
                self._running.pop()

        return timed

    def _charge(self) -> None:
        """Charge the time since the last change to the part that was running."""
        now_s = time.process_time()
        if self._running:
            plugin = self._running[-1]
            self.seconds[plugin] = self.seconds.get(plugin, 0.0) + now_s - self._since_s
        self._since_s = now_s

    def as_json(self, run_s: float, n_cycles: int) -> dict[str, dict[str, float]]:
        """Return milliseconds per cycle and the share of all time, the slowest first."""
        return {
            plugin: {"ms": round(1000 * s / n_cycles, 4), "share": round(s / run_s, 4)}
            for plugin, s in sorted(self.seconds.items(), key=lambda item: -item[1])
        }


KIB = 1024


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What to measure.

    `plugins` takes the time of every plugin, which slows all of it a little; `parts` looks which
    part is at work. With `dump` the pods of that file are scheduled, not those of a workload.
    """

    workload: str
    n_nodes: int
    n_pods: int
    trace: bool = True
    plugins: bool = False
    parts: bool = False
    dump: Path | None = None


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured. `race_ratio` compares pods bound per calibration with kube-scheduler's."""

    options: BenchOptions
    n_cycles: int
    n_bound: int
    load_s: float
    run_s: float
    p50_ms: float
    p99_ms: float
    trace_bytes_per_cycle: float | None
    peak_rss_bytes: int
    calibration_s: float
    plugin_times: PluginTimes | None
    parts: Parts | None = None

    @property
    def cycles_per_s(self) -> float:
        return self.n_cycles / self.run_s

    @property
    def pods_per_s(self) -> float:
        return self.n_bound / self.run_s

    @property
    def race_ratio(self) -> float | None:
        """None where no reference was taken."""
        reference = REFERENCE.get((self.options.workload, self.options.n_nodes))
        return None if reference is None else self.pods_per_s * self.calibration_s / reference

    def as_json(self) -> dict[str, object]:
        """Return the object that `kviz bench --json` prints."""
        options, ratio, size = self.options, self.race_ratio, self.trace_bytes_per_cycle
        document: dict[str, object] = {
            "workload": options.workload,
            "nodes": options.n_nodes,
            "pods": options.n_pods,
            "cycles_per_s": round(self.cycles_per_s, 2),
            "p50_ms": round(self.p50_ms, 4),
            "p99_ms": round(self.p99_ms, 4),
            "trace_bytes_per_cycle": None if size is None else round(size, 1),
            "peak_rss_bytes": self.peak_rss_bytes,
            "calibration_s": round(self.calibration_s, 4),
            "race_ratio": None if ratio is None else round(ratio, 4),
            "pods_per_s": round(self.pods_per_s, 2),
            "cycles": self.n_cycles,
            "bound": self.n_bound,
            "load_s": round(self.load_s, 3),
        }
        if self.plugin_times is not None:
            document["plugins"] = self.plugin_times.as_json(self.run_s, self.n_cycles)
        if self.parts is not None:
            document["parts"] = self.parts.shares()
        return document


@dataclass
class _Stopwatch:
    """Takes a run's events as a worker does, and the time at which each cycle begins.

    The trace of what was loaded, before the first cycle, does not count into its size.
    """

    writer: TraceWriter | None
    on_first_cycle: Callable[[], None]
    start_s: float = field(default_factory=time.process_time)
    marks_s: list[float] = field(default_factory=list)
    n_bound: int = 0
    trace_bytes: int = 0

    def take(self, event: AnyEvent) -> None:
        if isinstance(event, CycleStarted):
            if not self.marks_s:
                self.on_first_cycle()
                self._cut()
                self.trace_bytes = 0
            elif self.writer is not None and self.writer.is_full:
                self._cut()
            self.marks_s.append(time.process_time())
        elif isinstance(event, Bound):
            self.n_bound += 1
        if self.writer is not None:
            self.writer.add(event)

    def finish(self) -> None:
        self._cut()
        self.marks_s.append(time.process_time())

    def _cut(self) -> None:
        chunk = self.writer.cut() if self.writer is not None else None
        if chunk is not None:
            self.trace_bytes += len(chunk.headers) + len(chunk.details)

    @property
    def trace_bytes_per_cycle(self) -> float | None:
        """Compressed bytes, headers and details; None without a trace."""
        return None if self.writer is None else self.trace_bytes / (len(self.marks_s) - 1)


def measure(options: BenchOptions) -> BenchResult:
    """Run a workload to its end, with the calibration right before and after it."""
    calibration_s = loop_s(N_ITERATIONS // 2)
    objects = objects_of(options)
    run = Run(objects, RunOptions(timing=Timing(kubelet_start_ns=None), details=options.trace))
    plugin_times = PluginTimes(run.simulation.scheduler) if options.plugins else None
    parts = Parts() if options.parts else None

    def on_first_cycle() -> None:
        if plugin_times is not None:
            plugin_times.reset()
        if parts is not None:
            parts.start()

    stopwatch = _Stopwatch(TraceWriter() if options.trace else None, on_first_cycle)
    for event in run.events():
        stopwatch.take(event)
    stopwatch.finish()
    if parts is not None:
        parts.stop()
    calibration_s += loop_s(N_ITERATIONS // 2)
    cycles_ms = np.diff(stopwatch.marks_s) * 1000
    return BenchResult(
        options=options,
        n_cycles=run.simulation.scheduler.n_cycles,
        n_bound=stopwatch.n_bound,
        load_s=stopwatch.marks_s[0] - stopwatch.start_s,
        run_s=stopwatch.marks_s[-1] - stopwatch.marks_s[0],
        p50_ms=float(np.percentile(cycles_ms, 50)),
        p99_ms=float(np.percentile(cycles_ms, 99)),
        trace_bytes_per_cycle=stopwatch.trace_bytes_per_cycle,
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB,
        calibration_s=calibration_s,
        plugin_times=plugin_times,
        parts=parts,
    )


def objects_of(options: BenchOptions) -> list[KubeObject]:
    """Return what is loaded, in order. Raises UnusableDump."""
    if options.dump is None:
        return list(WORKLOADS[options.workload].make(options.n_nodes, options.n_pods))
    return objects_of_dump(options.dump, options.n_nodes, options.n_pods)


def options_of_dump(path: Path, n_nodes: int | None, n_pods: int | None) -> BenchOptions:
    """Return options for a dump's own size, or less of it. Raises UnusableDump."""
    objects = objects_of_dump(path, n_nodes, n_pods)
    counts = Counter(item.kind for item in objects)
    return BenchOptions(name_of_dump(path), counts["Node"], counts["Pod"], dump=path)
