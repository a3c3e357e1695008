"""Cycles of runs, re-enacted and held: a run is simulated again up to a cycle, and stops there.

What the trace does not hold is then asked of the cycle (docs/adr/0016). A few are held in this
process, because one question about a cycle is seldom the last.
"""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from uuid import UUID

from kviz.engine_build import engine_build, is_of_version
from kviz.runs.execution.causes import AT_ONCE
from kviz.runs.execution.engine import max_cycle, reenact
from kviz.runs.execution.extender_answers import AnswerMissing
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.reading.projection import CycleDocument, answer_document
from kviz.snapshots.held import HELD as HELD_CLUSTERS
from kviz.snapshots.selectors import snapshot_is_large
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim import Progress, ReenactedCycle
from scheduler_core.sim.decided import DecidedCycle
from scheduler_core.wording import say, told

T = TypeVar("T")

Question = Callable[[ReenactedCycle | None], T]


@dataclass(frozen=True)
class Answered(Generic[T]):
    """That a cycle was held, and what it answered."""

    answer: T


MAX_HELD: Final = 2
"""So many cycles are held, each with the cluster as it was; one, if that is large."""


class CannotReenact(Exception):
    """A cycle is not re-enacted; the text says why and what would help.

    `busy` says that it may be, a few seconds from now.
    """

    def __init__(self, text: str, *, busy: bool = False) -> None:
        super().__init__(text)
        self.busy = busy


class HeldCycles:
    """The cycles that were asked about last, the latest one last."""

    def __init__(self) -> None:
        self._cycles: OrderedDict[tuple[UUID, int], ReenactedCycle | None] = OrderedDict()
        self._holds_large = False
        self._reading = threading.Lock()
        self.one_at_a_time = threading.Lock()
        """Held while a run is simulated again, which takes a processor for seconds."""

    def ask(
        self,
        run: Run,
        recorded: CycleDocument,
        question: Question[T],
        progress: Progress = lambda n_cycles: None,
    ) -> T:
        """Return the answer of a cycle; None stands for one that looked at no node.

        `progress` hears how many cycles have been simulated, if that is necessary; what it raises
        ends the simulation. Raises CannotReenact.
        """
        known = self.ask_held(run.pk, recorded["cycle"], question)
        if known is not None:
            return known.answer
        _check_possible(run, recorded)
        cycle = self._reenact(run, recorded, progress)
        with self._reading:
            return question(cycle)

    def ask_held(self, run_id: UUID, cycle: int, question: Question[T]) -> Answered[T] | None:
        """Return the answer of a cycle that is held; None for any other."""
        key = (run_id, cycle)
        with self._reading:
            cycles = self._cycles  # which may be let go of meanwhile
            if key not in cycles:
                return None
            cycles.move_to_end(key)
            return Answered(question(cycles[key]))

    def let_go(self) -> None:
        """Hold no cycle any more, and give back its memory: a simulation refers to itself."""
        self._cycles = OrderedDict()
        gc.collect()

    def _reenact(
        self, run: Run, recorded: CycleDocument, progress: Progress
    ) -> ReenactedCycle | None:
        if not self.one_at_a_time.acquire(blocking=False):
            raise CannotReenact(
                say("cycle.busy", "Another cycle is being re-enacted; try again soon."), busy=True
            )
        try:
            key = (run.pk, recorded["cycle"])
            assert run.snapshot is not None
            is_large = snapshot_is_large(snapshot=run.snapshot)
            if is_large or self._holds_large:
                self.let_go()  # before the next one takes memory
            self._holds_large = is_large
            cycle = _reenact(run, recorded, progress)
            with self._reading:
                self._cycles[key] = cycle
                while len(self._cycles) > MAX_HELD:
                    self._cycles.popitem(last=False)
            return cycle
        finally:
            self.one_at_a_time.release()


HELD: Final = HeldCycles()
HELD_CLUSTERS.before_large = HELD.let_go
FEW_NODES: Final = 1_000
"""A cluster of so many nodes is read in a fraction of a second."""


def is_at_hand(run: Run, recorded: CycleDocument) -> bool:
    """Tell whether a cycle is held, or its cluster read so fast that a page need not say so."""
    held = HELD.ask_held(run.pk, recorded["cycle"], lambda _cycle: True)
    return held is not None or (recorded["n_nodes"] <= FEW_NODES and is_quick(recorded))


def is_quick(recorded: CycleDocument) -> bool:
    """Tell whether a cycle is re-enacted in no longer than a page may take."""
    return recorded["cycle"] * (1_000 + recorded["n_nodes"]) <= AT_ONCE


def _check_possible(run: Run, recorded: CycleDocument) -> None:
    """Raise CannotReenact for a cycle that cannot be re-enacted, or is too far into its run."""
    if run.is_observed:
        raise CannotReenact(
            say(
                "cycle.observed",
                "A real scheduler decided this cycle. kviz cannot call its plugins.",
            )
        )
    if not is_of_version(run.engine_version):
        raise CannotReenact(
            say(
                "cycle.other_engine",
                "This run was made by engine {engine}; this is {this}, which might decide "
                "differently. Start the run again to re-enact its cycles.",
                engine=run.engine_version,
                this=engine_build(),
            )
        )
    limit = max_cycle(recorded["n_nodes"])
    if recorded["cycle"] > limit:
        raise CannotReenact(
            say(
                "cycle.too_far",
                "To answer, the run has to be simulated again up to this cycle, which is too far: "
                "the limit for {n_nodes} nodes is cycle {limit}. Choose an earlier cycle, or start "
                "a run with fewer pods, such as one pending pod alone.",
                n_nodes=recorded["n_nodes"],
                limit=limit,
            )
        )


def _reenact(run: Run, recorded: CycleDocument, progress: Progress) -> ReenactedCycle | None:
    try:
        cycle = reenact(run, recorded["cycle"], progress)
    except (InvalidInput, AnswerMissing, PluginFailure) as error:
        raise CannotReenact(
            say("cycle.cannot_reenact", "This cycle cannot be re-enacted. {why}", why=told(error))
        ) from error
    if cycle is not None and not went_as_recorded(cycle, recorded):
        raise CannotReenact(
            say(
                "cycle.came_out_otherwise",
                "Simulated again, this cycle differs from the record: a bug of kviz, or the run's "
                "file was altered. The recorded verdicts stand.",
            )
        )
    return cycle


def went_as_recorded(cycle: DecidedCycle, recorded: CycleDocument) -> bool:
    """Compare verdicts; only the record says how nominated pods affect one."""
    first = {node: answer_document(status) for node, status in cycle.rejected.items()}
    verdicts = {
        node: {name: value for name, value in status.items() if name != "nominated"}
        for node, status in recorded["filter"].items()
    }
    return (cycle.pod, first, cycle.feasible) == (
        recorded["pod"],
        verdicts,
        frozenset(recorded["feasible"]),
    )
