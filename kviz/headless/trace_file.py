"""A trace in a file: what `kviz simulate --trace` writes.

`MAGIC`, then for every chunk its length (4 bytes, big endian) and its MessagePack
`[first_seq, last_seq, first_cycle, last_cycle, headers, details]`; `scheduler_core.trace.codec`
says what is in the last two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec

from scheduler_core.trace.codec import Chunk

MAGIC: Final = b"kviz-trace-1\n"
_LENGTH: Final = struct.Struct(">I")


class TraceFileError(ValueError):
    """A file is no trace, or was cut off."""


def write_chunk(file: BinaryIO, chunk: Chunk) -> None:
    """Append a chunk, after the magic if the file is empty so far."""
    if file.tell() == 0:
        file.write(MAGIC)
    encoded = msgspec.msgpack.encode(chunk)
    file.write(_LENGTH.pack(len(encoded)))
    file.write(encoded)


def read_chunks(file: BinaryIO) -> Iterator[Chunk]:
    """The chunks of a file in order. Raises TraceFileError."""
    if file.read(len(MAGIC)) != MAGIC:
        raise TraceFileError("this file is no kviz trace")
    while prefix := file.read(_LENGTH.size):
        try:
            (length,) = _LENGTH.unpack(prefix)
            yield msgspec.msgpack.decode(file.read(length), type=Chunk)
        except (struct.error, msgspec.DecodeError):
            raise TraceFileError("the trace is cut off") from None
