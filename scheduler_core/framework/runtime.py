"""Runs the plugins of one profile at each extension point, and says what they answered.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.devices.survey import DeviceSurvey, SurveysDevices
from scheduler_core.framework.dependence import dependence_of
from scheduler_core.framework.diagnosis import Diagnosis, VerdictBuilder, Verdicts
from scheduler_core.framework.handle import PodNominator
from scheduler_core.framework.interface import (
    BindPlugin,
    FilterPlugin,
    NeedsPreScore,
    NotesInFilter,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterOutcome,
    PostFilterPlugin,
    PreBindPlugin,
    PreBindPreFlightPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    Prepared,
    PreScorePlugin,
    Queued,
    QueueSortPlugin,
    Refilter,
    ReservePlugin,
    ScorePlugin,
    implements,
)
from scheduler_core.framework.memo import Memo
from scheduler_core.framework.nominated import NominatedPods
from scheduler_core.framework.plugin_calls import (
    call,
    call_filter,
)
from scheduler_core.framework.pod_signer import PodSigner
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.signatures import PodSignature
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict

P = TypeVar("P", bound=Plugin)
R = TypeVar("R")

MAX_PERMIT_TIMEOUT_NS = 15 * 60 * 10**9


@dataclass
class CycleState:
    """What one cycle's plugins have prepared, by plugin name (upstream: CycleState).

    `pre_filter` and `pre_score` hold each plugin's typed value; the skipped plugins take no
    further part in the coupled points of this cycle.
    """

    pre_filter: dict[str, object] = field(default_factory=dict)
    pre_score: dict[str, object] = field(default_factory=dict)
    skip_filter: set[str] = field(default_factory=set)
    skip_score: set[str] = field(default_factory=set)
    skip_pre_bind: set[str] = field(default_factory=set)

    def aside(self) -> CycleState:
        """Return a state to filter with whose notes nobody reads: itself if nobody takes any."""
        copies = {
            name: prepared.aside()
            for name, prepared in self.pre_filter.items()
            if name not in self.skip_filter and isinstance(prepared, NotesInFilter)
        }
        return replace(self, pre_filter=self.pre_filter | copies) if copies else self


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """`node_names` is None unless plugins narrowed the nodes; `narrowed_by` says which did."""

    status: Status
    node_names: frozenset[str] | None
    narrowed_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class PermitResult:
    """Permit's combined status; the plugins that wait, each with its timeout in ns."""

    status: Status
    waits_ns: Mapping[str, int]


class Framework:
    """The plugins of one profile, attached to their extension points."""

    def __init__(
        self,
        profile_name: str,
        points: Mapping[ExtensionPoint, Sequence[tuple[Plugin, int]]],
        nominator: PodNominator,
        percentage_of_nodes_to_score: int | None,
    ) -> None:
        self.profile_name = profile_name
        self.points = points
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        self.nominator = nominator
        self._nominated = NominatedPods()
        self._pre_enqueue = self._at(ExtensionPoint.PRE_ENQUEUE, PreEnqueuePlugin)
        self._queue_sort = self._at(ExtensionPoint.QUEUE_SORT, QueueSortPlugin)
        self._pre_filter = self._at(ExtensionPoint.PRE_FILTER, PreFilterPlugin)
        self._filter = self._at(ExtensionPoint.FILTER, FilterPlugin)
        self._post_filter = self._at(ExtensionPoint.POST_FILTER, PostFilterPlugin)
        self._pre_score = self._at(ExtensionPoint.PRE_SCORE, PreScorePlugin)
        self._score = self._at(ExtensionPoint.SCORE, ScorePlugin)
        self._with_pre_score = {
            plugin.name for plugin in self._score if implements(plugin, PreScorePlugin)
        }
        self.score_error = self._find_score_error()
        """Why Score fails in every cycle of this profile; empty if it does not."""
        self._reserve = self._at(ExtensionPoint.RESERVE, ReservePlugin)
        self._permit = self._at(ExtensionPoint.PERMIT, PermitPlugin)
        self._pre_bind = self._at(ExtensionPoint.PRE_BIND, PreBindPlugin)
        self._bind = self._at(ExtensionPoint.BIND, BindPlugin)
        self._post_bind = self._at(ExtensionPoint.POST_BIND, PostBindPlugin)
        self._pre_flights = {
            plugin.name: plugin
            for plugin in self._pre_bind
            if implements(plugin, PreBindPreFlightPlugin)
        }
        self._reads_other_nodes = {
            plugin.name for plugin in self._filter if not dependence_of(plugin).per_node.is_local
        }
        weights = {plugin.name: weight for plugin, weight in points.get(ExtensionPoint.SCORE, ())}
        evaluating = [*self._pre_filter, *self._filter, *self._pre_score, *self._score]
        # PluginCalls in place of Memo calls every plugin in every cycle, to the same end.
        self._calls = Memo(evaluating, weights)
        self._signer = PodSigner(evaluating)

    @property
    def plugins(self) -> Mapping[str, Plugin]:
        """All plugins of the profile, by name."""
        return {plugin.name: plugin for point in self.points.values() for plugin, _ in point}

    def _at(self, point: ExtensionPoint, protocol: type[P]) -> list[P]:
        plugins = (plugin for plugin, _ in self.points.get(point, ()))
        return [plugin for plugin in plugins if implements(plugin, protocol)]

    def sort_key(self, queued: Queued) -> tuple[int, ...]:
        """Return a key whose ascending order is the order in which pods are tried."""
        plugin = self._queue_sort[0]
        return call("QueueSort", plugin.name, queued.pod, plugin.sort_key, queued)

    @property
    def pre_enqueue_plugins(self) -> Sequence[PreEnqueuePlugin]:
        return self._pre_enqueue

    @property
    def has_post_filter_plugins(self) -> bool:
        return bool(self._post_filter)

    @property
    def has_score_plugins(self) -> bool:
        return bool(self._score)

    def sign_pod(self, pod: PodInfo) -> PodSignature | None:
        """Return the pod's signature, None if some plugin cannot sign it."""
        return self._signer.sign(pod)

    # ------------------------------------------------------------ filtering

    def run_pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> PreFilterResult:
        """Let plugins prepare the cycle; an unresolvable rejection ends it at once."""
        rejection: Status = SUCCESS
        names: frozenset[str] | None = None
        narrowed_by: set[str] = set()
        for plugin in self._pre_filter:
            outcome = self._calls.pre_filter(plugin, pod, nodes)
            if isinstance(outcome, Prepared):
                state.pre_filter[plugin.name] = outcome.state
                outcome = outcome.rejection or outcome
            if isinstance(outcome, Prepared):
                if outcome.skip:
                    state.skip_filter.add(plugin.name)
                if outcome.node_names is not None:
                    narrowed_by.add(plugin.name)
                    names = outcome.node_names if names is None else names & outcome.node_names
                if names is not None and not names:
                    return PreFilterResult(
                        _nothing_left(narrowed_by), names, frozenset(narrowed_by)
                    )
            elif outcome.is_skip:
                state.skip_filter.add(plugin.name)
            elif outcome.is_success:
                continue
            elif outcome.code is Code.UNSCHEDULABLE:
                rejection = outcome.by(plugin.name)
            elif outcome.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PreFilterResult(outcome.by(plugin.name), None, frozenset())
            else:
                text = f'running PreFilter plugin "{plugin.name}": {outcome.message}'
                return PreFilterResult(Status(Code.ERROR, (text,), plugin.name), None, frozenset())
        return PreFilterResult(rejection, names, frozenset(narrowed_by))

    def run_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Filter nodes plugin by plugin; the first rejection of a node counts."""
        builder = VerdictBuilder(nodes.n)
        at, remaining = None, nodes
        calls = self._calls.about(pod, nodes)
        for plugin in self._filter:
            if plugin.name in state.skip_filter:
                continue
            prepared = state.pre_filter.get(plugin.name)
            verdict = calls.filter(plugin, prepared, pod, remaining)
            if np.count_nonzero(verdict.code):
                builder.add(plugin.name, np.arange(nodes.n) if at is None else at, verdict)
                at = builder.undecided()
                remaining = nodes.take(at)
                if not at.size:
                    break
        return builder.build()

    def run_filter_individually(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> dict[str, Verdict]:
        """Call every Filter plugin about every node, as if the others were not there.

        The scheduler itself never does this: it stops at a node's first rejection. It answers
        which other plugins would have rejected a node too. Nominated pods are left out.
        """
        return {
            plugin.name: call_filter(plugin, state.pre_filter.get(plugin.name), pod, nodes)
            for plugin in self._filter
            if plugin.name not in state.skip_filter
        }

    def survey_devices(self, pod: PodInfo, nodes: Nodes) -> DeviceSurvey:
        """Return what became of each device; empty if the profile has no plugin about devices."""
        for plugin in self._filter:
            if isinstance(plugin, SurveysDevices):
                return plugin.survey(pod, nodes)
        return DeviceSurvey()

    def run_filter_with_nominated_pods(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> Verdicts:
        """Filter nodes; those with nominated pods that matter must fit with and without them.

        They are filtered with them first, and no further if that rejects them: what they would be
        without is asked only so that the trace can say it.
        """
        changes = self.nominated_changes(pod, nodes)
        if not changes:
            return self.run_filter(state, pod, nodes)
        at = np.fromiter(changes, np.int64)
        crowd = nodes.take(at).with_changes(list(changes.values()))
        counting = self.run_filter(state, pod, crowd)
        builder = VerdictBuilder(nodes.n)
        everywhere, aside = np.arange(nodes.n), state.aside()
        if aside is state:
            builder.merge(everywhere, self.run_filter(state, pod, nodes))
        else:
            rejected = at[~counting.fits]
            others = np.delete(everywhere, rejected)
            builder.merge(others, self.run_filter(state, pod, nodes.take(others)))
            builder.merge(rejected, self.run_filter(aside, pod, nodes.take(rejected)))
        builder.merge_crowded(at, counting, crowd)
        return builder.build()

    def nominated_changes(self, pod: PodInfo, nodes: Nodes) -> dict[int, Change]:
        """Return which nodes, by ascending position, have nominated pods that matter to a pod."""
        return self._nominated.changes(self.nominator.nominated_by_node(), pod, nodes)

    def is_node_local(self, state: CycleState) -> bool:
        """Return whether every Filter plugin that takes part in the cycle is node-local."""
        return self._reads_other_nodes <= state.skip_filter

    def run_post_filter(
        self, state: CycleState, pod: PodInfo, diagnosis: Diagnosis
    ) -> PostFilterOutcome:
        """Let plugins make room; the first success, error or unresolvable rejection ends it."""
        meant: PostFilterOutcome | None = None
        report: object = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self._post_filter:
            prepared, refilter = state.pre_filter.get(plugin.name), self.refilter(state, pod)
            ask = plugin.post_filter
            outcome = call("PostFilter", plugin.name, pod, ask, prepared, pod, diagnosis, refilter)
            status = outcome.status
            if status.is_success:
                return outcome
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE or not status.is_rejected:
                final = replace(outcome, status=status.by(plugin.name))
                return final if status.is_rejected else replace(final, nominating="")
            if outcome.nominating == "override":
                meant = outcome
            reasons.extend(status.reasons)
            rejector = rejector or plugin.name
            report = report or outcome.report
        combined = Status(Code.UNSCHEDULABLE, tuple(reasons), rejector)
        return replace(meant or PostFilterOutcome(combined), status=combined, report=report)

    def refilter(self, state: CycleState, pod: PodInfo) -> Refilter:
        """Return what runs a cycle's Filter plugins over any view of nodes."""
        return _Refilter(self, state, pod)

    # ------------------------------------------------------------ scoring

    def run_pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Let plugins prepare scoring of the feasible `nodes`."""
        for plugin in self._pre_score:
            prepared = state.pre_filter.get(plugin.name)
            outcome = self._calls.pre_score(plugin, prepared, pod, nodes)
            if isinstance(outcome, Prepared):
                state.pre_score[plugin.name] = outcome.state
            elif outcome.is_skip:
                state.skip_score.add(plugin.name)
            elif not outcome.is_success:
                text = f'running PreScore plugin "{plugin.name}": {outcome.message}'
                return Status(Code.ERROR, (text,), plugin.name)
        return SUCCESS

    def _find_score_error(self) -> str:
        prepared = {plugin.name for plugin in self._pre_score}
        for plugin in self._score:
            if implements(plugin, NeedsPreScore) and plugin.name not in prepared:
                name, error = plugin.name, plugin.no_pre_score
                return f'running Score plugins: plugin "{name}" failed with: {error}'
        return ""

    def run_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> list[PluginScore]:
        """Score and normalise the feasible `nodes`, plugin by plugin, if `score_error` is empty."""
        calls = self._calls.about(pod, nodes)
        return [
            calls.score(plugin, self.prepared_for_score(state, plugin), pod, nodes)
            for plugin in self._score
            if plugin.name not in state.skip_score
        ]

    def prepared_for_score(self, state: CycleState, plugin: Plugin) -> object:
        """Return what PreScore prepared, or PreFilter for a plugin that has no PreScore."""
        has_pre_score = plugin.name in self._with_pre_score
        return (state.pre_score if has_pre_score else state.pre_filter).get(plugin.name)

    # ------------------------------------------------------------ reserving and binding

    def run_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        for plugin in self._reserve:
            status = _call("Reserve", plugin, plugin.reserve, state, pod, node_name)
            if not status.is_success:
                return _refused(status, "Reserve", plugin.name)
        return SUCCESS

    def run_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Sequence[str]:
        """Undo Reserve, last plugin first; return the plugins in this order."""
        plugins = self._reserve[::-1]
        for plugin in plugins:
            _call("Unreserve", plugin, plugin.unreserve, state, pod, node_name)
        return [plugin.name for plugin in plugins]

    def run_permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        """Ask for permission; a rejection counts at once, waiting only when nobody rejects."""
        waits_ns: dict[str, int] = {}
        for plugin in self._permit:
            outcome = _call("Permit", plugin, plugin.permit, state, pod, node_name)
            if outcome.status.code is Code.WAIT:
                waits_ns[plugin.name] = min(outcome.timeout_ns, MAX_PERMIT_TIMEOUT_NS)
            elif not outcome.status.is_success:
                return PermitResult(_refused(outcome.status, "Permit", plugin.name), {})
        if not waits_ns:
            return PermitResult(SUCCESS, {})
        text = "one or more plugins asked to wait and no plugin rejected pod"
        return PermitResult(Status(Code.WAIT, (text,)), waits_ns)

    def run_pre_bind_pre_flights(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Ask whether PreBind will have work: SKIP if for no plugin, else SUCCESS, or an error."""
        combined = SKIP
        for plugin in self._pre_bind:
            status = self._pre_flight(plugin, state, pod, node_name)
            if status.is_skip:
                state.skip_pre_bind.add(plugin.name)
            elif status.is_success:
                combined = SUCCESS
            elif status.code is Code.ERROR:
                text = f'running PreBindPreFlight "{plugin.name}": {status.message}'
                return Status(Code.ERROR, (text,))
            else:
                text = (
                    f'PreBindPreFlight {plugin.name} returned "{status.code.label}", which is '
                    "unsupported. It is supposed to return Success, Skip, or Error status"
                )
                return Status(Code.ERROR, (text,))
        return combined

    def _pre_flight(
        self, plugin: PreBindPlugin[object], state: CycleState, pod: PodInfo, node_name: str
    ) -> Status:
        asked = self._pre_flights.get(plugin.name)
        if asked is None:
            return SUCCESS
        return _call("PreBindPreFlight", asked, asked.pre_bind_pre_flight, state, pod, node_name)

    def pre_bind_plugin_at_work(self, state: CycleState) -> str:
        """Return the first plugin that has PreBind work for the pod."""
        names = (plugin.name for plugin in self._pre_bind)
        return next((name for name in names if name not in state.skip_pre_bind), "")

    def run_pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        for plugin in self._pre_bind:
            if plugin.name in state.skip_pre_bind:
                continue
            status = _call("PreBind", plugin, plugin.pre_bind, state, pod, node_name)
            if not status.is_success:
                return _refused(status, "PreBind", plugin.name)
        return SUCCESS

    def run_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Let the first plugin bind that does not skip."""
        for plugin in self._bind:
            status = _call("Bind", plugin, plugin.bind, state, pod, node_name)
            if status.is_skip:
                continue
            return status if status.is_success else _refused(status, "Bind", plugin.name)
        return Status(Code.SKIP)

    def run_post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        for plugin in self._post_bind:
            _call("PostBind", plugin, plugin.post_bind, state, pod, node_name)


def _call(
    point: str,
    plugin: Plugin,
    method: Callable[[object, PodInfo, str], R],
    state: CycleState,
    pod: PodInfo,
    node_name: str,
) -> R:
    """Call a plugin about a pod and its node, with what the plugin's PreFilter prepared."""
    prepared = state.pre_filter.get(plugin.name)
    return call(point, plugin.name, pod, method, prepared, pod, node_name)


@dataclass(frozen=True, slots=True)
class _Refilter:
    framework: Framework
    state: CycleState
    pod: PodInfo

    @property
    def is_node_local(self) -> bool:
        return self.framework.is_node_local(self.state)

    def __call__(self, nodes: Nodes) -> Verdicts:
        return self.framework.run_filter_with_nominated_pods(self.state, self.pod, nodes)


def _nothing_left(narrowed_by: set[str]) -> Status:
    names = sorted(narrowed_by)
    if len(names) == 1:
        text = f"node(s) didn't satisfy plugin {names[0]}"
    else:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously"
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))


def _refused(status: Status, point: str, plugin: str) -> Status:
    """Attribute a rejection to its plugin; anything else becomes an error that names it."""
    if status.is_rejected:
        return status.by(plugin)
    text = f'running {point} plugin "{plugin}": {status.message}'
    return Status(Code.ERROR, (text,), plugin)
