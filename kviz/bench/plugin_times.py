"""How long each plugin takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from scheduler_core.registry import METHOD_OF_POINT
from scheduler_core.scheduler.cycle import Scheduler

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
        """Charge the time since the last change to whoever was running."""
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
