"""The decision of a scheduling cycle: from PreFilter to a picked node, or to PostFilter.

It reads the cluster and changes nothing in it. What becomes of it is the scheduler's business
(`cycle.py`); a preview stops here.

Upstream: v1.36 pkg/scheduler/schedule_one.go (schedulingCycle, schedulePod).
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.status import SUCCESS
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.scheduler.algorithm import SchedulingAlgorithm
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.cycle_trace import CycleTrace
from scheduler_core.scheduler.outcome import (
    NO_NODES_AVAILABLE,
    Failed,
    NotScheduled,
    Unschedulable,
    no_node_fits,
)

CycleObserver = Callable[[Cycle], None]


def decide(
    cycle: Cycle, algorithm: SchedulingAlgorithm, trace: CycleTrace, on_decision: CycleObserver
) -> NotScheduled | None:
    """Find the cycle's `suggested_host`; return how the cycle ends if there is none."""
    if cycle.nodes.n == 0:
        return Unschedulable(NO_NODES_AVAILABLE)

    # PreFilter may reject the pod as a whole, before any node is looked at, or leave only
    # the nodes that could fit at all. Preemption may help against either.
    pre_filter = algorithm.pre_filter(cycle)
    trace.pre_filter(cycle, pre_filter)
    if pre_filter.status.is_rejected:
        return _post_filter(cycle, trace, on_decision)
    if not pre_filter.status.is_success:
        return Failed(pre_filter.status.message)

    # Filter. The node on which an earlier preemption made room is tried before all others:
    # anybody else's node would let that room, and the victims, go to waste.
    filtering = algorithm.evaluate_nominated_node(cycle) or algorithm.find_feasible_nodes(cycle)
    trace.filter(cycle, filtering)
    if filtering.error:
        return Failed(filtering.error)
    if filtering.feasible.n == 0:
        return _post_filter(cycle, trace, on_decision)

    # PreScore, Score and the pick. A single feasible node is taken without being scored:
    # there is nothing to compare it with.
    if filtering.feasible.n == 1:
        cycle.suggested_host = filtering.feasible.name(0)
        trace.only_node(cycle)
    else:
        scoring = algorithm.prioritize(cycle.framework, cycle.state, cycle.pod, filtering.feasible)
        trace.scoring(cycle, filtering.feasible, scoring)
        if scoring.error:
            return Failed(scoring.error)
        cycle.scoring = scoring
        cycle.suggested_host = filtering.feasible.name(scoring.picked)
    if cycle.batch is not None:
        totals = cycle.scoring.totals if cycle.scoring is not None else None
        cycle.batch.store(cycle.suggested_host, filtering.feasible, totals)
    on_decision(cycle)
    return None


def _post_filter(cycle: Cycle, trace: CycleTrace, on_decision: CycleObserver) -> Unschedulable:
    """Let PostFilter plugins make room for a later attempt, by preemption above all."""
    on_decision(cycle)
    framework, diagnosis = cycle.framework, cycle.diagnosis
    if not framework.has_post_filter_plugins:
        return no_node_fits(diagnosis, PostFilterOutcome(SUCCESS, OVERRIDE, ""))
    outcome = framework.run_post_filter(cycle.state, cycle.pod, diagnosis)
    cycle.post_filter = outcome
    diagnosis.post_filter_message = outcome.status.message
    trace.post_filter(outcome)
    return no_node_fits(diagnosis, outcome)
