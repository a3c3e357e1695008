"""The profiles of a scheduler as records of the trace."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.runtime import Framework
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import PointPlugins, ProfileRecord


def profile_records(
    frameworks: Mapping[str, Framework], recorder: Recorder
) -> tuple[ProfileRecord, ...]:
    """Describe the profiles for the start of a trace."""
    return tuple(
        ProfileRecord(
            name,
            tuple(
                PointPlugins(
                    point.value,
                    tuple(recorder.plugin(plugin.name) for plugin, _ in attached),
                    tuple(w for _, w in attached) if point is ExtensionPoint.SCORE else (),
                )
                for point, attached in framework.points.items()
            ),
        )
        for name, framework in frameworks.items()
    )
