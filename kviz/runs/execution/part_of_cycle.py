"""A cycle of which a part may be known: its events up to the end of that part, and no more.

What may be known is listed, so that events which the trace gets later are hidden at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from kviz.runs.veil import Known
from scheduler_core.trace.codec import Chunk, TraceWriter
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    PreemptionDryRun,
    PreemptionStarted,
    PreFilterFinished,
    PreScoreFinished,
    ScoreColumns,
)
from scheduler_core.trace.records import Column, PluginScores

_PRE_FILTER: Final = (CycleStarted, PreFilterFinished)
_FILTER: Final = (*_PRE_FILTER, FilterFinished, FilterColumns, ExtenderCalled, ExtenderColumns)
_SCORE: Final = (*_FILTER, PreScoreFinished, ScoreColumns)
_SHOWN: Final[dict[str, tuple[type[AnyEvent], ...]]] = {
    "PreFilter": _PRE_FILTER,
    "Filter": _FILTER,
    "DryRun": (*_FILTER, PreemptionStarted, PreemptionDryRun),
    "Score": _SCORE,
    "NormalizeScore": _SCORE,
}
_VERBS: Final = {
    "Filter": {"filter"},
    "DryRun": {"filter"},
    "Score": {"filter", "prioritize"},
    "NormalizeScore": {"filter", "prioritize"},
}
_HIDDEN: Final = Column.zeros(0)


class PartOfCycle:
    """Holds the events of one cycle back until the first comes that is hidden."""

    def __init__(self, known: Known, plugins: Sequence[str]) -> None:
        self.known = known
        self.events: list[AnyEvent] = []
        self._plugins = plugins

    def hold(self, event: AnyEvent) -> bool:
        """Hold an event back; False if it is hidden, and so all that follow."""
        part = self.known.part
        if not isinstance(event, _SHOWN[part]):
            return False
        if isinstance(event, ExtenderCalled) and event.verb not in _VERBS[part]:
            return False
        self.events.append(event)
        return True

    def chunk(self, *, after: int) -> Chunk:
        """What may be known, as a chunk that goes on behind the event `after`."""
        writer = TraceWriter.continuing(last_seq=after, cycle=self.known.cycle)
        for event in self.events:
            writer.add(self._cut(event) if isinstance(event, ScoreColumns) else event)
        chunk = writer.cut()
        if chunk is None:
            raise RuntimeError("a part of a cycle without its beginning")
        return chunk

    def _cut(self, event: ScoreColumns) -> ScoreColumns:
        """Leave out plugins that may not be known, totals, and normalised scores if need be."""
        named = self.known.plugins
        scores = event.plugins
        if named:
            at = [i for i, each in enumerate(scores) if self._plugins[each.plugin] in named]
            scores = scores[: max(at, default=-1) + 1]
        if self.known.part == "Score":
            scores = tuple(map(_without_normalized, scores))
        return replace(event, plugins=scores, totals=_HIDDEN)


def _without_normalized(scores: PluginScores) -> PluginScores:
    return replace(scores, normalized=_HIDDEN)
