"""One cycle of a run, re-enacted: what the trace does not hold.

The trace holds what kube-scheduler finds out: the first plugin that rejects each node. This
simulates the run again up to the cycle, calls the others too, and looks at what plugins prepared
(docs/adr/0016). The result is cached, and only returned if the cycle went as recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypedDict, cast

import msgspec
import zstandard
from django.core.cache import cache

from kviz import sentences
from kviz.engine_build import engine_build
from kviz.runs.models import Run
from kviz.runs.reading.held_cycles import HELD
from kviz.runs.reading.projection import CycleDocument, StatusDocument, answer_document
from scheduler_core.devices.survey import DeviceSurvey, SurveyDocument, survey_document
from scheduler_core.framework.prepared_state import Described, PreparedState
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import packed, say

NOTE: Final = say(
    "cycle.about_all_plugins",
    "Beyond what kube-scheduler computes: it stops at the first plugin that rejects a node. Here "
    "every other plugin was called, too, as if it were alone.",
)
STATE_NOTE: Final = say(
    "cycle.about_state",
    "What plugins prepared for Filter and Score, under upstream's names. The trace does not hold "
    "it; the run was simulated again up to this cycle.",
)
DEVICES_NOTE: Final = say(
    "cycle.about_devices",
    "The allocator takes the first devices that serve all requests and keeps no reasons. The run "
    "was simulated again up to this cycle, and each device was checked with those allocated.",
)
MAX_DEVICE_NODES: Final = 100
"""Nodes whose devices are listed at once; any one may be asked for by name."""
MAX_ENTRIES: Final = 200
"""Of one mapping or list of a plugin's state; how many more there are is stated."""
CACHED_S: Final = 24 * 3600
MAX_BYTES: Final = 256 * 1024 * 1024


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


class DevicesDocument(SurveyDocument):
    """The devices of one cycle. `n_nodes` have any; `nodes` are the first of them, or one."""

    cycle: int
    pod: str
    note: str
    n_nodes: int


class _Answers(TypedDict):
    also: AlsoDocument
    state: StateDocument
    devices: SurveyDocument


def also(*, run: Run, recorded: CycleDocument) -> AlsoDocument:
    """Return what other plugins would also have rejected. Raises CannotReenact."""
    return _answers(run, recorded)["also"]


def cycle_state(*, run: Run, recorded: CycleDocument) -> StateDocument:
    """Return what the cycle's plugins prepared. Raises CannotReenact."""
    return _answers(run, recorded)["state"]


def devices(*, run: Run, recorded: CycleDocument, node: str = "") -> DevicesDocument:
    """Return the devices of a cycle, of one node if it is named. Raises CannotReenact."""
    found = _answers(run, recorded)["devices"]
    nodes = [each for each in found["nodes"] if node in ("", each["node"])][:MAX_DEVICE_NODES]
    on_nodes = {device["id"] for each in nodes for device in each["devices"]}
    return {
        "cycle": recorded["cycle"],
        "pod": recorded["pod"],
        "note": DEVICES_NOTE,
        "problem": found["problem"],
        "claims": found["claims"],
        "devices": {id: each for id, each in found["devices"].items() if id in on_nodes},
        "nodes": nodes,
        "n_nodes": len(found["nodes"]),
    }


def _answers(run: Run, recorded: CycleDocument) -> _Answers:
    key = f"kviz:reenacted:{run.pk}:{recorded['cycle']}:{engine_build()}"
    stored = cache.get(key)
    if stored is None:
        answers = HELD.ask(run, recorded, lambda cycle: _all(recorded, cycle))
        stored = zstandard.compress(msgspec.msgpack.encode(packed(answers)))
        cache.set(key, stored, CACHED_S)
    document = msgspec.msgpack.decode(zstandard.decompress(stored, max_output_size=MAX_BYTES))
    return cast("_Answers", sentences.said(document))


def _all(recorded: CycleDocument, cycle: ReenactedCycle | None) -> _Answers:
    return {
        "also": _also(recorded, cycle),
        "state": _state(recorded, cycle),
        "devices": survey_document(cycle.devices if cycle is not None else DeviceSurvey()),
    }


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
    return [answer_document(status) for status in rejections if status.plugin != plugin]
