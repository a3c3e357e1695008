"""Reads: what would let a pending pod of a run bind, within the time that a request waits."""

from __future__ import annotations

import base64
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from kviz.runs.execution.engine import cluster_of
from kviz.runs.inputs import invalid
from kviz.runs.models import Run
from scheduler_core.advice.trial import Trials
from scheduler_core.advice.unblock import Answer, NothingToUnblock, Unblocked, unblock, with_others
from scheduler_core.changes import Change, document_of, line_of
from scheduler_core.config import ConfigError, Problem
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import say, told

MAX_SECONDS: Final = 10.0
"""So long is searched; what was found by then is the answer, and it says so."""
MAX_WORK: Final = 2_000_000
"""Cycles times objects (and 1,000) of a run that a request waits for."""


LAB_ACTIONS: Final = (
    *("set", "taint", "untaint", "label", "unlabel", "cordon", "uncordon"),
    *("copyNode", "delete"),
)
"""What the Explorer's Lab can hold in its address (frontend/src/store/lab-changes.ts)."""


@dataclass(frozen=True)
class AnswerRow:
    """An answer as the page shows it; `lab` is empty where the Lab cannot try it."""

    answer: Answer
    lines: Sequence[str]
    lab: str


def answer_rows(found: Unblocked) -> list[AnswerRow]:
    return [
        AnswerRow(each, [line_of(change) for change in each.changes], lab_of(each.changes))
        for each in found.answers
    ]


def lab_of(changes: Sequence[Change]) -> str:
    """Return changes as the address of the Explorer has them, empty where it cannot."""
    documents = [document_of(change) for change in changes]
    if any(action not in LAB_ACTIONS for each in documents for action in each):
        return ""
    return base64.urlsafe_b64encode(msgspec.json.encode(documents)).decode().rstrip("=")


def unblocked(*, run: Run, pod: str, with_owner: bool = False) -> Unblocked:
    """Search for what would let a pod bind, in the cluster that the run began with.

    With its owner: what would let all pending pods of its owner bind.

    Raises InvalidInput.
    """
    until = time.monotonic() + MAX_SECONDS
    if run.is_observed or run.snapshot is None:
        raise invalid("run", [Problem((), say("A real scheduler decided this run."))])
    objects, options = cluster_of(run)
    if run.cycles * (1_000 + len(objects)) > MAX_WORK:
        text = say("This cluster takes longer than a request waits. `kviz unblock` takes its time.")
        raise invalid("run", [Problem((), text)])
    try:
        trials = Trials(objects, options)
        _, *others = with_others(trials, pod) if with_owner else (pod,)
        search = unblock(trials, pod, others=others)
        (found,) = deque(_until(search, until), maxlen=1)
    except NothingToUnblock as error:
        raise invalid("pod", [Problem((), told(error))]) from error
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error
    except PluginFailure as failure:
        raise invalid("run", [Problem((), str(failure))]) from failure
    return found


def _until(search: Iterator[Unblocked], until: float) -> Iterator[Unblocked]:
    for found in search:
        yield found
        if time.monotonic() > until:
            return
