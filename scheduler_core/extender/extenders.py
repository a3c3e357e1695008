"""All extenders of a scheduler: which is called when, and what the replies do.

Upstream: v1.36 pkg/scheduler/schedule_one.go (findNodesThatPassExtenders, prioritizeNodes,
extendersBinding), scheduler.go (buildExtenders) and framework/preemption (callExtenders). Upstream
calls prioritizers at the same time; here they are called in turn, which gives the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import Extender
from scheduler_core.extender import answers, wire
from scheduler_core.extender.answers import AnswerError
from scheduler_core.extender.client import Exchange, HTTPExtender
from scheduler_core.extender.go_json import GoJSONError
from scheduler_core.extender.transport import Transport
from scheduler_core.framework.extenders import Candidate, ExtenderCall, PreemptionAnswer
from scheduler_core.framework.status import Status
from scheduler_core.trace.records import ExtenderVerb

SCALE: Final = 10
"""Extenders score from 0 to 10, plugins from 0 to 100."""

MAX_RESPONSE_CHARS: Final = 1_000
"""How much of an answer's text goes into the trace."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """The nodes that extenders leave, why others went, or an error that ends the cycle.

    `statuses` are by node name, also of nodes nobody knows; nodes dropped without a reason have
    none. Later extenders overwrite earlier ones.
    """

    nodes: Nodes
    statuses: dict[str, Status]
    calls: tuple[ExtenderCall, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """Scores int64 (n,) of all extenders together, to be counted `weight` times.

    `scored` bool (n,) are the nodes that some extender named, with whatever score.
    """

    raw: IntArray
    weight: int
    scored: BoolArray
    calls: tuple[ExtenderCall, ...]


@dataclass(frozen=True, slots=True)
class BindAnswer:
    """Whether an extender took the binding on; if so, `error` is empty when it succeeded."""

    taken: bool
    calls: tuple[ExtenderCall, ...]
    error: str = ""


class Extenders:
    """The extenders in the order in which they are called: ignorable ones last."""

    def __init__(
        self, configs: Sequence[Extender], transport: Transport, cluster: ClusterColumns
    ) -> None:
        made = [HTTPExtender(config, transport) for config in configs]
        self._extenders = sorted(made, key=lambda extender: extender.ignorable)
        self._cluster = cluster
        self.may_filter = any(extender.filter_verb for extender in made)
        self.may_prioritize = any(extender.prioritize_verb for extender in made)

    # ------------------------------------------------------------ filter

    def filter(self, pod: PodInfo, feasible: Nodes) -> FilterAnswer:
        """Let interested extenders drop nodes, each of what the one before left."""
        nodes = feasible
        statuses: dict[str, Status] = {}
        calls: list[ExtenderCall] = []
        for extender in self._extenders:
            if nodes.n == 0:
                break
            if not extender.filter_verb or not extender.is_interested(pod):
                continue
            exchange = extender.send_nodes(extender.filter_verb, pod, nodes)
            result, error = _read(exchange, _filter_result)
            left = nodes
            if result is not None:
                try:
                    left = answers.nodes_left(extender, result, nodes)
                except AnswerError as wrong:
                    result, error = None, str(wrong)
            failed = {} if result is None else answers.failed_statuses(result)
            summary = "" if error else answers.filter_summary(failed, nodes, left)
            call = _call(extender, "filter", pod, exchange, error, summary, (nodes.n, left.n))
            call = replace(call, removed=answers.removed(failed, nodes, left))
            calls.append(call)
            if error and not call.ignored:
                return FilterAnswer(nodes, statuses, tuple(calls), error)
            statuses |= failed
            nodes = left
        return FilterAnswer(nodes, statuses, tuple(calls))

    # ------------------------------------------------------------ prioritize

    def prioritize(self, pod: PodInfo, nodes: Nodes) -> ScoreAnswer:
        """Add up what interested extenders think of nodes; those that fail have no say."""
        calls: list[ExtenderCall] = []
        scored: list[tuple[IntArray, int]] = []
        named = np.zeros(nodes.n, np.bool_)
        for extender in self._extenders:
            if not extender.prioritize_verb or not extender.is_interested(pod):
                continue
            exchange = extender.send_nodes(extender.prioritize_verb, pod, nodes)
            priorities, error = _read(exchange, wire.host_priorities)
            counts = (nodes.n, nodes.n)
            call = _call(extender, "prioritize", pod, exchange, error, "", counts)
            if priorities is not None:
                scores, weight = answers.scores_of(priorities, nodes), extender.weight * SCALE
                by_node = dict(zip(nodes.names, scores.tolist(), strict=True))
                summary = answers.scores_summary(scores, weight)
                call = replace(call, summary=summary, scores=by_node, weight=weight)
                scored.append((scores, extender.weight))
                named |= answers.named_in(priorities, nodes)
            calls.append(call)
        if len(scored) == 1:
            raw, weight = scored[0]
            return ScoreAnswer(raw, answers.wrapped(weight * SCALE), named, tuple(calls))
        total = np.zeros(nodes.n, np.int64)
        for scores, weight in scored:
            total += scores * weight
        return ScoreAnswer(total, SCALE, named, tuple(calls))

    # ------------------------------------------------------------ preempt

    def process_preemption(self, pod: PodInfo, candidates: Sequence[Candidate]) -> PreemptionAnswer:
        """Let interested extenders narrow the candidates, one after the other."""
        left = tuple(candidates)
        calls: list[ExtenderCall] = []
        for extender in self._extenders:
            if not left:
                break
            if not extender.preempt_verb or not extender.is_interested(pod):
                continue
            exchange = extender.send_candidates(pod, left)
            wanted, error = _read(exchange, wire.preemption_result)
            chosen = left
            if wanted is not None:
                try:
                    chosen = answers.candidates_left(extender, wanted, left, self._cluster)
                except AnswerError as wrong:
                    error = str(wrong)
            summary = "" if error else answers.candidates_summary(left, chosen)
            counts = (len(left), len(chosen))
            call = _call(extender, "preempt", pod, exchange, error, summary, counts)
            call = replace(call, removed=answers.candidates_removed(left, chosen))
            calls.append(call)
            if error and not call.ignored:
                return PreemptionAnswer((), tuple(calls), error)
            left = chosen
        return PreemptionAnswer(left, tuple(calls))

    # ------------------------------------------------------------ bind

    def bind(self, pod: PodInfo, node_name: str) -> BindAnswer:
        """Have the first interested binder bind; an ignorable one that fails is passed over."""
        calls: list[ExtenderCall] = []
        for extender in self._extenders:
            if not extender.bind_verb or not extender.is_interested(pod):
                continue
            exchange = extender.send_binding(pod, node_name)
            said, error = _read(exchange, wire.binding_error)
            error = error or said or ""
            summary = "" if error else f"binds to {node_name}"
            call = _call(extender, "bind", pod, exchange, error, summary, (1, 1))
            calls.append(call)
            if not call.ignored:
                return BindAnswer(True, tuple(calls), error)
        return BindAnswer(False, tuple(calls))


def _read(exchange: Exchange, decode: Callable[[bytes], T]) -> tuple[T | None, str]:
    """Return the decoded answer, or None and the error."""
    if exchange.error:
        return None, exchange.error
    try:
        return decode(exchange.body), ""
    except (GoJSONError, AnswerError) as bad:
        return None, str(bad)


def _filter_result(body: bytes) -> wire.FilterResult:
    result = wire.filter_result(body)
    if result.error:
        raise AnswerError(result.error)
    return result


def _call(
    extender: HTTPExtender,
    verb: ExtenderVerb,
    pod: PodInfo,
    exchange: Exchange,
    error: str,
    summary: str,
    counts: tuple[int, int],
) -> ExtenderCall:
    return ExtenderCall(
        extender=extender.name,
        verb=verb,
        pod=pod,
        n_in=counts[0],
        n_out=counts[1],
        duration_ns=exchange.duration_ns,
        summary=summary,
        error=error,
        status=exchange.status,
        response=exchange.body[: 4 * MAX_RESPONSE_CHARS].decode(errors="replace")[
            :MAX_RESPONSE_CHARS
        ],
        ignored=bool(error) and (extender.ignorable or verb == "prioritize"),
        whole_nodes=verb != "bind" and not extender.node_cache_capable,
        n_request_bytes=exchange.n_request_bytes,
        n_response_bytes=len(exchange.body),
    )
