"""Run files that were altered after they were saved, with a hash that is right."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kviz.run_file import MAGIC, Outcome
from scheduler_core.trace.checking import TraceChecker, TraceError
from scheduler_core.trace.codec import Chunk, pack_details, pack_headers
from scheduler_core.trace.events import CycleStarted, DetailEvent

Plain = Any
"""Lists, dicts, texts, numbers: an event or a record as it is on the wire."""
DETAILS: Final = frozenset(each.__name__ for each in DetailEvent.__subclasses__())
NUMBERS: Final = (-(2**63), -5, -2, -1, 0, 1, 7, 10**4, 2**31, 2**63 - 1, 2**64 - 1)
TEXTS: Final = ("", "\0", "n" * 5_000, "../x", "<script>", "Success", "u9", "f8", "O", "1.99")
ANYTHING: Final[tuple[Plain, ...]] = (
    None,
    True,
    -1,
    0.5,
    "text",
    b"bytes",
    [],
    [[]],
    {},
    {"a": 1},
    float("nan"),
)


def plain(value: object) -> Plain:
    """A struct as the lists that it is on the wire."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


def altered_events(events: Sequence[Plain], draw: random.Random) -> list[Plain]:
    """The events of a trace with one to three of them altered, missing, doubled or moved."""
    found = list(events)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        kind = draw.choice(sorted({event[0] for event in found}))
        i = draw.choice([i for i, event in enumerate(found) if event[0] == kind])
        match draw.randrange(12):
            case 0:
                del found[i]
            case 1:
                found.insert(i, found[i])
            case 2:
                found.insert(draw.randrange(len(found)), found.pop(i))
            case _:
                fields = altered(found[i][1:], draw)
                found[i] = [kind, *(fields if isinstance(fields, list) else [fields])]
    return found


def altered(value: Plain, draw: random.Random) -> Plain:
    """A value with one thing in it altered."""
    if isinstance(value, list) and value and draw.random() < 0.85:
        i = draw.randrange(len(value))
        return [*value[:i], altered(value[i], draw), *value[i + 1 :]]
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(sorted(value))
        return value | {key: altered(value[key], draw)}
    if draw.random() < 0.05:
        return draw.choice(ANYTHING)
    return _of_its_type(value, draw)


def _of_its_type(value: Plain, draw: random.Random) -> Plain:
    match value:
        case bool():
            return not value
        case int():
            return draw.choice((*NUMBERS, value + 1, value - 1))
        case str():
            return draw.choice(TEXTS)
        case bytes():
            return draw.choice((b"", value[:-1], value + b"\xff", bytes(len(value)), b"\x7f" * 8))
        case list():
            return draw.choice(([], value[:-1], value[1:], value + value, value[::-1], [-1], [99]))
        case dict():
            return draw.choice(({}, value | {"": ""}, value | {"more": 1}))
        case _:
            return draw.choice(ANYTHING)


def chunk_of(events: Sequence[Plain]) -> Chunk:
    """All events as one chunk."""
    headers, details, cycle = list[Plain](), dict[int, list[Plain]](), 0
    for event in events:
        if event[0] in DETAILS:
            details.setdefault(cycle, []).append(event)
            continue
        headers.append(event)
        if event[0] == CycleStarted.__name__ and len(event) > 1 and isinstance(event[1], int):
            cycle = event[1]
    encode = msgspec.msgpack.encode
    return Chunk(
        first_seq=0,
        last_seq=len(headers) - 1,
        first_cycle=1,
        last_cycle=cycle,
        headers=pack_headers(encode([0, headers])),
        details=pack_details(encode(list(details.items()))),
    )


def file_of(inputs: Plain, events: Sequence[Plain]) -> bytes:
    """A file with a hash that fits its trace, where it has one."""
    chunk = chunk_of(events)
    checker = TraceChecker(max_bytes=1 << 30)
    with contextlib.suppress(TraceError):
        checker.take(chunk)
    outcome = plain(Outcome("finished", checker.trace_hash()))
    return MAGIC + b"".join(map(_record, (inputs, ["Part", plain(chunk)], outcome)))


def _record(value: Plain) -> bytes:
    data = msgspec.msgpack.encode(value)
    return struct.pack(">I", len(data)) + data
