"""The values events are made of: positions in a queue, statuses, columns, and other records.

Like events they are positional on the wire: fields are only ever appended, with a default.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

NONE = -1
MAX_INT64 = int(np.iinfo(np.int64).max)

_RANGES = tuple(
    (name, int(np.iinfo(name).min), int(np.iinfo(name).max), np.dtype(f"<{name}"))
    for name in ("u1", "i1", "i2", "i4", "i8")
)


class Queue(IntEnum):
    """Where a pod is; the values are wire numbers."""

    NOWHERE = 0
    ACTIVE = 1
    BACKOFF = 2
    UNSCHEDULABLE = 3
    GATED = 4
    IN_FLIGHT = 5
    WAITING_ON_PERMIT = 6
    BINDING = 7


class Result(IntEnum):
    """How a scheduling cycle ended; the values are wire numbers."""

    SCHEDULED = 0
    UNSCHEDULABLE = 1
    ERROR = 2
    BIND_ERROR = 3
    SKIPPED = 4
    WAITING = 5
    UNKNOWN = 6
    """Of a scheduler that is observed: it does not report its outcome."""


StatusCode = Literal[
    "Success",
    "Error",
    "Unschedulable",
    "UnschedulableAndUnresolvable",
    "Wait",
    "Skip",
    "Pending",
]
HintValue = Literal["Queue", "QueueSkip"]
RequeueStrategy = Literal["", "skip", "afterBackoff", "immediately"]
"""How urgently a pod is requeued; empty where the move is no requeueing."""
PickRule = Literal["single", "heap", "draw"]
"""How the node was picked: the only one, the root of the scheduler's heap, or drawn among the
best."""
QueueOrder = Literal["listed", "name", "created"]
"""In which order the pods that are pending at the start enter the queue: as the input lists them,
by namespace and name (a scheduler that has just started), or by age (one that ran all along)."""
Nominating = Literal["override", "noop", ""]
"""What PostFilter does to the pod's nomination: replace or clear, leave it, or no result."""
CriterionName = Literal[
    "pdbViolations", "highestPriority", "sumPriorities", "numVictims", "latestStartTime"
]
PointAfterPick = Literal["Reserve", "Permit", "PreBindPreFlight", "PreBind", "Bind", "PostBind"]
PermitDecision = Literal["allow", "reject", "timeout"]
EventType = Literal["Normal", "Warning"]
ExtenderVerb = Literal["filter", "prioritize", "preempt", "bind"]


class Record(msgspec.Struct, frozen=True, array_like=True):
    """A positional part of an event."""


class Column(Record, frozen=True):
    """A one-dimensional array: `dtype` is NumPy's short name (`u1 i1 i2 i4 i8`, little endian)."""

    dtype: str
    data: bytes

    @staticmethod
    def of(values: npt.NDArray[np.generic]) -> Column:
        """Encode `values` (n,) without changing their type."""
        little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        return Column(little.dtype.str.lstrip("<|"), little.tobytes())

    @staticmethod
    def narrow(values: npt.NDArray[np.int64]) -> Column:
        """Encode integers (n,) in the narrowest type that holds them all."""
        # A negative number is a very large one when its sign is not looked at.
        low, high = 0, int(np.maximum.reduce(values.view(np.uint64), initial=0))
        if high > MAX_INT64:
            low, high = int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
        for name, least, most, dtype in _RANGES:
            if least <= low and high <= most:
                return Column(name, values.astype(dtype).tobytes())
        raise OverflowError(f"no integer type holds {low} to {high}")

    @staticmethod
    @lru_cache(maxsize=256)
    def zeros(n: int) -> Column:
        """Return what `narrow` makes of `n` zeros."""
        return Column("u1", bytes(n))

    def array(self) -> npt.NDArray[np.int64]:
        """Decode to int64 (n,)."""
        return np.frombuffer(self.data, dtype=f"<{self.dtype}").astype(np.int64)


class StatusRecord(Record, frozen=True):
    """A framework status: `code` is `framework.Code`'s name, `plugin` the one that set it."""

    code: StatusCode
    plugin: int = NONE
    reasons: tuple[str, ...] = ()


class PointPlugins(Record, frozen=True):
    """The plugins attached to one extension point, in order; weights (Score only) align."""

    point: str
    plugins: tuple[int, ...]
    weights: tuple[int, ...] = ()


class PluginEvents(Record, frozen=True):
    """The cluster events a plugin registered for, by label: what may wake a pod it rejected."""

    plugin: int
    events: tuple[str, ...]


class ProfileRecord(Record, frozen=True):
    """`wakes` has every plugin that registered for events, each event with one action."""

    scheduler_name: str
    points: tuple[PointPlugins, ...]
    wakes: tuple[PluginEvents, ...] = ()


class GateRecord(Record, frozen=True):
    """A feature gate that is not at its release's default."""

    name: str
    enabled: bool


class TaintRecord(Record, frozen=True):
    key: str
    value: str
    effect: str


class HintRecord(Record, frozen=True):
    """What one plugin's queueing hint answered: `Queue` or `QueueSkip`."""

    plugin: int
    hint: HintValue


class RejectedBy(Record, frozen=True):
    """How many nodes one Filter plugin was the first to reject."""

    plugin: int
    n_nodes: int


class NominatedPod(Record, frozen=True):
    """A nominated pod that Filter counted on a node; `requests` aligns with the resources."""

    pod: int
    requests: tuple[int, ...]


class NominatedOnNode(Record, frozen=True):
    """A node whose status is another one because nominated pods count there.

    Filter runs twice on such a node, and it has to pass both times. `without` indexes the
    statuses of the columns: what the plugins say of the node without those pods (0: it passes).
    """

    node: int
    pods: tuple[NominatedPod, ...]
    without: int


class ReprieveRecord(Record, frozen=True):
    """One victim tried again on its node: `kept` if the preemptor still fits beside it."""

    pod: int
    kept: bool
    violates_pdb: bool
    plugin: int = NONE
    """The plugin that rejected the preemptor with the pod back (none if kept)."""
    budgets: tuple[str, ...] = ()
    """The PodDisruptionBudgets, of its namespace, that evicting it breaks."""


class CandidateRecord(Record, frozen=True):
    """The dry run on one node, up to its victims; `status` tells why it is no candidate."""

    node: int
    removed: tuple[int, ...]
    reprieves: tuple[ReprieveRecord, ...]
    victims: tuple[int, ...]
    n_pdb_violations: int
    status: StatusRecord


class CriterionRecord(Record, frozen=True):
    """One step of picking a candidate: the values, and which nodes stay in.

    `values` align with the nodes that the step before kept (at first: all candidates).
    """

    name: CriterionName
    values: tuple[int, ...]
    kept: tuple[int, ...]


class PluginScores(Record, frozen=True):
    """One Score plugin over the feasible nodes (n_feasible,); weighted = normalized * weight."""

    plugin: int
    weight: int
    raw: Column
    normalized: Column


class DeviceRecord(Record, frozen=True):
    """A device given to a request of a claim (`request/alternative` of a prioritised list).

    A shared one is given in part, and consumes so much of its capacities: names and quantities.
    """

    request: str
    driver: str
    pool: str
    device: str
    shared: bool = False
    admin_access: bool = False
    consumed: dict[str, str] = {}
