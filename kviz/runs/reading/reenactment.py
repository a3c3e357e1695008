"""One cycle of a run, re-enacted: what the trace does not hold.

The trace holds what kube-scheduler finds out: the first plugin that rejects each node. This
simulates the run again up to the cycle, calls the others too, and looks at what plugins prepared
(docs/adr/0016). The result is cached, and only returned if the cycle went as recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final, TypedDict, cast

import msgspec
import zstandard
from django.conf import settings
from django.core.cache import cache

from kviz.runs.execution.engine import reenact
from kviz.runs.execution.extender_answers import AnswerMissing
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.reading.projection import CycleDocument, StatusDocument
from scheduler_core import ENGINE_VERSION
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.framework.prepared_state import Described, PreparedState
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.sim.reenactment import ReenactedCycle

NOTE: Final = (
    "Beyond what kube-scheduler computes: it stops at the first plugin that rejects a node. Here "
    "every other plugin was called, too, as if it were alone."
)
STATE_NOTE: Final = (
    "What plugins prepared for Filter and Score, under upstream's names. The trace does not hold "
    "it; the run was simulated again up to this cycle."
)
MAX_ENTRIES: Final = 200
"""Of one mapping or list of a plugin's state; how many more there are is stated."""
CACHED_S: Final = 24 * 3600
MAX_BYTES: Final = 256 * 1024 * 1024

_one_at_a_time: Final = threading.Lock()


class AlsoDocument(TypedDict):
    """Rejections the scheduler did not get to: of the pod as a whole, and by node."""

    cycle: int
    pod: str
    note: str
    pre_filter: list[StatusDocument]
    also: dict[str, list[StatusDocument]]


class PreparedDocument(TypedDict):
    """What one plugin prepared; null if nothing. A skipped plugin takes no part in the cycle."""

    plugin: str
    skipped: bool
    state: Described


class StateDocument(TypedDict):
    """The CycleState of one cycle, plugin by plugin."""

    cycle: int
    pod: str
    note: str
    pre_filter: list[PreparedDocument]
    pre_score: list[PreparedDocument]


class _Answers(TypedDict):
    also: AlsoDocument
    state: StateDocument


class CannotReenact(Exception):
    """A cycle is not re-enacted; the text says why and what would help.

    `busy` says that it may be, a few seconds from now.
    """

    def __init__(self, text: str, *, busy: bool = False) -> None:
        super().__init__(text)
        self.busy = busy


def also(*, run: Run, recorded: CycleDocument) -> AlsoDocument:
    """Return what other plugins would also have rejected. Raises CannotReenact."""
    return _answers(run, recorded)["also"]


def cycle_state(*, run: Run, recorded: CycleDocument) -> StateDocument:
    """Return what the cycle's plugins prepared. Raises CannotReenact."""
    return _answers(run, recorded)["state"]


def _answers(run: Run, recorded: CycleDocument) -> _Answers:
    key = f"kviz:reenacted:{run.pk}:{recorded['cycle']}:{ENGINE_VERSION}"
    packed = cache.get(key)
    if packed is None:
        _check_possible(run, recorded)
        if not _one_at_a_time.acquire(blocking=False):
            raise CannotReenact("Another cycle is being re-enacted; try again soon.", busy=True)
        try:
            answers = _reenact(run, recorded)
        finally:
            _one_at_a_time.release()
        packed = zstandard.compress(msgspec.msgpack.encode(answers))
        cache.set(key, packed, CACHED_S)
    unpacked = zstandard.decompress(packed, max_output_size=MAX_BYTES)
    return cast("_Answers", msgspec.msgpack.decode(unpacked))


def max_cycle(n_nodes: int) -> int:
    """Return the last cycle that is re-enacted in a cluster of `n_nodes`.

    A cycle's time grows with the nodes, from one that does not: that of some 1,000 nodes.
    """
    return max(1, settings.MAX_REENACTED_CYCLES * 2_000 // (1_000 + n_nodes))


def _check_possible(run: Run, recorded: CycleDocument) -> None:
    if run.is_observed:
        raise CannotReenact("A real scheduler decided this cycle. kviz cannot call its plugins.")
    if run.engine_version != ENGINE_VERSION:
        raise CannotReenact(
            f"This run was made by engine {run.engine_version}; this is {ENGINE_VERSION}, which "
            "might decide otherwise. Start the run again to re-enact its cycles."
        )
    limit = max_cycle(recorded["n_nodes"])
    if recorded["cycle"] > limit:
        raise CannotReenact(
            f"To answer, the run has to be simulated again up to this cycle, which is too far: "
            f"the limit for {recorded['n_nodes']} nodes is cycle {limit}. Choose an earlier "
            "cycle, or start a run with fewer pods, such as one pending pod alone."
        )


def _reenact(run: Run, recorded: CycleDocument) -> _Answers:
    try:
        cycle = reenact(run, recorded["cycle"])
    except (InvalidInput, AnswerMissing, PluginFailure) as error:
        raise CannotReenact(f"This cycle cannot be re-enacted. {error}") from error
    if cycle is not None:
        first = {node: _document(status) for node, status in cycle.rejected.items()}
        if cycle.pod != recorded["pod"] or first != recorded["filter"]:
            raise CannotReenact(
                "Simulated again, this cycle went another way than recorded: a bug of kviz. "
                "The recorded verdicts stand."
            )
    return {"also": _also(recorded, cycle), "state": _state(recorded, cycle)}


def _also(recorded: CycleDocument, cycle: ReenactedCycle | None) -> AlsoDocument:
    document: AlsoDocument = {
        "cycle": recorded["cycle"],
        "pod": recorded["pod"],
        "note": NOTE,
        "pre_filter": [],
        "also": {},
    }
    if cycle is None:  # it looked at no node
        return document
    document["pre_filter"] = _but(cycle.pre_filter.plugin, cycle.individually.pod)
    for node, rejections in cycle.individually.nodes.items():
        known = cycle.rejected.get(node, SUCCESS).plugin
        if others := _but(known, rejections):
            document["also"][node] = others
    return document


def _state(recorded: CycleDocument, cycle: ReenactedCycle | None) -> StateDocument:
    return {
        "cycle": recorded["cycle"],
        "pod": recorded["pod"],
        "note": STATE_NOTE,
        "pre_filter": [_prepared(each) for each in cycle.state.pre_filter] if cycle else [],
        "pre_score": [_prepared(each) for each in cycle.state.pre_score] if cycle else [],
    }


def _prepared(state: PreparedState) -> PreparedDocument:
    return {"plugin": state.plugin, "skipped": state.skipped, "state": _bounded(state.value)}


def _bounded(value: Described) -> Described:
    """Cut what is too long to read, and say how much was cut."""
    if isinstance(value, dict):
        shown = {name: _bounded(value[name]) for name in list(value)[:MAX_ENTRIES]}
        return shown | _more(len(value))
    if isinstance(value, list):
        return [*map(_bounded, value[:MAX_ENTRIES]), *_more(len(value)).values()]
    return value


def _more(n_entries: int) -> dict[str, Described]:
    return {"…": f"{n_entries - MAX_ENTRIES} more"} if n_entries > MAX_ENTRIES else {}


def _but(plugin: str, rejections: Iterable[Status]) -> list[StatusDocument]:
    """Leave out what the scheduler found out itself."""
    return [_document(status) for status in rejections if status.plugin != plugin]


def _document(status: Status) -> StatusDocument:
    document: StatusDocument = {"code": status.code.label}
    if status.plugin:
        document["plugin"] = status.plugin
    if status.reasons:
        document["reasons"] = list(status.reasons)
    return document
