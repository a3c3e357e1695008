"""Writes: a worker carries out the experiment it has claimed, and stores what comes.

Variants are run by copies of the worker (`kviz.answers.forked`); the worker alone writes. A copy
inherits its connection to the database, and neither uses nor closes it: it leaves at once. A batch
of results and the count of them are one transaction that succeeds only while the claim holds, and
a variant has one row: killed at any time, nothing is lost but what was under way, and nothing is
counted twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from kviz.answers.forked import Count, Died, Doing, Done, as_done
from kviz.common.claiming import MAX_CLAIMS, StorageFailed
from kviz.engine_build import engine_build
from kviz.experiments.execution.claim import QUEUE, claimed_experiment
from kviz.experiments.models import Experiment, Result
from kviz.experiments.questions import question_of
from kviz.experiments.questions.question import Outcome, Question, Variant
from kviz.runs.inputs import InvalidInput
from scheduler_core.framework.plugin_calls import PluginFailure

log = logging.getLogger(__name__)

FLUSH_S: Final = 0.25
"""How long results wait at most before they are stored."""
TICK_S: Final = 0.25
HEARTBEAT_S: Final = 0.5
"""So often a worker shows that it is alive, and sees that it was cancelled."""

Elsewhere = Callable[[], bool]


class ClaimLost(Exception):
    """The experiment was cancelled or deleted, or is another worker's by now."""


class GiveWay(Exception):
    """The worker is wanted for something that does not take as long."""


class WorkersDied(Exception):
    """Worker after worker died on the experiment; it is given up."""

    def __init__(self) -> None:
        super().__init__(
            f"{MAX_CLAIMS} workers died while carrying out this experiment, perhaps for want of "
            "memory."
        )


def experiment_carry_out(
    *, experiment: Experiment, worker: str, wanted_elsewhere: Elsewhere = lambda: False
) -> None:
    """Carry out a claimed experiment; go on with one that another worker began.

    Ends with the experiment finished or failed, unless the claim was lost meanwhile, or the
    worker is `wanted_elsewhere`: then it waits for a worker again. Raises StorageFailed.
    """
    try:
        if experiment.claims > MAX_CLAIMS:
            raise WorkersDied
        _Carrying(experiment, worker, wanted_elsewhere).finish()
    except ClaimLost:
        log.info("experiment %s is no longer ours", experiment.pk)
    except GiveWay:
        QUEUE.give_back(experiment, worker)
    except (InvalidInput, WorkersDied, PluginFailure) as reason:
        _fail(experiment, worker, str(reason))
    except StorageFailed:
        raise
    except Exception:
        log.exception("experiment %s failed", experiment.pk)
        text = "A variant failed. This is a bug; the server's log has the details."
        _fail(experiment, worker, text)


def _fail(experiment: Experiment, worker: str, error: str) -> None:
    claimed_experiment(experiment, worker).update(
        status=Experiment.Status.FAILED, error=error, finished_at=timezone.now(), claimed_by=""
    )


class _Carrying:
    """Runs what a question asks for, and keeps what is stored and what is known alike."""

    def __init__(self, experiment: Experiment, worker: str, wanted_elsewhere: Elsewhere) -> None:
        self._experiment = experiment
        self._worker = worker
        self._wanted_elsewhere = wanted_elsewhere
        self._found: list[Result] = []
        """What is still to be stored."""
        self._n_stored = 0
        self._n_asked = 0
        self._n_more: int | None = None
        """How many more variants there may be, where a question says so."""
        self._outcomes: dict[int, Outcome] = self._stored()
        self._n_stored = len(self._outcomes)
        self._has_begun = False
        self._doing: dict[str, int] = {}
        """How many cycles the variants under way have had, by their names."""
        self._count = Count(self._hear)
        self._question: Question[Any] = question_of(experiment, self._count)
        now = time.monotonic()
        self._flush_at, self._look_at = now + FLUSH_S, now + HEARTBEAT_S

    def _hear(self, n_cycles: int) -> None:
        """Look around while this process runs the cluster itself. Raises ClaimLost and GiveWay."""
        if not self._has_begun:
            self._doing = {"": n_cycles}
        self._look_around()

    def _stored(self) -> dict[int, Outcome]:
        """What is stored; results of another build of the engine are dropped."""
        experiment = self._experiment
        if experiment.engine_version != engine_build():
            with transaction.atomic():
                self._update(engine_version=engine_build(), n_done=0)
                experiment.results.all().delete()
        return dict(experiment.results.values_list("variant", "outcome"))

    def finish(self) -> None:
        """Carry it out to its end. Raises ClaimLost, GiveWay, InvalidInput and PluginFailure."""
        answer = self._question.answer(self)
        self._store()
        self._update(
            status=Experiment.Status.FINISHED,
            answer=answer,
            n_variants=self._n_stored,
            doing=[],
            finished_at=timezone.now(),
            claimed_by="",
        )

    # ------------------------------------------------------------ what a question asks for

    def all(self, variants: Sequence[Variant]) -> list[Outcome]:
        numbers = range(self._n_asked, self._n_asked + len(variants))
        self._n_asked = numbers.stop
        if any(number not in self._outcomes for number in numbers):
            self._update(n_variants=numbers.stop)
        found = dict(self.as_done(zip(numbers, variants, strict=True)))
        return [found[number] for number in numbers]

    def as_done(self, variants: Iterator[tuple[int, Variant]]) -> Iterator[tuple[int, Outcome]]:
        for number, variant in variants:
            if number not in self._outcomes:
                yield from self._run(chain([(number, variant)], variants))
                return
            yield number, self._outcomes[number]

    def expect(self, n_more: int) -> None:
        self._n_more = n_more

    def _run(self, variants: Iterator[tuple[int, Variant]]) -> Iterator[tuple[int, Outcome]]:
        """Run variants that have no stored outcome; yield the others in between."""
        begun: dict[int, Variant] = {}
        known: list[int] = []

        def missing() -> Iterator[int]:
            for number, variant in variants:
                if number in self._outcomes:
                    known.append(number)
                else:
                    begun[number] = variant
                    yield number

        running = as_done(
            lambda number: self._question.carry_out(begun[number]),
            missing(),
            settings.EXPERIMENT_PROCESSES,
            TICK_S,
            self._count,
        )
        self._has_begun, self._doing = True, {}
        try:
            for pieces in running:
                for piece in pieces:
                    name = begun[piece.number].name
                    if isinstance(piece, Doing):
                        self._doing[name] = piece.count
                    else:
                        self._doing.pop(name, None)
                        self._found.append(self._result(piece, begun[piece.number]))
                        known.append(piece.number)
                self._look_around()
                for number in known:
                    yield number, self._outcomes[number]
                known.clear()
        finally:
            running.close()
        for number in known:
            yield number, self._outcomes[number]

    def _result(self, piece: Done[Outcome] | Died, variant: Variant) -> Result:
        outcome = (
            piece.value if isinstance(piece, Done) else {"problem": f"Not run: {piece.reason}"}
        )
        self._outcomes[piece.number] = outcome
        return Result(
            experiment=self._experiment,
            variant=piece.number,
            name=variant.name[:512],
            outcome=outcome,
        )

    def _store(self) -> None:
        """Store what was found and count it, both or neither. Raises ClaimLost."""
        if not self._found:
            return
        for number, result in enumerate(self._found, self._n_stored + 1):
            result.number = number
        with transaction.atomic():
            self._update(n_done=self._n_stored + len(self._found), claims=0)
            Result.objects.bulk_create(self._found)
        self._n_stored += len(self._found)
        self._found = []

    def _look_around(self) -> None:
        """Store what was found, show that the worker is alive. Raises ClaimLost and GiveWay."""
        now = time.monotonic()
        if now >= self._flush_at:
            self._flush_at = now + FLUSH_S
            self._store()
        if now >= self._look_at:
            self._look_at = now + HEARTBEAT_S
            doing = [{"name": name[:512], "cycles": n} for name, n in self._doing.items()]
            self._update(doing=doing)
            if self._wanted_elsewhere():
                self._store()
                raise GiveWay

    def _update(self, **values: object) -> None:
        """Write to the experiment's row. Raises ClaimLost."""
        if self._n_more is not None:
            values = {"n_variants": self._n_stored + len(self._found) + self._n_more} | values
        held = claimed_experiment(self._experiment, self._worker)
        if not held.update(heartbeat_at=timezone.now(), **values):
            raise ClaimLost
