"""The text files of an upload, out of whatever they were packed in.

Archives are recognised by their first bytes, read as streams and never unpacked to disk.
"""

import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, NamedTuple, Protocol, cast

from scheduler_core.api.errors import LimitError, UnreadableError
from scheduler_core.api.limits import Budget
from scheduler_core.wording import say, told

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 512
_RATIO_GRACE_BYTES = 32 << 20

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC = b"ustar"
_TAR_MAGIC_OFFSET = 257
_FOREIGN_MAGICS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"7z\xbc\xaf": "7z",
}

_TEXT_SUFFIXES = (".json", ".yaml", ".yml", ".ndjson", ".jsonl")
_ARCHIVE_SUFFIXES = (".tgz", ".tar", ".zip")

# All that the archive modules raise for bytes that are damaged, encrypted or oddly compressed.
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class Unpacked(NamedTuple):
    """One file: its text as bytes, why it cannot be read, or neither when it is of no interest."""

    name: str
    data: bytes | bytearray | None = None
    error: str = ""


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def unpack_files(name: str, stream: BinaryIO, budget: Budget) -> Iterator[Unpacked]:
    """All text files in a seekable stream, however packed; broken ones carry their error.

    Raises :class:`LimitError` when a bound is hit.
    """
    return _unpack(name, stream, budget, 0)


def is_noise(name: str) -> bool:
    """Whether a file of this name is known to hold no objects: container logs, system litter."""
    base = name.rpartition("/")[2].removesuffix(".gz")
    return base == "logs.txt" or base.endswith(".log") or base.startswith("._")


def _may_hold_objects(name: str) -> bool:
    """Whether an archive's entry looks worth reading; a bare ``.gz`` may hold anything."""
    base = name.rpartition("/")[2].lower()
    inner = base.removesuffix(".gz")
    known = inner.endswith(_TEXT_SUFFIXES + _ARCHIVE_SUFFIXES)
    return known or (base != inner and "." not in inner)


def _unpack(name: str, stream: BinaryIO, budget: Budget, level: int) -> Iterator[Unpacked]:
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    try:
        if head.startswith(_ZIP_MAGICS):
            _check_level(level, budget)
            yield from _unpack_zip(name, stream, budget, level)
        elif head.startswith(_GZIP_MAGIC):
            yield from _unpack_gzip(name, _Inflated(stream, budget), budget, level)
        elif _is_tar(head):
            _check_level(level, budget)
            yield from _unpack_tar(name, stream, budget, level)
        else:
            _refuse_foreign(head)
            yield Unpacked(name, data=stream.read())
    except LimitError:
        raise
    except UnreadableError as error:
        yield Unpacked(name, error=error.message)


def _refuse_foreign(head: bytes) -> None:
    for magic, format_name in _FOREIGN_MAGICS.items():
        if head.startswith(magic):
            raise UnreadableError(
                say(
                    "upload.format_unsupported",
                    "{format_name} is not supported; unpack it or use gzip",
                    format_name=format_name,
                )
            )


def _is_tar(head: bytes) -> bool:
    return head[_TAR_MAGIC_OFFSET : _TAR_MAGIC_OFFSET + len(_TAR_MAGIC)] == _TAR_MAGIC


def _check_level(level: int, budget: Budget) -> None:
    if level >= budget.limits.nested_archives:
        raise UnreadableError(say("upload.archives_too_deep", "archives are nested too deep"))


def _unpack_gzip(
    name: str, inflated: "_Inflated", budget: Budget, level: int
) -> Iterator[Unpacked]:
    head = inflated.peek(_HEAD_BYTES)
    if _is_tar(head):
        _check_level(level, budget)
        yield from _unpack_tar(name, inflated, budget, level)
        return
    if head.startswith((_GZIP_MAGIC, *_ZIP_MAGICS)):
        raise UnreadableError(
            say(
                "upload.archive_in_gzip", "an archive inside gzip is not supported unless it is tar"
            )
        )
    _refuse_foreign(head)
    yield Unpacked(name, data=inflated.read_all())


def _unpack_tar(name: str, source: _Readable, budget: Budget, level: int) -> Iterator[Unpacked]:
    try:
        with tarfile.open(fileobj=cast(BinaryIO, source), mode="r|") as archive:
            for member in archive:
                if member.isfile():
                    yield from _entry(
                        f"{name}!{member.name}",
                        partial(archive.extractfile, member),
                        budget,
                        level,
                    )
    except UnreadableError:
        raise
    except _DAMAGE as error:
        raise UnreadableError(
            say(
                "upload.tar_damaged",
                "the tar archive is damaged or cut off: {error}",
                error=str(error),
            )
        ) from None


def _unpack_zip(name: str, stream: BinaryIO, budget: Budget, level: int) -> Iterator[Unpacked]:
    try:
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield from _entry(
                        f"{name}!{info.filename}",
                        partial(archive.open, info),
                        budget,
                        level,
                    )
    except UnreadableError:
        raise
    except _DAMAGE as error:
        raise UnreadableError(
            say(
                "upload.zip_damaged",
                "the zip archive is damaged or cut off: {error}",
                error=str(error),
            )
        ) from None


def _entry(
    name: str, opened: Callable[[], _Readable | None], budget: Budget, level: int
) -> Iterator[Unpacked]:
    budget.archive_entry()
    if is_noise(name) or not _may_hold_objects(name):
        yield Unpacked(name)
        return
    try:
        source = opened()
        data = _read_entry(source, budget) if source else b""
    except LimitError:
        raise
    except _DAMAGE as error:
        # An entry that is encrypted, oddly compressed or damaged leaves the others readable.
        yield Unpacked(
            name,
            error=say("upload.cannot_unpack", "cannot be unpacked: {error}", error=told(error)),
        )
        return
    yield from _unpack(name, io.BytesIO(data), budget, level + 1)


def _read_entry(source: _Readable, budget: Budget) -> bytes:
    parts = []
    while chunk := source.read(_CHUNK_BYTES):
        budget.decompress(len(chunk))
        parts.append(chunk)
    return b"".join(parts)


class _Inflated:
    """A gzip stream read piecemeal, with every byte counted. Several members are one text."""

    def __init__(self, source: _Readable, budget: Budget) -> None:
        self._source = source
        self._budget = budget
        self._inflater = zlib.decompressobj(wbits=31)
        self._ready = bytearray()
        self._compressed_bytes = 0
        self._inflated_bytes = 0
        self._ended = False

    def peek(self, size: int) -> bytes:
        """The next bytes, left in place. Raises :class:`UnreadableError`."""
        self._fill(size)
        return bytes(self._ready[:size])

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes, all when negative. Raises :class:`UnreadableError`."""
        if size < 0:
            return bytes(self.read_all())
        self._fill(size)
        taken = bytes(memoryview(self._ready)[:size])
        del self._ready[:size]
        return taken

    def read_all(self) -> bytearray:
        """The rest, handed over as it is: copying a large dump would double the memory."""
        while not self._ended:
            self._fill(len(self._ready) + _CHUNK_BYTES)
        taken, self._ready = self._ready, bytearray()
        return taken

    def _fill(self, size: int) -> None:
        while len(self._ready) < size and not self._ended:
            if self._inflater.eof:
                self._start_member()
            else:
                self._inflate(self._inflater.unconsumed_tail or self._next_chunk())

    def _next_chunk(self) -> bytes:
        chunk = self._source.read(_CHUNK_BYTES)
        if not chunk:
            raise UnreadableError(
                say("upload.gzip_cut_off", "the gzip file ends in the middle; it was cut off")
            )
        self._compressed_bytes += len(chunk)
        return chunk

    def _inflate(self, compressed: bytes) -> None:
        try:
            text = self._inflater.decompress(compressed, _CHUNK_BYTES)
        except zlib.error as error:
            raise UnreadableError(
                say("upload.gzip_damaged", "the gzip file is damaged: {error}", error=str(error))
            ) from None
        self._ready += text
        self._inflated_bytes += len(text)
        self._budget.decompress(len(text))
        ratio = self._budget.limits.compression_ratio
        allowed = max(_RATIO_GRACE_BYTES, ratio * self._compressed_bytes)
        if self._inflated_bytes > allowed:
            raise LimitError(
                say(
                    "upload.gzip_ratio",
                    "the gzip file unpacks to more than {ratio} times its size",
                    ratio=ratio,
                )
            )

    def _start_member(self) -> None:
        """After a member's end: another member, or padding up to the end of the file."""
        rest = self._inflater.unused_data or self._source.read(_CHUNK_BYTES)
        self._ended = not rest.startswith(_GZIP_MAGIC)
        if not self._ended:
            self._inflater = zlib.decompressobj(wbits=31)
            self._inflate(rest)
