"""Writes: workers carry out an experiment, portion by portion, and store what comes.

One worker has claimed it, makes portions of what the question asks for, and concludes. Others join
it when they have nothing else to do: they ask the same question, which takes the same course, and
claim portions as the first one does. Should that one be gone, one of them takes its place.

Variants are run by copies of the worker (`kviz.forking.copies`); the worker alone writes. A copy
inherits its connection to the database, and neither uses nor closes it: it leaves at once. A batch
of results and the count of them are one transaction that succeeds only while the portions are held,
and a variant has one row: killed at any time, nothing is lost but what was under way, and nothing
is counted twice.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from kviz.common import work_counts
from kviz.common.claiming import MAX_CLAIMS, StorageFailed
from kviz.common.time_limits import EXPERIMENT, TookTooLong
from kviz.engine_build import engine_build
from kviz.experiments.execution.claim import (
    PORTIONS,
    claimed_experiment,
    experiment_claim,
    experiment_close,
    portion_claim,
    portions_free,
    portions_make,
    portions_release,
    queue_of,
    shared_experiment,
)
from kviz.experiments.kinds import question_of
from kviz.experiments.models import Experiment, Portion, Result
from kviz.experiments.question import Outcome, Question, Variant
from kviz.forking.copies import Count, Died, Doing, Done, as_done
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import say, told

log = logging.getLogger(__name__)

FLUSH_S: Final = 0.25
"""How long results wait at most behind others that were stored."""
TICK_S: Final = 0.25
HEARTBEAT_S: Final = 0.5
"""So often a worker shows that it is alive, and sees that it was cancelled."""
WAIT_S: Final = 0.05
"""How often a worker that has no portion looks whether the others are done."""
STAY_S: Final = 2.0
"""How long one that has joined stays without a portion: loading the cluster again takes longer."""

LEAST: Final = 10
"""How nice copies are where nobody asked: everything else on the machine goes first, too."""

Elsewhere = Callable[[], bool]
VariantOf = Callable[[int], Variant]
"""The variant of a number, in this process and in its copies."""


class ClaimLost(Exception):
    """The experiment is over, or the worker was silent and others have what it had."""


class GiveWay(Exception):
    """The worker is wanted for something else, or has nothing to do here."""


class WorkersDied(Exception):
    """Worker after worker died on the experiment; it is given up."""

    def __init__(self) -> None:
        super().__init__(
            say(
                "experiment.workers_died",
                "Gave up after {n} workers died on this experiment (probably out of memory).",
                n=MAX_CLAIMS,
            )
        )


def experiment_carry_out(
    *, experiment: Experiment, worker: str, wanted_elsewhere: Elsewhere = lambda: False
) -> bool:
    """Carry out an experiment that the worker has claimed, or join another in that.

    Ends with the experiment finished or failed, unless it was cancelled meanwhile, or the worker is
    `wanted_elsewhere`: then what it had waits for a worker again. One that has joined may also
    leave earlier. False for a worker that has left. Raises StorageFailed.
    """
    try:
        if experiment.claims > MAX_CLAIMS:
            raise WorkersDied
        _Carrying(experiment, worker, wanted_elsewhere).finish()
    except ClaimLost:
        log.info("experiment %s is no longer ours", experiment.pk)
        portions_release(worker=worker, claims=0)
    except GiveWay:
        portions_release(worker=worker, claims=0)
        queue_of(experiment).give_back(experiment, worker)
        return False
    except (InvalidInput, WorkersDied, PluginFailure, TookTooLong) as reason:
        experiment_fail(experiment, told(reason))
    except StorageFailed:
        raise
    except Exception:
        log.exception("experiment %s failed", experiment.pk)
        text = say(
            "experiment.variant_failed",
            "A variant failed. This is a bug; the server's log has the details.",
        )
        experiment_fail(experiment, text)
    return True


def experiment_fail(experiment: Experiment, error: str) -> None:
    """End an experiment, and say why."""
    experiment_close(experiment, status=Experiment.Status.FAILED, error=error)


class _Carrying:
    """Runs what a question asks for, and knows what is stored."""

    def __init__(self, experiment: Experiment, worker: str, wanted_elsewhere: Elsewhere) -> None:
        self._experiment = experiment
        self._worker = worker
        self._wanted_elsewhere = wanted_elsewhere
        self._has_begun = False
        self._doing: dict[str, int] = {}
        """How many cycles the variants under way here have had, by their names."""
        self._here = ""
        """The variant that this process runs itself; empty for the cluster as it is."""
        self._count = Count(self._hear)
        self._question: Question[Any] = question_of(experiment, self._count)
        self._leads = experiment.claimed_by == worker
        self._n_asked = 0
        self._n_portioned = 0
        """Of those that were asked for."""
        self._n_more: int | None = None
        """How many more variants there may be, where a question says so."""
        self._held: dict[int, set[int]] = {}
        """By portion, what of it is not stored."""
        self._found: list[Result] = []
        """What is still to be stored."""
        self._outcomes: dict[int, Outcome] = {}
        self._read_to = 0
        now = time.monotonic()
        self._flush_at, self._look_at = now, now + HEARTBEAT_S
        self._ends_at = EXPERIMENT.ends_at()

    def _hear(self, n_cycles: int) -> None:
        """Look around while this process runs the cluster itself. Raises what that raises."""
        if not self._has_begun:
            self._doing = {self._here: n_cycles}
        self._look_around()

    def finish(self) -> None:
        """Carry it out to its end.

        Raises ClaimLost, GiveWay, TookTooLong, InvalidInput and PluginFailure.
        """
        if self._leads:
            self._drop_other_builds()
        self._read()
        answer = self._question.answer(self)
        self._store()
        if self._leads:
            self._conclude(answer)

    def _conclude(self, answer: Outcome) -> None:
        """Store the answer: with the run, where nobody asked. Raises ClaimLost."""
        experiment = self._experiment
        with transaction.atomic():
            self._update(
                status=Experiment.Status.FINISHED,
                answer=answer,
                n_variants=F("n_done"),
                doing=[],
                finished_at=timezone.now(),
                claimed_by="",
            )
            if experiment.by_itself:
                Run.objects.filter(experiments=experiment, luck__isnull=True).update(luck=answer)
                experiment.delete()

    def _drop_other_builds(self) -> None:
        """Begin again what another build of the engine has begun."""
        experiment = self._experiment
        if experiment.engine_version != engine_build():
            with transaction.atomic():
                self._update(engine_version=engine_build(), n_done=0)
                experiment.results.all().delete()
                experiment.portions.all().delete()

    # ------------------------------------------------------------ what a question asks for

    def all(self, variants: Sequence[Variant]) -> list[Outcome]:
        """Run variants together with all who join."""
        numbers = range(self._n_asked, self._n_asked + len(variants))
        self._n_asked = numbers.stop
        leave_at = time.monotonic() + STAY_S
        while self._missing(numbers):
            if self._leads and self._n_portioned < numbers.stop:
                self._portion_out(numbers)
            if portions_free(self._experiment, numbers).exists():
                for _ in self._run(self._claimed(numbers), lambda n: variants[n - numbers.start]):
                    leave_at = time.monotonic() + STAY_S
                self._store()
            elif not self._leads and time.monotonic() > leave_at:
                raise GiveWay
            else:
                time.sleep(WAIT_S)
                self._look_around()
        return [self._outcomes[number] for number in numbers]

    def as_done(
        self, numbers: Iterator[int], variant_of: VariantOf
    ) -> Iterator[tuple[int, Outcome]]:
        """Run variants alone, as those that are done decide which are next.

        The first is run by this process: to copy it would take longer, and one waits for that.
        """
        if not self._leads:
            raise GiveWay
        for number in numbers:
            if number not in self._outcomes and self._has_begun:
                yield from self._run(chain([number], numbers), variant_of)
                return
            if number not in self._outcomes:
                self._run_here(number, variant_of(number))
            yield number, self._outcomes[number]

    def expect(self, n_more: int) -> None:
        self._n_more = n_more

    # ------------------------------------------------------------ portions

    def _missing(self, numbers: range) -> list[int]:
        """Those that have no result, by what the worker knows, or else by what is stored."""
        if any(number not in self._outcomes for number in numbers):
            self._read()
        return [number for number in numbers if number not in self._outcomes]

    def _read(self) -> None:
        """Learn of results that others have stored."""
        new = self._experiment.results.filter(number__gt=self._read_to)
        for number, variant, outcome in new.values_list("number", "variant", "outcome"):
            self._outcomes[variant] = outcome
            self._read_to = max(self._read_to, number)

    def _portion_out(self, numbers: range) -> None:
        with transaction.atomic():
            self._update(n_variants=numbers.stop)
            portions_make(self._experiment, self._missing(numbers))
        self._n_portioned = numbers.stop

    def _claimed(self, numbers: range) -> Iterator[int]:
        """Claim portion after portion, each when the one before has been begun."""
        experiment, worker = self._experiment, self._worker
        while portion := portion_claim(experiment=experiment, among=numbers, worker=worker):
            if portion.claims > MAX_CLAIMS:
                raise WorkersDied
            missing = self._missing(range(portion.first, portion.stop))
            self._held[portion.pk] = set(missing)
            yield from missing

    # ------------------------------------------------------------ running and storing

    def _run(self, numbers: Iterator[int], variant_of: VariantOf) -> Iterator[tuple[int, Outcome]]:
        """Run variants that have no known outcome; yield the others in between."""
        begun: dict[int, Variant] = {}
        known: list[int] = []

        def missing() -> Iterator[int]:
            for number in numbers:
                if number in self._outcomes:
                    known.append(number)
                else:
                    begun[number] = variant_of(number)
                    yield number

        by_itself = self._experiment.by_itself

        def carry_out(number: int) -> Outcome:
            if by_itself and os.nice(0) < LEAST:
                os.nice(LEAST)
            return self._question.carry_out(variant_of(number))

        running = as_done(
            carry_out,
            missing(),
            1 if by_itself else settings.EXPERIMENT_PROCESSES,
            TICK_S,
            self._count,
            self._question.per_copy,
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

    def _run_here(self, number: int, variant: Variant) -> None:
        """Run a variant in this process, and store what it came to."""
        self._here = variant.name
        self._count.restart()
        found = self._question.carry_out(variant)
        self._has_begun, self._doing = True, {}
        self._found.append(self._result(Done(number, found), variant))
        self._look_around()

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
        stored = {result.variant for result in self._found}
        left = {portion: missing - stored for portion, missing in self._held.items()}
        done = [portion for portion, missing in left.items() if not missing]
        with transaction.atomic():
            self._update(n_done=F("n_done") + len(stored), claims=0)
            self._hold(claims=0)
            n_done = self._row().values_list("n_done", flat=True).get()
            n_before = n_done - len(stored)
            for number, result in enumerate(self._found, n_before + 1):
                result.number = number
            Result.objects.bulk_create(self._found)
            Portion.objects.filter(pk__in=done).delete()
        work_counts.variants_carried_out(len(stored))
        self._held = {portion: missing for portion, missing in left.items() if missing}
        self._found = []
        if self._read_to == n_before:  # nobody else has stored anything
            self._read_to = n_done

    def _look_around(self) -> None:
        """Store what was found, show that the worker is alive.

        Raises ClaimLost, GiveWay and TookTooLong.
        """
        now = time.monotonic()
        if self._found and now >= self._flush_at:  # the first result does not wait
            self._flush_at = now + FLUSH_S
            self._store()
        is_due = now >= self._look_at
        if is_due:
            self._look_at = now + HEARTBEAT_S
            doing = [{"name": name[:512], "cycles": n} for name, n in self._doing.items()]
            self._update(**({"doing": doing} if self._leads else {}))
            self._hold()
            if not self._leads:
                key = str(self._experiment.pk)
                self._leads = experiment_claim(worker=self._worker, key=key) is not None
            if now >= self._ends_at:
                self._store()
                raise TookTooLong(EXPERIMENT) if self._leads else GiveWay
        if (is_due or self._experiment.by_itself) and self._wanted_elsewhere():
            self._store()
            raise GiveWay

    def _row(self) -> QuerySet[Experiment]:
        """The experiment's row as long as the worker has a part in it, else no row."""
        if self._leads:
            return claimed_experiment(self._experiment, self._worker)
        return shared_experiment(self._experiment.pk)

    def _update(self, **values: object) -> None:
        """Write to the experiment's row. Raises ClaimLost."""
        if self._leads:
            values["heartbeat_at"] = timezone.now()
        if self._n_more is not None:
            n_known = self._read_to + len(self._found)
            values = {"n_variants": n_known + self._n_more} | values
        if not (self._row().update(**values) if values else self._row().exists()):
            raise ClaimLost

    def _hold(self, **values: object) -> None:
        """Show that the portions are being run. Raises ClaimLost if one is not held any more."""
        held = PORTIONS.of_worker(self._worker).filter(pk__in=self._held)
        if self._held and held.update(heartbeat_at=timezone.now(), **values) != len(self._held):
            raise ClaimLost
        work_counts.progress()
