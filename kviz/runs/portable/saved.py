"""A run leaves as a file and comes back: what is written, and how a file is checked.

No ORM write happens here: `services.run_open` stores what `check` found good.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

import msgspec
import zstandard
from django.conf import settings

from kviz import sentences
from kviz.engine_build import is_of_version
from kviz.run_file import (
    SUFFIX,
    Answer,
    AnyRecord,
    ChangeMade,
    Inputs,
    Outcome,
    Part,
    Plugin,
    RunFileError,
    encoded,
    of_other_engine,
    read_records,
    said_of,
)
from kviz.runs.models import ExtenderAnswer, Run
from kviz.runs.reading import trace
from kviz.snapshots.models import Snapshot
from kviz.snapshots.reading import TooMuchMemory, refuse_heavy
from kviz.snapshots.selectors import snapshot_packed
from kviz.snapshots.summary import summarise
from kviz.without_secrets import plain_without_secrets
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.errors import UNREADABLE, FieldError
from scheduler_core.api.nul import refuse_nul
from scheduler_core.api.packing import PackError, pack, unpack
from scheduler_core.api.validate import validate
from scheduler_core.changes import (
    ChangeAt,
    ChangeError,
    Rules,
    in_words,
    later_steps,
    read_changes,
)
from scheduler_core.releases import UNNAMED, stored_release
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.checking import TraceChecker, TraceError
from scheduler_core.trace.codec import Chunk
from scheduler_core.trace.events import CycleFinished, HeaderEvent, RunStarted
from scheduler_core.trace.index import Delta, TraceIndex
from scheduler_core.trace.records import QueueOrder, Result
from scheduler_core.wording import capitalised, made_of, say, told

ENDS: Final = (Run.Status.FINISHED, Run.Status.FAILED, Run.Status.CANCELLED)


TRACE_SHARE: Final = 8
"""How much more a trace may unpack to than an upload: it is read chunk by chunk, so its length
costs time, not memory. A cycle over 3,000 nodes takes some 14 kB."""


class NotOver(Exception):
    """A run that is not over cannot be saved yet."""


NOT_OVER: Final = say("run_file.not_over", "The run is not over yet. Wait for its end, or stop it.")


# ---------------------------------------------------------------- out


def file_name(run: Run, suffix: str = SUFFIX) -> str:
    """What to call the file: the run or its cluster, and enough of its id to distinguish two."""
    plain = re.sub(r"[^\w.-]+", "-", _name(run), flags=re.ASCII).strip("-.")
    return f"{plain[:60] or 'run'}-{str(run.pk)[:8]}{suffix}"


def pieces(run: Run) -> Iterator[bytes]:
    """The bytes of a run's file, piece by piece. Raises NotOver."""
    if not run.is_over:
        raise NotOver(NOT_OVER)
    return map(encoded, _records(run))


def _answers(run: Run) -> Iterator[ExtenderAnswer]:
    """What extenders answered, in order; no query stays open between two answers."""
    answers, number = run.extender_answers.order_by("number"), -1
    while (row := answers.filter(number__gt=number).first()) is not None:
        number = row.number
        yield row


def _records(run: Run) -> Iterator[AnyRecord]:
    yield _inputs(run)
    yield from map(_answer, _answers(run))
    checker = TraceChecker(max_bytes=1 << 62)
    for chunk in trace.chunks(run=run):
        if not run.trace_hash:
            checker.take(chunk)
        yield Part(chunk)
    yield Outcome(
        run.status, run.trace_hash or checker.trace_hash(), str(run.error), made_of(run.error)
    )


def _name(run: Run) -> str:
    return run.name or (run.snapshot.name if run.snapshot else "")


def _inputs(run: Run) -> Inputs:
    snapshot = run.snapshot or Snapshot(sha256="0" * 64)
    return Inputs(
        engine_version=run.engine_version,
        name=_name(run),
        sha256=snapshot.sha256,
        ignored=snapshot.ignored,
        warnings=[str(each) for each in snapshot.warnings],
        problems=[each | {"message": str(each["message"])} for each in snapshot.problems],
        scheduler_config=run.scheduler_config,
        scenario=run.scenario,
        seed=run.seed,
        plugins=[Plugin(**each) for each in run.out_of_tree_plugins],
        objects=snapshot_packed(snapshot=run.snapshot)
        if run.snapshot
        else pack(ClusterObjects(())),
        release=run.release,
        feature_gates=run.feature_gates,
        tie_break=cast("TieBreak", run.tie_break),
        queue_order=cast("QueueOrder", run.queue_order),
        left_out=[str(each) for each in snapshot.left_out],
        changes=[
            ChangeMade(each["cycle"], msgspec.json.encode(each["change"]).decode())
            for each in run.changes
        ],
        said=said_of(
            snapshot.warnings, [each["message"] for each in snapshot.problems], snapshot.left_out
        ),
        release_told=run.release_told,
    )


def _answer(row: ExtenderAnswer) -> Answer:
    body = zstandard.decompress(bytes(row.body)) if row.body else b""
    return Answer(
        row.number, row.request_sha256, row.kind, row.status, body, row.error, row.duration_ns
    )


# ---------------------------------------------------------------- in


class StoredPart(msgspec.Struct, frozen=True):
    """A checked part of a trace, with its lines of the index."""

    chunk: Chunk
    delta: Delta


_PARTS = msgspec.msgpack.Decoder(StoredPart)


@dataclass(frozen=True)
class SavedRun:
    """What a file was found to hold; its parts wait in `spool`, a file of ours."""

    inputs: Inputs
    objects: ClusterObjects
    engine_version: str
    index: TraceIndex
    last_seq: int
    outcome: Outcome
    answers: list[Answer]
    spool: BinaryIO
    lengths: list[int]
    observed: bool
    """Whether a real scheduler decided, and not the engine."""
    outcomes_told: bool
    changes: tuple[ChangeAt, ...]
    sentences: tuple[str, ...]
    """One for each change."""

    def parts(self) -> Iterator[StoredPart]:
        self.spool.seek(0)
        for length in self.lengths:
            yield _PARTS.decode(self.spool.read(length))

    @property
    def has_cluster(self) -> bool:
        """Whether there is a snapshot: a run that is observed may do without."""
        return not self.observed or bool(self.objects.counts)

    @property
    def not_modelled(self) -> list[str]:
        """What the run's input asks for and the engine did not do."""
        begun = self.index.state.run
        return sentences.all_spoken(begun.not_modelled, begun.said) if begun else []

    @property
    def stop_reason(self) -> str:
        """Why the engine stopped early; empty if it did not."""
        end = self.index.finished
        return sentences.spoken(end.reason, end.said) if end else ""

    def snapshot(self) -> Snapshot:
        """The cluster as a row that is not stored yet; its counts are counted here."""
        problems = self.inputs.problems
        messages = self._spoken("problems", [str(each.get("message", "")) for each in problems])
        return Snapshot(
            name=self.inputs.name or "run",
            sha256=self.inputs.sha256,
            counts=self.objects.counts,
            ignored=self.inputs.ignored,
            warnings=self._spoken("warnings", self.inputs.warnings),
            problems=[
                each | {"message": message}
                for each, message in zip(problems, messages, strict=True)
            ],
            left_out=self._spoken("left_out", self.inputs.left_out),
        )

    def _spoken(self, name: str, english: Sequence[str]) -> list[str]:
        return sentences.all_spoken(english, self.inputs.said.get(name))


def check(file: BinaryIO, spool: BinaryIO) -> SavedRun:
    """Read a file from its start and believe nothing of it. Raises RunFileError."""
    records = read_records(file)
    inputs = next(records)
    if not isinstance(inputs, Inputs):
        raise TypeError("read_records begins with the inputs")
    objects = _objects(inputs)
    changes = _changes(inputs)
    sentences = _sentences(inputs, objects, changes)
    trace = _Trace(inputs, spool)
    answers: list[Answer] = []
    for record in records:
        match record:
            case Answer():
                answers.append(record)
            case Part():
                trace.take(record.chunk)
            case Outcome():
                trace.end(record)
                return SavedRun(
                    inputs,
                    objects,
                    trace.engine_version,
                    trace.index,
                    trace.last_seq,
                    record,
                    answers,
                    spool,
                    trace.lengths,
                    trace.observed,
                    trace.outcomes_told or not trace.observed,
                    changes,
                    sentences,
                )
    raise TypeError("read_records ends with the outcome")


def _objects(inputs: Inputs) -> ClusterObjects:
    """The cluster, which every page of it must be able to show. Raises RunFileError."""
    try:
        refuse_heavy(inputs.objects, settings.READING_BYTES)
        objects = unpack(inputs.objects, max_bytes=settings.MAX_UNPACKED_BYTES)
        for item in objects:
            validate(item)
            refuse_nul(item)
        summarise(objects)
    except PackError as error:
        problem = say(
            "run_file.cluster_unreadable",
            "The cluster in this file cannot be read: {error}.",
            error=told(error),
        )
        raise RunFileError(of_other_engine(problem, inputs.engine_version)) from error
    except TooMuchMemory as error:
        raise RunFileError(capitalised(told(error)) + ".") from error
    except (ValueError, OverflowError) as error:
        problem = say(
            "run_file.cluster_invalid",
            "The cluster in this file is not a valid one: {error}.",
            error=_why(error),
        )
        raise RunFileError(problem) from error
    return objects


def _why(error: ValueError | OverflowError) -> str:
    if isinstance(error, FieldError):
        return say("field.message", "{field}: {message}", field=error.field, message=error.message)
    return told(error)


def _changes(inputs: Inputs) -> tuple[ChangeAt, ...]:
    """What was changed. Raises RunFileError."""
    try:
        documents = [
            plain_without_secrets(msgspec.json.decode(each.change)) for each in inputs.changes
        ]
        changes = read_changes(documents)
    except (*UNREADABLE, ChangeError) as error:
        problem = say(
            "run_file.change_unreadable",
            "A change in this file cannot be read: {error}.",
            error=told(error),
        )
        raise RunFileError(of_other_engine(problem, inputs.engine_version)) from error
    return tuple(
        ChangeAt(change, each.cycle) for change, each in zip(changes, inputs.changes, strict=True)
    )


def _sentences(
    inputs: Inputs, objects: ClusterObjects, changes: tuple[ChangeAt, ...]
) -> tuple[str, ...]:
    """What the changes say about the cluster in the file. Raises RunFileError."""
    rules = Rules(
        configuration=inputs.scheduler_config,
        gates=inputs.feature_gates,
        release=stored_release(inputs.release) or UNNAMED,
        seed=inputs.seed,
        queue_order=inputs.queue_order,
    )
    try:
        later_steps(changes)
        return in_words(list(objects), rules, changes)
    except ChangeError as error:
        raise RunFileError(
            say(
                "run_file.changes_do_not_fit",
                "This file is damaged: its changes do not fit its cluster: {error}.",
                error=told(error),
            )
        ) from error


def _tells(event: HeaderEvent) -> bool:
    return isinstance(event, CycleFinished) and event.result is not Result.UNKNOWN


class _Trace:
    """The trace of a file while it is checked, indexed and put into the spool."""

    def __init__(self, inputs: Inputs, spool: BinaryIO) -> None:
        self.index = TraceIndex()
        self.engine_version = inputs.engine_version
        self.last_seq = -1
        self.lengths: list[int] = []
        self.observed = self.outcomes_told = False
        self._checker = TraceChecker(max_bytes=TRACE_SHARE * settings.MAX_UNPACKED_BYTES)
        self._made_by = inputs.engine_version
        self._spool = spool

    def take(self, chunk: Chunk) -> None:
        """Check and keep the next chunk. Raises RunFileError."""
        try:
            checked, events = self._checker.take(chunk)
        except TraceError as error:
            problem = say(
                "run_file.trace_damaged",
                "The trace in this file is damaged: {error}.",
                error=told(error),
            )
            raise RunFileError(of_other_engine(problem, self._made_by)) from error
        if isinstance(events[0], RunStarted):
            if not is_of_version(self.engine_version, events[0].engine_version):
                self.engine_version = events[0].engine_version
            self.observed = events[0].observed
        self._follow(events)
        data = msgspec.msgpack.encode(StoredPart(checked, self.index.drain()))
        self._spool.write(data)
        self.lengths.append(len(data))
        self.last_seq = checked.last_seq

    def _follow(self, events: Iterable[HeaderEvent]) -> None:
        """Gather what lists need. Raises RunFileError where events make no sense together."""
        for event in events:
            try:
                self.index.take(event)
                self.outcomes_told |= _tells(event)
            except (LookupError, ValueError, OverflowError) as error:
                kind, cycle = type(event).__name__, self.index.n_cycles
                raise RunFileError(
                    say(
                        "run_file.trace_contradicts",
                        "The trace in this file contradicts itself at a {kind} in cycle {cycle}.",
                        kind=kind,
                        cycle=cycle,
                    )
                ) from error

    def end(self, outcome: Outcome) -> None:
        """See that it ended as it says. Raises RunFileError."""
        if outcome.status not in ENDS:
            raise RunFileError(
                say(
                    "run_file.no_such_end",
                    "This file is damaged: no run ends as {status}.",
                    status=repr(outcome.status),
                )
            )
        if outcome.status == Run.Status.FINISHED and self.index.finished is None:
            raise RunFileError(
                say(
                    "run_file.trace_does_not_end",
                    "This file is damaged: its run finished, but its trace does not end.",
                )
            )
        if outcome.trace_hash != self._checker.trace_hash():
            raise RunFileError(
                say(
                    "run_file.other_hash",
                    "The trace in this file is not the one that was saved: its hash is another. "
                    "The file was changed or damaged on its way; get it once more.",
                )
            )
