"""Writes: a worker searches for the best placement of a run's pods, and stores what it finds."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final, cast

from django.utils import timezone

from kviz.common import work_counts
from kviz.common.claiming import MAX_CLAIMS, Queue, StorageFailed
from kviz.live.tasks import Worker
from kviz.runs.execution.engine import max_cycle, replayed
from kviz.runs.execution.extender_answers import AnswerMissing
from kviz.runs.inputs import InvalidInput, invalid, refuse_hidden
from kviz.runs.models import Optimum, Run
from scheduler_core.analysis.model import InstanceError, RunOutcome, Viability
from scheduler_core.api import Node
from scheduler_core.config import ConfigError
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import say, told

if TYPE_CHECKING:
    from kviz.questions.optimum.answer import Answer
    from kviz.questions.optimum.solver.clock import Report, Step

log = logging.getLogger(__name__)

REPORT_S: Final = 0.25
"""How often progress is stored at most, and whether anybody still wants it is asked."""
MAX_STEPS: Final = 120
"""So many steps of progress are stored, the latest."""


QUEUE: Final = Queue(
    "optimum",
    lambda: Optimum.objects.select_related("run__snapshot"),
    "asked_at",
    owner="run__workspace",
)


def optimum_task(worker: Worker, key: str) -> bool:
    """Search for the optimum of a run that is over; False if that does not wait for a worker."""
    wanted = optimum_claim(worker=worker.name, key=key)
    if wanted is None:
        return False
    log.info("search for the %s", wanted)
    optimum_execute(found=wanted, worker=worker.name)
    return True


def optimum_claim(*, worker: str, key: str = "") -> Optimum | None:
    """Claim a search, or without `key` the one whose turn it is; None if another has it."""
    return QUEUE.claim_row(key, worker) if key else QUEUE.claim(worker)


def optima_release(*, worker: str, **also: int) -> int:
    """Give back what `worker` held; `also` is written with that."""
    return QUEUE.release(worker, **also)


def optima_fail(*, worker: str, error: str) -> None:
    """End what `worker` holds as failed."""
    for found in QUEUE.of_worker(worker):
        _close(found, worker, error=error)


def optimum_execute(*, found: Optimum, worker: str) -> None:
    """Search, unless too many workers have died of it; store the answer or why there is none.

    Raises StorageFailed.
    """
    from kviz.questions.optimum.comparison import CheckFailed
    from kviz.questions.optimum.solver.clock import Cancelled
    from kviz.questions.optimum.solver.search import TooLarge
    from kviz.questions.optimum.text import as_document

    if found.claims > MAX_CLAIMS:
        text = say(
            "optimum.workers_died",
            "Gave up after {n} workers died on it (probably out of memory).",
            n=MAX_CLAIMS,
        )
        _close(found, worker, error=text)
        return
    try:
        answer = _optimum(
            found.run,
            outcome_of(found.run),
            cast("Viability", found.mode),
            found.time_limit_s,
            _Listener(found, worker).hear,
            found.at_cycle,
        )
        _close(found, worker, answer=as_document(answer))
    except Cancelled:
        log.info("%s is no longer wanted", found)
    except CheckFailed as failed:
        text = say(
            "optimum.placement_invalid",
            "The placement that was found does not pass the scheduler's own filters, which is a "
            "bug: {what}",
            what=str(failed),
        )
        _close(found, worker, error=text)
    except (InstanceError, TooLarge, InvalidInput, AnswerMissing, PluginFailure) as reason:
        _close(found, worker, error=told(reason))
    except StorageFailed:
        raise
    except Exception:
        log.exception("%s failed", found)
        text = say(
            "optimum.failed", "The search failed. This is a bug; the server's log has the details."
        )
        _close(found, worker, error=text)


def _optimum(
    run: Run,
    outcome: RunOutcome,
    mode: Viability,
    time_limit_s: float,
    report: Report,
    at_cycle: int = 1,
) -> Answer:
    """Hold what a run came to against the best placement of its pods (docs/optimum.md).

    Of those that wait when `at_cycle` begins; at the first, all.

    Raises InvalidInput and AnswerMissing, and what `answer` does.
    """
    from kviz.questions.optimum.answer import answer_of  # the solver takes half a second to load
    from kviz.questions.optimum.comparison import pose
    from kviz.questions.optimum.solver.search import TooLarge

    refuse_hidden(run)
    objects, options = replayed(run)
    most = max_cycle(sum(isinstance(each, Node) for each in objects))
    if at_cycle > most:
        raise TooLarge(
            say(
                "run.simulated_too_far",
                "a run is simulated again to cycle {most:,} at most in such a cluster",
                most=most,
            )
        )
    try:
        return answer_of(pose(objects, options, mode, outcome, at_cycle), time_limit_s, report)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def outcome_of(run: Run) -> RunOutcome:
    """What a run came to, as its stored index has it."""
    rows = run.pod_outcomes.filter(deleted=False).exclude(node="")
    placed = rows.values_list("pod", "node", "last_cycle")
    left = run.pod_outcomes.filter(evicted_in_cycle__isnull=False).order_by("pod")
    evicted = left.values_list("pod", "evicted_in_cycle")
    return RunOutcome(
        {pod: node for pod, node, _ in placed},
        {pod: cycle for pod, _, cycle in placed},
        {pod: cycle or 0 for pod, cycle in evicted},
    )


def _close(
    found: Optimum, worker: str, *, answer: dict[str, object] | None = None, error: str = ""
) -> None:
    status = Optimum.Status.FAILED if error else Optimum.Status.FINISHED
    QUEUE.held(found, worker).update(status=status, answer=answer, error=error, claimed_by="")


class _Listener:
    """Stores how far the search is, a few times a second."""

    def __init__(self, found: Optimum, worker: str) -> None:
        self._found = found
        self._worker = worker
        self._steps: list[dict[str, object]] = []
        self._due_at = 0.0

    def hear(self, step: Step) -> None:
        """Raises Cancelled where nobody wants the answer any more."""
        from kviz.questions.optimum.solver.clock import Cancelled

        now = time.monotonic()
        if now < self._due_at:
            return
        self._due_at = now + REPORT_S
        self._steps.append(
            {
                "objective": step.objective,
                "incumbent": step.incumbent,
                "bound": step.bound,
                "elapsed_s": round(step.elapsed_s, 2),
            }
        )
        del self._steps[:-MAX_STEPS]
        held = QUEUE.held(self._found, self._worker)
        if not held.update(progress=self._steps, heartbeat_at=timezone.now()):
            raise Cancelled
        work_counts.progress()
