"""The profiles of a scheduler as records of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.events import ClusterEvent, single_events
from scheduler_core.framework.runtime import Framework
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import PluginEvents, PointPlugins, ProfileRecord

Registered = Mapping[str, Mapping[str, Sequence[ClusterEvent]]]
"""By scheduler name and plugin, the events it registered for."""


def profile_records(
    frameworks: Mapping[str, Framework], recorder: Recorder, registered: Registered
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
            tuple(
                PluginEvents(
                    recorder.plugin(plugin),
                    tuple(each.label for each in single_events(tuple(events))),
                )
                for plugin, events in registered.get(name, {}).items()
            ),
        )
        for name, framework in frameworks.items()
    )
