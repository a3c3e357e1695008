"""Writes: a run pauses where what comes next is hidden from its viewers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from kviz.runs.execution.append import Owned, TraceAppender
from kviz.runs.known import Known
from kviz.runs.models import Run
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
    RunStarted,
    ScoreColumns,
)
from scheduler_core.trace.records import Column, PluginScores

# A cycle of which a part may be known: its events up to the end of that part, and no more.
#
# What may be known is listed, so that events which the trace gets later are hidden at first.

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


class HiddenPartReached(Exception):
    """What comes next is hidden: the run is paused here, and all before it is stored."""


class HiddenPart:
    """Lets the events of a run pass up to the first that is hidden, before a cycle or within one.

    `flush` stores what was recorded so far.
    """

    def __init__(
        self, run: Run, trace: TraceAppender, owned: Owned, flush: Callable[[], None]
    ) -> None:
        self._run = run
        self._trace = trace
        self._owned = owned
        self._flush = flush

    def revealed(self, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        """Yield the events that are not hidden. Raises HiddenPartReached and AppendRefused."""
        plugins: Sequence[str] = ()
        part: PartOfCycle | None = None
        to_come = iter(events)
        while (event := next(to_come, None)) is not None:
            if isinstance(event, RunStarted):
                plugins = event.plugins
            if part is None and isinstance(event, CycleStarted):
                part = self._part_of(event.cycle, plugins)
            if part is None:
                yield event
            elif not part.hold(event):
                self._stop_within(part)
                to_come = chain(part.events, [event], to_come)
                part = None

    def _part_of(self, cycle: int, plugins: Sequence[str]) -> PartOfCycle | None:
        """None for a cycle that is revealed as a whole; pause before one that is hidden.

        Raises HiddenPartReached and AppendRefused.
        """
        while self._is_hidden(cycle):
            self._flush()
            known = self._run.known
            if known is not None and known.reach == cycle:
                return PartOfCycle(known, plugins)
            hidden = self._owned(self._run).filter(hidden_after__lt=cycle, known_part="")
            if hidden.update(status=Run.Status.PAUSED, claimed_by=""):
                raise HiddenPartReached
            self._look_again()
        return None

    def _is_hidden(self, cycle: int) -> bool:
        hidden_after = self._run.hidden_after
        return hidden_after is not None and cycle > hidden_after

    def _stop_within(self, part: PartOfCycle) -> None:
        """Pause before the first hidden event of a cycle; return if more was revealed meanwhile.

        Raises HiddenPartReached and AppendRefused.
        """
        known = part.known
        if self._trace.cut_part(
            part.chunk(after=self._trace.writer.last_seq),
            lambda run: self._owned(run).filter(hidden_after=known.cycle, known_part=known.words),
            status=Run.Status.PAUSED,
            claimed_by="",
        ):
            raise HiddenPartReached
        self._look_again()

    def _look_again(self) -> None:
        self._run.refresh_from_db(fields=["hidden_after", "known_part"])
