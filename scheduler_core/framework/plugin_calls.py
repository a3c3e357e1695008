"""The one way in which plugins are called, so that one that breaks its contract is named.

Upstream has no counterpart: there a panicking plugin ends the scheduler (docs/adr/0012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Final, Protocol, TypeVar, TypeVarTuple

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import (
    FilterPlugin,
    NormalizeScorePlugin,
    PermitOutcome,
    Plugin,
    PostFilterOutcome,
    PreFilterPlugin,
    Prepared,
    PreScorePlugin,
    ScorePlugin,
    Scores,
    implements,
)
from scheduler_core.framework.scoring import PluginScore, scale_fault
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

INT8: Final = np.dtype(np.int8)
INT64: Final = np.dtype(np.int64)
UINT64: Final = np.dtype(np.uint64)
LAST_CODE: Final = int(max(Code))

ANSWERS: Final[Mapping[str, tuple[type, ...]]] = {
    "PreEnqueue": (Status,),
    "QueueSort": (tuple,),
    "EventsToRegister": (Sequence,),
    "QueueingHint": (QueueingHint,),
    "SignPod": (tuple, Sequence, type(None)),
    "PreFilter": (Prepared, Status),
    "Filter": (Verdict,),
    "PostFilter": (PostFilterOutcome,),
    "PreScore": (Prepared, Status),
    "Score": (np.ndarray,),
    "NormalizeScore": (np.ndarray,),
    "Reserve": (Status,),
    "Unreserve": (type(None),),
    "Permit": (PermitOutcome,),
    "PreBindPreFlight": (Status,),
    "PreBind": (Status,),
    "Bind": (Status,),
    "PostBind": (type(None),),
}
"""What a plugin may return at each point."""


class PluginFailure(Exception):
    """A plugin raised, or returned what its extension point does not allow: the run is over.

    Text for users; what the plugin raised is the cause (`__cause__`).
    """

    def __init__(self, plugin: str, point: str, pod: str, what: str, node: str = "") -> None:
        about = (f" for pod {pod}" if pod else "") + (f" on node {node}" if node else "")
        super().__init__(f'plugin "{plugin}" failed at {point}{about}: {what}')
        self.plugin = plugin
        self.point = point
        self.pod = pod
        self.node = node


def call(point: str, plugin: str, pod: PodInfo | None, method: Callable[[*Ts], R], *args: *Ts) -> R:
    """Call a plugin's method, about a pod if it is about one.

    Raises PluginFailure if it raises or its answer is of no use.
    """
    try:
        answer = method(*args)
    except PluginFailure:
        raise
    except Exception as error:
        raise PluginFailure(plugin, point, pod.key if pod else "", in_words(error)) from error
    wanted = ANSWERS[point]
    if (answer is SUCCESS or answer is SKIP) and Status in wanted:
        return answer
    if fault := fault_of(answer, wanted):
        raise PluginFailure(plugin, point, pod.key if pod else "", fault)
    return answer


def call_filter(plugin: FilterPlugin[object], state: object, pod: PodInfo, nodes: Nodes) -> Verdict:
    """Call Filter. Raises PluginFailure, also for columns of a wrong shape or type."""
    try:
        verdict = plugin.filter(state, pod, nodes)
    except PluginFailure:
        raise
    except Exception as error:
        raise PluginFailure(plugin.name, "Filter", pod.key, in_words(error)) from error
    if fault := fault_of(verdict, ANSWERS["Filter"]) or _verdict_fault(verdict, nodes.n):
        raise PluginFailure(plugin.name, "Filter", pod.key, fault)
    return verdict


def _verdict_fault(verdict: Verdict, n: int) -> str:
    """Return what is wrong with a verdict about `n` nodes, empty if nothing is."""
    fault = _column_fault("code", verdict.code, INT8, n)
    fault = fault or _column_fault("reasons", verdict.reasons, UINT64, n)
    code = verdict.code
    if not fault and np.count_nonzero(code) and (code.min() < 0 or code.max() > LAST_CODE):
        codes = sorted({*code.tolist()} - {0})
        fault = f"returned codes {codes}, not all of which there are"
    return fault


def call_score(plugin: ScorePlugin[object], state: object, pod: PodInfo, nodes: Nodes) -> Scores:
    """Ask for raw scores. Raises PluginFailure, also for a column of a wrong shape or type."""
    scores = call("Score", plugin.name, pod, plugin.score, state, pod, nodes)
    return _scores("Score", plugin.name, pod, scores, nodes.n)


def call_normalize_score(
    plugin: NormalizeScorePlugin[object], state: object, pod: PodInfo, nodes: Nodes, raw: Scores
) -> Scores:
    """Ask for normalised scores. Raises PluginFailure as `call_score` does."""
    scores = call(
        "NormalizeScore", plugin.name, pod, plugin.normalize_score, state, pod, nodes, raw
    )
    return _scores("NormalizeScore", plugin.name, pod, scores, nodes.n)


class NodeCalls(Protocol):
    """Calls Filter and Score plugins about one pod and some nodes, or answers in their place."""

    def filter(
        self, plugin: FilterPlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Verdict: ...

    def score(
        self, plugin: ScorePlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> PluginScore:
        """Return a plugin's scores, normalised."""


class PluginCalls:
    """Calls the plugins of one profile up to Score; `weights` are those of its Score plugins."""

    def __init__(self, plugins: Iterable[Plugin], weights: Mapping[str, int]) -> None:
        self._weights = weights
        self._normalizers = {
            plugin.name: plugin for plugin in plugins if implements(plugin, NormalizeScorePlugin)
        }

    def pre_filter(
        self, plugin: PreFilterPlugin, pod: PodInfo, nodes: Nodes
    ) -> Prepared[object] | Status:
        return call("PreFilter", plugin.name, pod, plugin.pre_filter, pod, nodes)

    def pre_score(
        self, plugin: PreScorePlugin, prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[object] | Status:
        return call("PreScore", plugin.name, pod, plugin.pre_score, prepared, pod, nodes)

    def about(self, pod: PodInfo, nodes: Nodes) -> NodeCalls:
        """Return what calls Filter and Score plugins about a pod and any part of `nodes`."""
        return self

    def filter(
        self, plugin: FilterPlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Verdict:
        return call_filter(plugin, prepared, pod, nodes)

    def score(
        self, plugin: ScorePlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> PluginScore:
        raw = call_score(plugin, prepared, pod, nodes)
        return self.normalize(plugin, prepared, pod, nodes, raw)

    def normalize(
        self,
        plugin: ScorePlugin[object],
        prepared: object,
        pod: PodInfo,
        nodes: Nodes,
        raw: Scores,
    ) -> PluginScore:
        """Normalise raw scores if the plugin does so, and see whether they are on the scale."""
        name, normalized = plugin.name, raw
        if (normalizer := self._normalizers.get(name)) is not None:
            normalized = call_normalize_score(normalizer, prepared, pod, nodes, raw)
        fault = scale_fault(name, normalized)
        return PluginScore(name, self._weights[name], raw, normalized, fault)


def in_words(error: Exception) -> str:
    """Say what was raised and where in the plugin: `KeyError: 'rack' (rack_sibling.py:31)`."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = list(_frames(error.__traceback__))
    while len(frames) > 1 and _is_between(frames[0]):
        del frames[0]
    if not frames or _is_between(frames[0]):
        return text
    file = frames[0].tb_frame.f_code.co_filename
    line = next(f.tb_lineno for f in reversed(frames) if f.tb_frame.f_code.co_filename == file)
    return f"{text} ({file.replace(chr(92), '/').rpartition('/')[2]}:{line})"


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_between(frame: TracebackType) -> bool:
    """Return whether it is of the code that calls plugins, and so none of a plugin."""
    module = str(frame.tb_frame.f_globals.get("__name__", ""))
    return module.startswith(_CALLERS)


_CALLERS: Final = (
    "scheduler_core.framework.",
    "scheduler_core.registry",
    "scheduler_core.scheduler.",
)


def _scores(point: str, plugin: str, pod: PodInfo, scores: Scores, n: int) -> Scores:
    if fault := _column_fault("scores", scores, INT64, n):
        raise PluginFailure(plugin, point, pod.key, fault)
    return scores


def _column_fault(
    name: str, column: npt.NDArray[np.generic], dtype: np.dtype[np.generic], n: int
) -> str:
    """Return what is wrong with a column that must be `dtype` (n,), empty if nothing is."""
    if isinstance(column, np.ndarray) and column.dtype == dtype and column.shape == (n,):
        return ""
    wanted = f"{dtype} {(n,)}"
    if not isinstance(column, np.ndarray):
        return f"returned {name} of type {type(column).__name__}, not an array {wanted}"
    return f"returned {name} {column.dtype} {column.shape}, not {wanted}"


def fault_of(answer: object, wanted: tuple[type, ...]) -> str:
    """Return what is wrong with an answer that must be one of `wanted`, empty if nothing is."""
    if not isinstance(answer, wanted):
        kinds = " or ".join("None" if kind is type(None) else kind.__name__ for kind in wanted)
        got = "None" if answer is None else type(answer).__name__
        return f"returned {got}, not {kinds}"
    if isinstance(answer, Verdict):
        return "" if _are_texts(answer.texts) else "returned texts that are no tuple of strings"
    if isinstance(answer, Prepared):
        names = answer.node_names
        if names is None or isinstance(names, frozenset):
            return ""
        return f"returned node_names as {type(names).__name__}, not frozenset"
    if isinstance(answer, Status):
        return _status_fault(answer)
    if isinstance(answer, (PermitOutcome, PostFilterOutcome)):
        return _status_fault(answer.status)
    return ""


def _status_fault(status: Status) -> str:
    if not isinstance(status, Status):
        return f"returned a status of type {type(status).__name__}, not Status"
    if not isinstance(status.code, Code):
        return f"returned the code {status.code!r}, which is no Code"
    if not _are_texts(status.reasons):
        return f"returned the reasons {status.reasons!r}, which are no tuple of strings"
    return ""


def _are_texts(texts: object) -> bool:
    return texts == () or (
        isinstance(texts, tuple) and all(isinstance(text, str) for text in texts)
    )
