"""Reading an upload in a separate process, which may take so much memory and no more.

A few MiB of gzip can become gigabytes of objects. They are made in a process that has a limit, and
what comes back is what is stored: the packed objects and what was found out about them. Small
uploads are read right here. Without Django: a process begins in a tenth of a
second (docs/adr/0057).
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from kviz.forking import end_with_parent
from kviz.snapshots.overview import Overview, overview_of
from scheduler_core.api.errors import ParseError
from scheduler_core.api.ingest import Ingested, Progress, ingest
from scheduler_core.api.limits import UNPACKS_TOO_LARGE, Limits
from scheduler_core.api.packing import PackError, pack, unpack, weighs_less
from scheduler_core.api.said_events import SaidOfPod
from scheduler_core.api.simulator import SimulatorResult
from scheduler_core.releases.choosing import release_told
from scheduler_core.wording import Text, say

MIB: Final = 1 << 20
SMALL_BYTES: Final = MIB
SMALL_UNPACKED_BYTES: Final = 2 * MIB
"""Uploads up to this size, as sent and unpacked, are read in the process that asks."""
LIGHT_BYTES: Final = 16 * MIB
"""Objects that decompress to less are light: as objects they take at most eight times as much."""
OBJECTS_SHARE: Final = 4
"""A quarter of the memory is for objects: pages and workers hold them again, without the text, but
with what the engine makes of them."""
ANSWER_SHARE: Final = 24
"""So much less than the memory is what may be stored of an upload."""
PROGRESS_S: Final = 0.1
_LENGTH: Final = struct.Struct("=q")
_RESIDENT: Final = 1
_DATA: Final = 5
"""Columns of Linux's statm."""
_SAID_BYTES: Final = 10_000
_OUT_OF_MEMORY: Final = (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGSEGV)
"""How a process ends in which a library gets no memory, or that the system ends for it."""
_ROOT: Final = Path(__file__).parents[2]
_one_at_a_time: Final = threading.Lock()


class TooMuchMemory(Exception):
    """An upload takes more memory than it may; the message names the limit."""

    def __init__(self, memory_bytes: int) -> None:
        super().__init__(_too_much(memory_bytes))


def _too_much(memory_bytes: int) -> Text:
    return say(
        "upload.too_much_memory",
        "this upload takes more memory than it may: {reading} MiB while it is read, of them "
        "{objects} MiB for its objects (KVIZ_READING_MIB)",
        reading=memory_bytes // MIB,
        objects=memory_bytes // OBJECTS_SHARE // MIB,
    )


@dataclass(frozen=True, kw_only=True)
class Read:
    """What an upload held, as it is stored; otherwise as `Ingested` has it."""

    packed: bytes
    overview: Overview
    counts: dict[str, int]
    ignored: dict[str, int]
    warnings: tuple[str, ...]
    errors: tuple[ParseError, ...]
    left_out: tuple[str, ...]
    scheduler_config: str
    results: tuple[SimulatorResult, ...]
    release_told: str
    said: tuple[SaidOfPod, ...] = ()


@dataclass(frozen=True)
class _Job:
    """What the process is to do: read files, by name and descriptor, or weigh packed objects."""

    memory_bytes: int
    files: list[tuple[str, int]] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    wants_progress: bool = False
    packed: bytes = b""


def as_read(ingested: Ingested) -> Read:
    """Return what is stored of objects that were read."""
    return Read(
        packed=pack(ingested.objects),
        overview=overview_of(ingested.objects),
        counts=ingested.counts,
        ignored=ingested.ignored,
        warnings=ingested.warnings,
        errors=ingested.errors,
        left_out=ingested.left_out,
        scheduler_config=ingested.scheduler_config,
        results=ingested.results,
        release_told=release_told(ingested.objects, ingested.server_version),
        said=ingested.said,
    )


def read_upload(
    files: Sequence[tuple[str, BinaryIO]],
    limits: Limits,
    memory_bytes: int,
    progress: Progress | None = None,
) -> Read:
    """Read files, each a name and a seekable stream. Raises TooMuchMemory."""
    if sum(map(_size_bytes, files)) <= SMALL_BYTES:
        found = ingest(files, replace(limits, decompressed_bytes=_small(limits)), progress)
        if _small(limits) == limits.decompressed_bytes or not any(map(_was_larger, found.errors)):
            return as_read(found)
    with contextlib.ExitStack() as stack, _one_at_a_time:
        named = [(name, stack.enter_context(_in_file(stream))) for name, stream in files]
        descriptors = [(name, file.fileno()) for name, file in named]
        return _answer(_Job(memory_bytes, descriptors, limits, bool(progress)), progress)


def refuse_heavy(packed: bytes, memory_bytes: int) -> None:
    """See that packed objects take no more memory than those of an upload. Raises TooMuchMemory.

    Raises PackError where they are damaged.
    """
    if not weighs_less(packed, LIGHT_BYTES):
        with _one_at_a_time:
            _answer(_Job(memory_bytes, packed=packed), None)


def _small(limits: Limits) -> int:
    return min(SMALL_UNPACKED_BYTES, limits.decompressed_bytes)


def _was_larger(error: ParseError) -> bool:
    return isinstance(error.message, Text) and error.message.id == UNPACKS_TOO_LARGE


def _size_bytes(file: tuple[str, BinaryIO]) -> int:
    size = file[1].seek(0, io.SEEK_END)
    file[1].seek(0)
    return size


@contextlib.contextmanager
def _in_file(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream as a file that another process can read; pasted text is written to one."""
    if not isinstance(stream, io.BytesIO):
        yield stream
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file)
        file.seek(0)
        yield cast("BinaryIO", file)


def _answer(job: _Job, progress: Progress | None) -> Read:
    """Have a process do it. Raises TooMuchMemory."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "kviz.snapshots.reading", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=_ROOT,
            pass_fds=[descriptor for _, descriptor in job.files],
        )
        with process:
            try:
                return _heard(process, job, progress)
            except (EOFError, BrokenPipeError):
                process.wait()
                complaints.seek(0)
                said = complaints.read(_SAID_BYTES).decode(errors="replace")
            finally:
                process.kill()
    if process.returncode in _OUT_OF_MEMORY:
        raise TooMuchMemory(job.memory_bytes)
    raise RuntimeError(f"reading an upload ended with {process.returncode}: {said}")


def _heard(process: subprocess.Popen[bytes], job: _Job, progress: Progress | None) -> Read:
    """Raises TooMuchMemory, PackError, and EOFError if the process ends without an answer."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process has no pipes")
    with process.stdin as pipe:
        pickle.dump(job, pipe)
    while True:
        match pickle.loads(_frame(process.stdout)):
            case (int(done_bytes), int(total_bytes)):
                if progress is not None:
                    progress(done_bytes, total_bytes)
            case None:
                raise TooMuchMemory(job.memory_bytes)
            case PackError() as error:
                raise error
            case Read() as found:
                return replace(found, packed=_frame(process.stdout))


def _frame(pipe: IO[bytes]) -> bytes:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pipe.read(*_LENGTH.unpack(head))


# ---------------------------------------------------------------- in the other process


def main() -> None:
    """Read what standard input names and answer on standard output, in frames."""
    end_with_parent(int(sys.argv[1]))
    job: _Job = pickle.load(sys.stdin.buffer)
    most = _memory_bytes(_DATA) + job.memory_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        found = _read_here(job)
        found, packed = replace(found, packed=b""), found.packed
        answer = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
        if len(answer) + len(packed) > job.memory_bytes // ANSWER_SHARE:
            raise MemoryError
    except MemoryError:
        _say(pickle.dumps(None))
        return
    except PackError as error:
        _say(pickle.dumps(error))
        return
    _say(answer)
    _say(packed)


def _read_here(job: _Job) -> Read:
    """Raises MemoryError, PackError."""
    before_bytes = _memory_bytes(_RESIDENT)
    if job.packed:
        held = unpack(job.packed)
        found = ingest([])
    else:
        with contextlib.ExitStack() as stack:
            named = [(name, stack.enter_context(open(number, "rb"))) for name, number in job.files]
            found = ingest(named, job.limits, _tell_progress if job.wants_progress else None)
        held = found.objects
    if held and _memory_bytes(_RESIDENT) - before_bytes > job.memory_bytes // OBJECTS_SHARE:
        raise MemoryError
    return as_read(found)


def _memory_bytes(column: int) -> int:
    """What memory this process has; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[column])
    except OSError:  # not on macOS
        return 0
    return pages * resource.getpagesize()


_due_at = 0.0


def _tell_progress(done_bytes: int, total_bytes: int) -> None:
    global _due_at
    if (now := time.monotonic()) >= _due_at:
        _due_at = now + PROGRESS_S
        _say(pickle.dumps((done_bytes, total_bytes)))


def _say(frame: bytes) -> None:
    sys.stdout.buffer.write(_LENGTH.pack(len(frame)))
    sys.stdout.buffer.write(frame)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    from kviz.snapshots import reading

    reading.main()  # what is pickled is of that module, not of `__main__`
