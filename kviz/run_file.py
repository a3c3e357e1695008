"""A run as a file, `.kviz`: what goes in, what came out, and the hash that ties them together.

`MAGIC`, then records, each as its length (4 bytes, big endian) and its MessagePack: one `Inputs`,
any number of `Answer` and `Part`, one `Outcome`. A file without its `Outcome` was cut off. It is
written in one pass during the run, and read in one (docs/adr/0020).

Reading bounds what a record may weigh and reads it as its type, no more: whether the trace is one,
and whether the hash is its hash, is for `scheduler_core.trace.checking`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Annotated, BinaryIO, Final, TypeAlias

import msgspec

from kviz.engine_build import engine_build
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.codec import Chunk
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import made_of, say

SUFFIX: Final = ".kviz"
MEDIA_TYPE: Final = "application/vnd.kviz.run"
FAMILY: Final = b"kviz-run-"
MAGIC: Final = FAMILY + b"1\n"
MAX_RECORD_BYTES: Final = 256 << 20
"""Of one record as it stands in the file; the objects of 100,000 pods take a tenth of it."""
CUT_OFF: Final = say(
    "run_file.cut_off", "This file is cut off: its end is missing. Get it once more."
)
_LENGTH: Final = struct.Struct(">I")

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]
Line: TypeAlias = Annotated[str, msgspec.Meta(max_length=10_000)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=1_000_000)]
Document: TypeAlias = Annotated[str, msgspec.Meta(max_length=64 << 20)]
"""JSON, which may hold objects."""
Sha256: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Counts: TypeAlias = Annotated[dict[Name, int], msgspec.Meta(max_length=1_000)]
INT64: Final = msgspec.Meta(ge=-(2**63), le=2**63 - 1)


class RunFileError(ValueError):
    """A file is no run, or cannot be opened here; the text says why and what to do."""


class Plugin(msgspec.Struct, frozen=True, array_like=True):
    """A plugin of another package that took part."""

    name: Name
    package: Name
    version: Name


class ChangeMade(msgspec.Struct, frozen=True, array_like=True):
    """A change of what the other inputs say, as a JSON document (docs/changes.md).

    `cycle` is the one that began when it had been made, 0 if the run began with it.
    """

    cycle: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    change: Document


class Record(msgspec.Struct, frozen=True, array_like=True, tag=True, tag_field="record"):
    """Positional like events: fields are only ever appended, with a default."""


class Inputs(Record, frozen=True):
    """What decides a run, besides the engine: the cluster without its secrets, and the texts.

    `sha256` is of the uploaded files; `ignored`, `warnings`, `problems` and `left_out` are what
    reading them came to; `objects` is what `scheduler_core.api.packing.pack` returned.
    `feature_gates` are those that were switched, at the start of the run or by its scenario;
    `release` is empty if that of an observed scheduler is not known. `said` is what the sentences
    of `warnings`, `problems` (their messages) and `left_out` are made of, by those names.
    `release_told` is what the release was chosen by, empty if somebody named it.
    """

    engine_version: Name
    name: Name
    sha256: Sha256
    ignored: Counts
    warnings: Annotated[list[Line], msgspec.Meta(max_length=10_000)]
    problems: Annotated[list[dict[Name, str | int]], msgspec.Meta(max_length=10_000)]
    scheduler_config: Text
    scenario: Text
    seed: Annotated[int, INT64]
    plugins: Annotated[list[Plugin], msgspec.Meta(max_length=1_000)]
    objects: bytes
    release: Annotated[str, msgspec.Meta(max_length=16)] = "1.36"
    feature_gates: Annotated[dict[Name, bool], msgspec.Meta(max_length=1_000)] = {}
    tie_break: TieBreak = "heap"
    queue_order: QueueOrder = "listed"
    left_out: Annotated[list[Line], msgspec.Meta(max_length=1_000)] = []
    changes: Annotated[list[ChangeMade], msgspec.Meta(max_length=1_000)] = []
    said: dict[Name, object] = {}
    release_told: Annotated[str, msgspec.Meta(max_length=64)] = ""


class Answer(Record, frozen=True):
    """What an extender answered; `body` is its plain bytes."""

    number: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    request_sha256: Sha256
    kind: Name
    status: Annotated[int, msgspec.Meta(ge=0, le=999)]
    body: bytes
    error: Text
    duration_ns: Annotated[int, INT64]


class Part(Record, frozen=True):
    """The next part of the trace."""

    chunk: Chunk


class Outcome(Record, frozen=True):
    """How it ended: `finished`, `failed` or `cancelled`; and the hash of the whole trace."""

    status: Name
    trace_hash: Sha256
    error: Text = ""
    said: object = None


def said_of(
    warnings: Iterable[str], problems: Iterable[str], left_out: Iterable[str]
) -> dict[str, object]:
    """Return the `said` of a run's inputs."""
    return {
        "warnings": [made_of(each) for each in warnings],
        "problems": [made_of(each) for each in problems],
        "left_out": [made_of(each) for each in left_out],
    }


AnyRecord = Inputs | Answer | Part | Outcome
_RECORDS = msgspec.msgpack.Decoder(AnyRecord)


class RunFile:
    """A run being written: its inputs first, then its parts as they are made, then how it ended."""

    def __init__(self, file: BinaryIO, inputs: Inputs) -> None:
        self._file = file
        file.write(encoded(inputs))

    def part(self, chunk: Chunk) -> None:
        self._file.write(encoded(Part(chunk)))

    def finish(self, trace_hash: str) -> None:
        self._file.write(encoded(Outcome("finished", trace_hash)))


def encoded(record: AnyRecord) -> bytes:
    """Return a record as it stands in the file, after `MAGIC` if it is the first."""
    data = msgspec.msgpack.encode(record)
    start = MAGIC if isinstance(record, Inputs) else b""
    return start + _LENGTH.pack(len(data)) + data


def is_run_file(start: bytes) -> bool:
    """Whether a file that starts like this is, or was meant to be, a run."""
    return start.startswith(FAMILY)


def read_records(file: BinaryIO) -> Iterator[AnyRecord]:
    """The records of a file from its start, in an order that makes sense. Raises RunFileError."""
    _check_magic(file.read(len(MAGIC)))
    record = _next_record(file, "")
    if not isinstance(record, Inputs):
        raise RunFileError(
            say(
                "run_file.no_inputs",
                "This file is damaged: it does not begin with what the run was made of.",
            )
        )
    yield record
    version = record.engine_version
    while not isinstance(record, Outcome):
        record = _next_record(file, version)
        if isinstance(record, Inputs):
            raise RunFileError(say("run_file.two_runs", "This file is damaged: it holds two runs."))
        yield record
    if file.read(1):
        raise RunFileError(
            say("run_file.after_end", "This file is damaged: something follows after its end.")
        )


def _check_magic(start: bytes) -> None:
    if start == MAGIC:
        return
    if is_run_file(start):
        raise RunFileError(
            say(
                "run_file.other_format",
                "This run was saved by another version of kviz, in a format this one cannot read. "
                "Open it with a kviz at least as new as the one that saved it.",
            )
        )
    raise RunFileError(
        say(
            "run_file.no_run_file",
            "This is not a run saved by kviz, a {suffix} file. "
            "If it is what kubectl printed, upload it as a cluster.",
            suffix=SUFFIX,
        )
    )


def _next_record(file: BinaryIO, engine_version: str) -> AnyRecord:
    prefix = file.read(_LENGTH.size)
    if len(prefix) != _LENGTH.size:
        raise RunFileError(CUT_OFF)
    (length,) = _LENGTH.unpack(prefix)
    if length > MAX_RECORD_BYTES:
        raise RunFileError(
            say(
                "run_file.record_too_long",
                "This file is damaged: a record is longer than {n} MiB.",
                n=MAX_RECORD_BYTES >> 20,
            )
        )
    data = file.read(length)
    if len(data) != length:
        raise RunFileError(CUT_OFF)
    try:
        record: AnyRecord = _RECORDS.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = say("run_file.damaged", "This file is damaged: {error}.", error=error)
        raise RunFileError(of_other_engine(problem, engine_version)) from None
    return record


def of_other_engine(problem: str, version: str) -> str:
    """Say what is wrong with a file, and that another engine than this one made it, if one did."""
    if version in ("", engine_build()):
        return problem
    return say(
        "run_file.made_by_other",
        "{problem} It was made by engine {version}; this is {own}, which may not know all of it.",
        problem=problem,
        version=version,
        own=engine_build(),
    )
