"""One run without a server: files in, a line per scheduling cycle out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kviz.run_file import RunFile
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import Ingested, ingest
from scheduler_core.api.pod_templates import NO_PODS
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.codec import TraceWriter, starts_cycle
from scheduler_core.trace.events import (
    DetailEvent,
    RunFinished,
)
from scheduler_core.trace.index import CycleRow, TraceIndex


@dataclass(frozen=True)
class Outcome:
    """What a run came to; `pending` are pods (`namespace/name`) without a node."""

    cycles: list[CycleRow]
    pending: list[str]
    finished: RunFinished
    trace_hash: str
    not_modelled: tuple[str, ...]
    """What the input asks for and the engine does not do."""

    def as_json(self) -> dict[str, object]:
        """The document that scripts read (`docs/architecture.md` names it a contract)."""
        return {
            "cycles": [_cycle_json(cycle) for cycle in self.cycles],
            "pending": self.pending,
            "bound": self.finished.n_bound,
            "stopReason": self.finished.reason,
            "traceHash": self.trace_hash,
            "notModelled": list(self.not_modelled),
        }


def _cycle_json(cycle: CycleRow) -> dict[str, object]:
    return {
        "pod": cycle.pod,
        "attempt": cycle.attempt,
        "result": "bindError" if cycle.result == "bind_error" else cycle.result,
        "node": cycle.node,
        "message": cycle.message,
        "nominatedNodeName": cycle.nominated_node,
        "victims": list(cycle.victims),
        "heldNodes": cycle.n_held,
        "devices": {claim: list(devices) for claim, devices in cycle.devices.items()},
    }


def files_sha256(paths: Sequence[Path]) -> str:
    """Of the files' contents, in the order of their names; as an upload of them would have it."""
    digest = hashlib.sha256()
    for path in sorted((file for given in paths for file in _files_below(given)), key=str):
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def read_files(paths: Sequence[Path], pods_in: Mapping[str, Sequence[str]] = NO_PODS) -> Ingested:
    """Read a cluster as an upload would be; folders with all that is in them.

    `pods_in` says of which kinds the pod is read that they make.
    """
    found = [file for path in paths for file in _files_below(path)]
    with ExitStack() as opened:
        files = [(str(path), opened.enter_context(path.open("rb"))) for path in found]
        return ingest(files, pods_in=pods_in)


def _files_below(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def run(objects: Sequence[KubeObject], options: RunOptions, file: RunFile | None = None) -> Outcome:
    """Simulate, and write the run to a file if one is given."""
    writer, index = TraceWriter(), TraceIndex()
    cycles: dict[int, CycleRow] = {}

    def cut() -> None:
        cycles.update((row.number, row) for row in index.drain().cycles)
        chunk = writer.cut()
        if file is not None and chunk is not None:
            file.part(chunk)

    for event in simulate(objects, options):
        if starts_cycle(event) and writer.is_full:
            cut()
        writer.add(event)
        if not isinstance(event, DetailEvent):
            index.take(event)
    cut()
    if index.finished is None:
        raise RuntimeError("the engine stopped without RunFinished")
    if file is not None:
        file.finish(writer.trace_hash())
    return Outcome(
        [cycles[number] for number in sorted(cycles)],
        index.pods_pending(),
        index.finished,
        writer.trace_hash(),
        index.not_modelled,
    )
