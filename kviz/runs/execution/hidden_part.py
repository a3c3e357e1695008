"""Writes: a run pauses where what comes next is hidden from its viewers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from kviz.runs.execution.append import Owned, TraceAppender
from kviz.runs.execution.part_of_cycle import PartOfCycle
from kviz.runs.models import Run
from scheduler_core.trace.events import AnyEvent, CycleStarted, RunStarted


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
            hidden = self._owned(self._run).filter(veiled_after__lt=cycle, veiled_part="")
            if hidden.update(status=Run.Status.PAUSED, claimed_by=""):
                raise HiddenPartReached
            self._look_again()
        return None

    def _is_hidden(self, cycle: int) -> bool:
        veiled_after = self._run.veiled_after
        return veiled_after is not None and cycle > veiled_after

    def _stop_within(self, part: PartOfCycle) -> None:
        """Pause before the first hidden event of a cycle; return if more was revealed meanwhile.

        Raises HiddenPartReached and AppendRefused.
        """
        known = part.known
        if self._trace.cut_part(
            part.chunk(after=self._trace.writer.last_seq),
            lambda run: self._owned(run).filter(veiled_after=known.cycle, veiled_part=known.words),
            status=Run.Status.PAUSED,
            claimed_by="",
        ):
            raise HiddenPartReached
        self._look_again()

    def _look_again(self) -> None:
        self._run.refresh_from_db(fields=["veiled_after", "veiled_part"])
