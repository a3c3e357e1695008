"""Copies of a loaded run: what a cluster costs to load is paid once.

A run is a graph of Python objects that refer to each other everywhere, closures among them. It is
packed once, by the pickle module, and every copy is unpacked from that. What nobody changes is not
packed but shared: the objects of the cluster, templates, options, code. The copies know nothing of
each other, nor of the run they were taken from. Nothing packed here leaves the process.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Final

from scheduler_core.api import KubeObject
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.cluster.pods import PodInfo, PodTemplate
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.chance import Pinned
from scheduler_core.framework.status import Status
from scheduler_core.registry import Registry
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import Event


class CannotCopy(Exception):
    """A run holds something that only it can hold, such as a connection to an extender."""


class RunCopies:
    """Hands out copies of a run as it was when this was made; the run itself may go on.

    Raises CannotCopy.
    """

    def __init__(self, run: Run) -> None:
        if run.simulation.scheduling.transport is not None:
            raise CannotCopy("the run calls extenders")
        packed = io.BytesIO()
        packer = _Packer(packed)
        try:
            with gc_paused():
                packer.dump(run)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise CannotCopy(str(error)) from error
        self._packed = packed.getvalue()
        self._shared = packer.shared

    def take(self) -> Run:
        """Return an independent copy."""
        with gc_paused():
            run = _Unpacker(self._packed, self._shared).load()
        assert isinstance(run, Run)
        return run


@dataclass(frozen=True, eq=False)
class _Original:
    """A closure that copies are made of; it is not copied itself."""

    function: FunctionType


_SHARED: Final = (
    *(KubeObject, PodInfo, PodTemplate, Event, Status, RunOptions, KubeSchedulerConfiguration),
    *(FeatureGates, Registry, Pinned, _Original, type),
)
"""What nobody changes, or what stands outside the run."""


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.shared: list[object] = []
        self._numbers: dict[int, int] = {}
        self._is_shared: dict[type, bool] = {}

    def persistent_id(self, item: object) -> int | None:
        """Return the number of something shared, None for what must be copied."""
        kind = type(item)
        is_shared = self._is_shared.get(kind)
        if is_shared is None:
            is_shared = self._is_shared[kind] = issubclass(kind, _SHARED)
        if not is_shared and not (isinstance(item, FunctionType) and item.__closure__ is None):
            return None
        number = self._numbers.setdefault(id(item), len(self.shared))
        if number == len(self.shared):
            self.shared.append(item)
        return number

    def reducer_override(self, item: object) -> object:
        """Say how closures are made again: with cells that are copies, too."""
        if isinstance(item, FunctionType):
            return _with_cells, (_Original(item), *(item.__closure__ or ()))
        if isinstance(item, CellType):
            return CellType, (), item.cell_contents, None, None, _fill
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def __init__(self, packed: bytes, shared: list[object]) -> None:
        super().__init__(io.BytesIO(packed))
        self._shared = shared

    def persistent_load(self, number: int) -> object:
        return self._shared[number]


def _with_cells(original: _Original, *cells: CellType) -> FunctionType:
    it = original.function
    copy = FunctionType(it.__code__, it.__globals__, it.__name__, it.__defaults__, cells)
    copy.__kwdefaults__ = it.__kwdefaults__
    return copy


def _fill(cell: CellType, contents: object) -> None:
    cell.cell_contents = contents
