"""Compact storage of the objects of a cluster: length-prefixed batches, compressed."""

import io
import struct
from collections.abc import Iterator
from itertools import islice

import msgspec
import zstandard

from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.parse import decode_timestamp
from scheduler_core.api.types import KINDS

_MAGIC = b"kviz-objects-1\n"
_BATCH_OBJECTS = 1000
_LENGTH = struct.Struct(">I")
_END = _LENGTH.pack(0)
_MAX_BATCH_BYTES = 1 << 30
_LEVEL = 3
_PIECE_BYTES = 1 << 20


class PackError(ValueError):
    """The bytes are not packed objects of this version, or were damaged."""


class _Batch(msgspec.Struct, array_like=True):
    kind: str
    objects: msgspec.Raw


_BATCHES = msgspec.msgpack.Decoder(_Batch)
_DECODERS = {
    name: msgspec.msgpack.Decoder(list[kind], dec_hook=decode_timestamp)  # type: ignore[valid-type]
    for name, kind in KINDS.items()
}


def pack(objects: ClusterObjects) -> bytes:
    """The objects as bytes; unpacking gives equal objects, maps in the same order too."""
    stored = io.BytesIO()
    stored.write(_MAGIC)
    with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(stored, closefd=False) as writer:
        for batch in _batches(objects):
            writer.write(_LENGTH.pack(len(batch)))
            writer.write(batch)
        writer.write(_END)
    return stored.getvalue()


def unpack(packed: bytes, *, max_bytes: int | None = None) -> ClusterObjects:
    """The objects again; `max_bytes` is what they may unpack to. Raises :class:`PackError`."""
    with gc_paused():
        return ClusterObjects(unpack_each(packed, max_bytes=max_bytes))


def unpack_each(packed: bytes, *, max_bytes: int | None = None) -> Iterator[KubeObject]:
    """The same one by one, for who need not have all at once. Raises :class:`PackError`."""
    if not packed.startswith(_MAGIC):
        raise PackError("these bytes were not packed by this version of kviz")
    try:
        yield from _unpacked(memoryview(packed)[len(_MAGIC) :], max_bytes)
    except (msgspec.DecodeError, UnicodeDecodeError, zstandard.ZstdError, KeyError) as error:
        raise PackError(f"the packed objects are damaged: {error}") from None


def weighs_less(packed: bytes, size_bytes: int) -> bool:
    """Whether packed objects decompress to less than so many bytes; what is damaged does, too."""
    with zstandard.ZstdDecompressor().stream_reader(memoryview(packed)[len(_MAGIC) :]) as reader:
        try:
            while size_bytes > 0 and (piece := reader.read(_PIECE_BYTES)):
                size_bytes -= len(piece)
        except zstandard.ZstdError:
            return True
    return size_bytes > 0


def _batches(objects: ClusterObjects) -> Iterator[bytes]:
    encoder = msgspec.msgpack.Encoder()
    for name, kind in KINDS.items():
        remaining = iter(objects.of(kind))
        while batch := list(islice(remaining, _BATCH_OBJECTS)):
            yield encoder.encode(_Batch(name, msgspec.Raw(encoder.encode(batch))))


def _unpacked(compressed: memoryview, max_bytes: int | None) -> Iterator[KubeObject]:
    n_bytes = 0
    with zstandard.ZstdDecompressor().stream_reader(compressed) as reader:
        while (prefix := _read_exactly(reader, _LENGTH.size)) != _END:
            (length,) = _LENGTH.unpack(prefix)
            if length > _MAX_BATCH_BYTES:
                raise PackError("the packed objects are damaged: a batch is too long")
            n_bytes += length
            if max_bytes is not None and n_bytes > max_bytes:
                raise PackError(f"unpacked they would be larger than {max_bytes >> 20} MiB")
            batch = _BATCHES.decode(_read_exactly(reader, length))
            yield from _DECODERS[batch.kind].decode(batch.objects)


def _read_exactly(reader: zstandard.ZstdDecompressionReader, size: int) -> bytes:
    data: bytes = reader.read(size)
    if len(data) != size:
        raise PackError("the packed objects are cut off")
    return data
