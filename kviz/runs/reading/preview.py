"""A cycle with something changed, evaluated again: what the Lab paints, and scripts read.

The answer is the stretch of trace that the cycle would have had (docs/lab.md). Nothing is stored.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence
from typing import Final, cast
from uuid import UUID

import msgspec

from kviz.common.problems import ErrorItem
from kviz.common.wording import translated
from kviz.runs.inputs import errors_of
from kviz.runs.models import Run
from kviz.runs.reading.held_cycles import HELD, CannotReenact
from kviz.runs.reading.projection import CycleDocument, Json, cycle_document
from kviz.runs.reading.trace import names_at
from scheduler_core.changes import Change, ChangeError, read_changes
from scheduler_core.config import ConfigError
from scheduler_core.config.types import JsonValue
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim import Progress, ReenactedCycle
from scheduler_core.sim.preview import CannotPreview, PreviewedCycle
from scheduler_core.trace.cycle_record import cycle_record
from scheduler_core.trace.events import Detail, DetailEvent, HeaderEvent
from scheduler_core.trace.records import ProfileRecord
from scheduler_core.wording import say, told

MAX_CHANGES: Final = 100
"""In one preview; a run takes more."""
GZIP_LEVEL: Final = 1
"""Somebody waits for the answer, and it goes no further."""


class BadChanges(Exception):
    """Changes that cannot be read or carried out; `errors` say which, and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__(say("cycle.changes_refused", "Some changes cannot be carried out."))


class Preview(msgspec.Struct, frozen=True):
    """The answer; docs/lab.md says what each field means. `gated` is a code, plugin and reasons."""

    cycle: int
    events: Sequence[HeaderEvent]
    details: Sequence[Detail]
    world: int
    plugins: tuple[str, ...] | None
    profiles: tuple[ProfileRecord, ...] | None
    gated: tuple[str, str, tuple[str, ...]] | None
    without_effect: Sequence[ErrorItem]
    as_recorded: bool
    elapsed_us: int
    limits: Sequence[ErrorItem]
    verdict: str

    def packed(self) -> bytes:
        """Return it as MessagePack."""
        return msgspec.msgpack.encode(self, enc_hook=translated)

    def zipped(self) -> bytes:
        """The same, gzipped for the way to a browser."""
        return gzip.compress(self.packed(), compresslevel=GZIP_LEVEL, mtime=0)


def changes_of(values: Sequence[JsonValue]) -> tuple[Change, ...]:
    """Read the changes of a preview. Raises BadChanges."""
    if len(values) > MAX_CHANGES:
        text = say(
            "cycle.too_many_changes",
            "A preview takes at most {most} changes; got {n}. Start a run.",
            most=MAX_CHANGES,
            n=len(values),
        )
        raise BadChanges([{"field": "changes", "message": text}])
    try:
        return read_changes(values)
    except ChangeError as error:
        raise BadChanges(errors_of(error.problems)) from error


def preview(
    *,
    run: Run,
    recorded: CycleDocument,
    changes: Sequence[Change],
    progress: Progress = lambda n_cycles: None,
) -> Preview:
    """Evaluate a recorded cycle after some changes.

    `progress` hears how many cycles have been simulated, if the run has to be simulated again; what
    it raises ends that. Raises CannotReenact, also where there is no preview, and BadChanges.
    """
    number = recorded["cycle"]
    return HELD.ask(run, recorded, lambda cycle: _preview(number, cycle, changes), progress)


def preview_if_held(*, run_id: UUID, cycle: int, changes: Sequence[Change]) -> Preview | None:
    """The same of a cycle that is held, at once; None for any other."""
    answered = HELD.ask_held(run_id, cycle, lambda held: _preview(cycle, held, changes))
    return answered.answer if answered is not None else None


def preview_document(*, run: Run, found: Preview) -> Json:
    """The answer in names: the document of a cycle, and what is only said of previews.

    Of a pod that is held back before its cycle there is nothing else.
    """
    names = names_at(run=run, cycle=found.cycle)
    names.take(found.events[: found.world])
    if found.plugins is not None:
        names.plugins = found.plugins
    if found.profiles is not None:
        names.profiles = found.profiles
    document: Json = {"cycle": found.cycle}
    headers = found.events[found.world :]
    if headers:
        of_cycle = cycle_document(names, cycle_record(headers, details=found.details))
        document = cast("Json", of_cycle)
        document.update(run.said_of_all)
    return document | {
        "gated": found.gated and dict(zip(("code", "plugin", "reasons"), found.gated, strict=True)),
        "without_effect": list(found.without_effect),
        "as_recorded": found.as_recorded,
        "elapsed_us": found.elapsed_us,
        "limits": list(found.limits),
        "verdict": found.verdict,
    }


def previewed(cycle: ReenactedCycle | None, changes: Sequence[Change]) -> PreviewedCycle:
    """Evaluate a held cycle after some changes. Raises CannotReenact and BadChanges."""
    if cycle is None:
        raise CannotReenact(
            say(
                "cycle.nothing_to_evaluate",
                "This cycle looked at no node: there is nothing to evaluate again.",
            )
        )
    try:
        return cycle.previews.change(changes)
    except ChangeError as error:
        raise BadChanges(errors_of(error.problems)) from error
    except ConfigError as error:
        items = errors_of(error.problems)
        raise BadChanges(
            [{**each, "field": f"config.{each['field']}"} for each in items]
        ) from error
    except (CannotPreview, PluginFailure) as error:
        raise CannotReenact(told(error)) from error


def _preview(number: int, cycle: ReenactedCycle | None, changes: Sequence[Change]) -> Preview:
    began_ns = time.perf_counter_ns()
    found = previewed(cycle, changes)
    return _answer(number, found, (time.perf_counter_ns() - began_ns) // 1_000)


def _answer(number: int, found: PreviewedCycle, elapsed_us: int) -> Preview:
    gated = found.gated
    events = [event for event in found.events if not isinstance(event, DetailEvent)]
    details = [event for event in found.events if isinstance(event, DetailEvent)]
    return Preview(
        cycle=number,
        events=events,
        details=details,
        world=found.n_world,
        plugins=found.plugins,
        profiles=found.profiles,
        gated=None if gated is None else (gated.code.label, gated.plugin, gated.reasons),
        without_effect=errors_of(found.without_effect),
        as_recorded=found.as_recorded,
        elapsed_us=elapsed_us,
        limits=errors_of(found.limits),
        verdict=found.verdict,
    )
