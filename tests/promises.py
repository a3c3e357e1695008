"""Plugins that promise nothing: each is asked in every cycle about all that the cycle looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scheduler_core.sim.run import Run, RunOptions


@contextmanager
def nothing_promised(options: RunOptions | None = None) -> Iterator[None]:
    """Takes back what the plugins that `options` enable promise, those of the default profile else.

    The promises are those of `scheduler_core/framework/kept.py`.
    """
    profiles = Run([], options or RunOptions()).simulation.scheduler.profiles.values()
    plugins = [plugin for each in profiles for at in each.points.values() for plugin, _ in at]
    with pytest.MonkeyPatch.context() as patch:
        for kind in {type(plugin) for plugin in plugins}:
            for promise in ("node_only", "resources_only"):
                if hasattr(kind, promise):
                    patch.setattr(kind, promise, False)
            if hasattr(kind, "template_only"):
                patch.setattr(kind, "template_only", lambda self, pod: False)
        yield
