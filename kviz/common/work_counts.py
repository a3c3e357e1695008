"""What a worker counts of its work, for Prometheus, whichever of its processes does the work.

A worker has several: the one that answers Prometheus, with Celery another one that works, and
copies of it that execute variants. So the numbers are in memory that all of them share. One of them
works at a time: no number has two writers.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, product
from pathlib import Path
from typing import Final, get_args

from django.conf import settings
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from kviz.common.announcing import Kind

STATES: Final = ("queued", "running", "paused", "finished", "failed", "cancelled", "deleted")
"""What becomes of a row; `queued`: it was given back, `running`: others go on with it."""
KINDS: Final = tuple(kind for kind in get_args(Kind) if kind != "look")
WAITS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Upper bounds of the buckets of waiting times; longer times are beyond the last."""

TOUCH_S: Final = 1.0

_KEYS: Final = (
    *(("tasks", kind, state) for kind, state in product(KINDS, STATES)),
    *((what, kind) for what, kind in product(("busy", "seconds", "waited"), KINDS)),
    *(("waits", kind, place) for kind, place in product(KINDS, range(len(WAITS_S) + 1))),
    *((what,) for what in ("cycles", "variants", "hung", "progress")),
)
_PLACES: Final = {key: place for place, key in enumerate(_KEYS)}
_numbers: Final = memoryview(mmap.mmap(-1, len(_KEYS) * 8)).cast("d")


def _add(*key: object, n: float = 1.0) -> None:
    _numbers[_PLACES[key]] += n


def _value(*key: object) -> float:
    return _numbers[_PLACES[key]]


def cycles_simulated(n: int) -> None:
    """Count scheduling cycles whose trace was stored."""
    _add("cycles", n=n)


def variants_carried_out(n: int) -> None:
    """Count variants of experiments whose results were stored."""
    _add("variants", n=n)


def progress() -> None:
    """Note that the worker gets on: it stored something, holds on to a row, or has nothing to do.

    A probe sees it by the time of a file. Who claims rows and leaves them again does not get on.
    """
    last_s, now_s = _value("progress"), time.time()
    if abs(now_s - last_s) >= TOUCH_S:
        _numbers[_PLACES["progress",]] = now_s
        if settings.WORKER_ALIVE_FILE:
            Path(settings.WORKER_ALIVE_FILE).touch()


def task_hung() -> None:
    """Count work whose process was ended."""
    _add("hung")


def waited(kind: Kind, seconds: float) -> None:
    """Count how long a row waited until a worker claimed it for the first time."""
    place = next((place for place, end in enumerate(WAITS_S) if seconds <= end), len(WAITS_S))
    _add("waits", kind, place)
    _add("waited", kind, n=max(0.0, seconds))


@contextmanager
def busy(kind: Kind) -> Iterator[None]:
    """Count the time that a worker works."""
    place, began = _PLACES["busy", kind], time.monotonic()
    _numbers[place] = 1.0
    try:
        yield
    finally:
        _numbers[place] = 0.0
        _add("seconds", kind, n=time.monotonic() - began)


def nobody_is_busy() -> None:
    """Forget what a process was busy with that was killed meanwhile."""
    for kind in KINDS:
        _numbers[_PLACES["busy", kind]] = 0.0


def task_left(kind: Kind, state: str) -> None:
    """Count a task, by what has become of its row."""
    _add("tasks", kind, state)


class Worked:
    """The numbers as Prometheus reads them."""

    def collect(self) -> Iterator[Metric]:
        yield from self._tasks()
        waits = HistogramMetricFamily(
            "kviz_worker_wait_seconds",
            "How long what was claimed here had waited for a worker.",
            labels=["kind"],
        )
        ends = [*map(str, WAITS_S), "+Inf"]
        for kind in KINDS:
            counts = accumulate(_value("waits", kind, place) for place in range(len(ends)))
            buckets = list(zip(ends, counts, strict=True))
            waits.add_metric([kind], buckets, sum_value=_value("waited", kind))
        yield waits
        for name, what, text in (
            ("kviz_worker_cycles", "cycles", "Scheduling cycles simulated and stored."),
            ("kviz_worker_variants", "variants", "Variants of experiments carried out."),
            ("kviz_worker_hung", "hung", "Work that hung, and was ended with its process."),
        ):
            yield CounterMetricFamily(name, text, value=_value(what))
        yield GaugeMetricFamily(
            "kviz_worker_progress_timestamp_seconds",
            "When the worker last got on, or found nothing to do.",
            value=_value("progress"),
        )

    def _tasks(self) -> Iterator[Metric]:
        tasks = CounterMetricFamily(
            "kviz_worker_tasks",
            "Tasks, by the state their row was left in.",
            labels=["kind", "state"],
        )
        for kind, state in product(KINDS, STATES):
            tasks.add_metric([kind, state], _value("tasks", kind, state))
        busy_with = GaugeMetricFamily(
            "kviz_worker_busy", "Whether the worker works at such a task.", labels=["kind"]
        )
        seconds = CounterMetricFamily(
            "kviz_worker_task_seconds", "Time spent on tasks that are over.", labels=["kind"]
        )
        for kind in KINDS:
            busy_with.add_metric([kind], _value("busy", kind))
            seconds.add_metric([kind], _value("seconds", kind))
        yield from (tasks, busy_with, seconds)
