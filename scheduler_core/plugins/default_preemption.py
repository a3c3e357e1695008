"""DefaultPreemption: make room for a pod that fits nowhere by evicting lesser ones.

Upstream: v1.36 plugins/defaultpreemption and framework/preemption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler_core.api import PodDisruptionBudget
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import DefaultPreemptionArgs
from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.extenders import Candidate, PreemptionExtenders
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import NodeToStatus, PostFilterOutcome, Refilter
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.preemption.budgets import Budgets
from scheduler_core.preemption.dry_run import dry_run
from scheduler_core.preemption.memo import DryRunMemo
from scheduler_core.preemption.pick import pick_one_node
from scheduler_core.preemption.report import DryRun, PreemptionReport

NEVER = "Never"
PREEMPTED = ("True", "PreemptionByScheduler")
NOT_HELPFUL = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("Preemption is not helpful for scheduling",)
)
WAITING = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ("waiting for the preemption for this pod to be finished",),
)


class DefaultPreemption:
    """Evict the fewest and least important pods that let the pod in, on one node.

    Dry runs go over the nodes where only resources, ports and the like are short; the pod is
    nominated for the best of them. Victims are deleted after the attempt; until then PreEnqueue
    holds the pod back.
    """

    name = "DefaultPreemption"
    depends_on = DependsOn()

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._names_placement = handle.features.switches.placement_in_message
        self._spares_budgets = handle.features.switches.budgets_spared
        self._activates = handle.features.switches.preemptors_activated
        self._is_async = handle.features.enabled("SchedulerAsyncPreemption")
        self._preempting: set[str] = set()
        self._last_victim: dict[str, str] = {}
        self._dry_runs = DryRunMemo()

    def take_over(self, other: object) -> None:
        """Go on with the dry runs of another, of whose cluster this one's is a copy."""
        assert isinstance(other, DefaultPreemption)
        self._dry_runs = other._dry_runs.fork()

    def take_back(self, other: object) -> None:
        """Take over the dry runs of another that still hold in the cluster where it began."""
        assert isinstance(other, DefaultPreemption)
        revision = self._handle.objects.revision(PodDisruptionBudget)
        self._dry_runs = other._dry_runs.as_of(self._handle.cluster, revision)

    # ------------------------------------------------------------ PreEnqueue

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Hold a pod back while its victims are still being deleted."""
        return WAITING if self._is_running_preemption(pod.uid) else SUCCESS

    def last_victim(self, pod: PodInfo) -> str:
        """Return the victim whose deletion lets a pod back, empty while it is not known."""
        return self._last_victim.get(pod.uid, "")

    def _is_running_preemption(self, uid: str) -> bool:
        if uid not in self._preempting:
            return False
        if uid not in self._last_victim:
            return True
        victim = self._handle.live_pod(self._last_victim[uid])
        return victim is not None and victim.metadata.deletion_timestamp is None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Register for deleted pods, only to be looked at again by PreEnqueue."""
        if not self._is_async:
            return ()
        deleted = ClusterEvent(EventResource.POD, ActionType.DELETE)
        return (ClusterEventWithHint(deleted, lambda pod, old, new: QueueingHint.SKIP),)

    # ------------------------------------------------------------ PostFilter

    def post_filter(
        self, state: None, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PostFilterOutcome:
        """Nominate the node where evicting is cheapest, or say why it would not help."""
        live = self._handle.live_pod(pod.key)
        if live is None:
            text = f'pod "{pod.pod.name}" not found'
            return PostFilterOutcome(Status(Code.ERROR, (f"preemption: {text}",)))
        pod = self._handle.cluster.templates.info(live)
        if reason := self.why_ineligible(pod, statuses):
            status = Status(Code.UNSCHEDULABLE, (f"preemption: {reason}",))
            return PostFilterOutcome(status, report=PreemptionReport(ineligible=reason))
        report = self._find_candidates(pod, statuses, refilter)
        candidates: Sequence[DryRun] = report.candidates
        if not candidates:
            return self._no_candidates(report)
        if self._handle.extenders is not None:
            candidates, report, error = _ask_extenders(
                self._handle.extenders, pod, candidates, report
            )
            if error or not candidates:
                code = Code.ERROR if error else Code.UNSCHEDULABLE
                text = error or "no candidate node for preemption"
                return PostFilterOutcome(Status(code, (f"preemption: {text}",)), report=report)
        winner, criteria = pick_one_node(candidates, self._handle.now_ns(), self._handle.break_tie)
        self._evict(pod, winner)
        report = replace(
            report,
            criteria=tuple(criteria),
            winner=winner.node_name,
            victims=winner.victims,
        )
        return PostFilterOutcome(
            self._success(winner), "override", winner.node_name, winner.victims, report
        )

    def _success(self, winner: DryRun) -> Status:
        """Return success, in words where the release has any for it."""
        if not self._names_placement:
            return SUCCESS
        what = f"found a potential placement for pod on node {winner.node_name}"
        text = f"preemption: {what}, preempting {len(winner.victims)} victims"
        return Status(Code.SUCCESS, (text,))

    def why_ineligible(self, pod: PodInfo, statuses: NodeToStatus) -> str:
        """Return why the pod may not preempt, empty if it may."""
        if pod.pod.spec.preemption_policy == NEVER:
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.nominated_node_name
        if not nominated:
            return ""
        if statuses.status(nominated).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        row = self._handle.cluster.row_of.get(nominated)
        on_node = () if row is None else self._handle.cluster.pods.on_row(row)
        if any(p.priority < pod.priority and _is_terminating_victim(p) for p in on_node):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _find_candidates(
        self, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PreemptionReport:
        """Dry-run preemption, in node order, until there are enough candidates.

        Upstream begins at a random node; here it is the first (offset 0), unless lots are drawn.
        """
        nodes = statuses.nodes_with(Code.UNSCHEDULABLE)
        if offset := self._handle.first_candidate(nodes.n):
            nodes = nodes.take(np.roll(np.arange(nodes.n), -offset))
        n_wanted = self._calculate_num_candidates(nodes.n)
        done: list[DryRun] = []
        search = _Search(n_wanted)
        while len(done) < nodes.n and not search.is_over:
            batch = nodes.slice(len(done), min(len(done) + max(n_wanted, 1), nodes.n))
            attempts = self.dry_run(pod, batch, refilter)
            done += attempts[: search.n_looked_at(attempts)]
        return PreemptionReport(
            potential=nodes,
            n_wanted=n_wanted,
            dry_runs=tuple(done),
            candidates=tuple(search.candidates),
        )

    def budgets(self) -> Budgets:
        """Return the budgets there are, and how evictions use them up.

        Upstream lists them in no particular order; here they go by namespace and name.
        """
        budgets = self._handle.objects.all(PodDisruptionBudget)
        return Budgets(sorted(budgets, key=lambda each: each.key), self._spares_budgets)

    def dry_run(self, pod: PodInfo, nodes: Nodes, refilter: Refilter) -> Sequence[DryRun]:
        """Try preemption on every node, unless that has been done and nothing has changed."""
        objects = self._handle.objects

        def run(batch: Nodes) -> Sequence[DryRun]:
            return dry_run(pod, batch, refilter, self.budgets(), self._handle.now_ns())

        if not refilter.is_node_local:
            return run(nodes)
        return self._dry_runs.run(
            pod,
            nodes,
            self._handle.nominated_by_node(),
            self._handle.nominated_node(pod),
            objects.revision(PodDisruptionBudget),
            run,
        )

    def _calculate_num_candidates(self, n_nodes: int) -> int:
        percentage = self._args.min_candidate_nodes_percentage
        n = max(n_nodes * percentage // 100, self._args.min_candidate_nodes_absolute)
        return min(n, n_nodes)

    def _no_candidates(self, report: PreemptionReport) -> PostFilterOutcome:
        """Say of every node why evicting pods from it does not help; clear the nomination."""
        failed = [a.status.message for a in report.dry_runs if a.status.code is Code.ERROR]
        if errors := list(dict.fromkeys(failed)):
            text = ", ".join(errors) if len(errors) == 1 else f"[{', '.join(errors)}]"
            return PostFilterOutcome(Status(Code.ERROR, (f"preemption: {text}",)), report=report)
        diagnosis = Diagnosis(self._handle.all_nodes(), absent=NOT_HELPFUL)
        for attempt in report.dry_runs:
            if attempt.is_candidate:
                continue
            diagnosis.set_status(attempt.node_name, attempt.status)
        status = Status(Code.UNSCHEDULABLE, (f"preemption: {diagnosis.message()}",))
        return PostFilterOutcome(status, "override", "", report=report)

    # ------------------------------------------------------------ eviction

    def _evict(self, pod: PodInfo, winner: DryRun) -> None:
        victims = [victim for victim in winner.victims if not victim.terminating]
        if not self._is_async:
            self._delete(pod, winner.node_name, victims)
            self._clear_lesser_nominations(pod, winner.node_name)
        elif victims:
            self._preempting.add(pod.uid)
            self._handle.after_attempt(lambda: self._evict_later(pod, winner.node_name, victims))

    def _evict_later(self, pod: PodInfo, node_name: str, victims: list[PodInfo]) -> None:
        """Delete the victims; the deletion of the last one lets the pod back into the queue."""
        self._clear_lesser_nominations(pod, node_name)
        self._delete(pod, node_name, victims[:-1])
        self._last_victim[pod.uid] = victims[-1].key
        is_turned_down = self._delete(pod, node_name, victims[-1:])
        self._preempting.discard(pod.uid)
        del self._last_victim[pod.uid]
        if is_turned_down and self._activates:
            self._handle.activate(pod)

    def _delete(self, pod: PodInfo, node_name: str, victims: Sequence[PodInfo]) -> bool:
        """Evict the victims; return whether any was turned down instead of deleted."""
        message = f"Preempted by pod {pod.uid} on node {node_name}"
        return any([self._handle.evict(victim, pod, message) for victim in victims])

    def _clear_lesser_nominations(self, pod: PodInfo, node_name: str) -> None:
        for rival in self._handle.nominated_by_node().get(node_name, ()):
            if rival.priority < pod.priority and rival.nominated_node_name:
                self._handle.clear_nomination(rival)


def _ask_extenders(
    extenders: PreemptionExtenders,
    pod: PodInfo,
    candidates: Sequence[DryRun],
    report: PreemptionReport,
) -> tuple[list[DryRun], PreemptionReport, str]:
    """Return the candidates that extenders leave, with their victims; or an error."""
    answer = extenders.process_preemption(
        pod, [Candidate(c.node_name, c.victims, c.n_pdb_violations) for c in candidates]
    )
    dry_runs = {candidate.node_name: candidate for candidate in candidates}
    left = [
        replace(
            dry_runs.get(each.node_name) or DryRun(each.node_name, (), (), (), 0, SUCCESS),
            victims=each.victims,
            n_pdb_violations=each.n_pdb_violations,
        )
        for each in answer.candidates
    ]
    names = tuple(each.node_name for each in left)
    report = replace(report, extender_calls=answer.calls, left_by_extenders=names)
    return left, report, answer.error


@dataclass(slots=True)
class _Search:
    """The search for `n_wanted` candidates, at least one of which breaks no budget.

    Of those that break one and of those that do not, `n_wanted` are kept each. With a share of
    the nodes too small to be one, that is none, and preemption comes to nothing.
    """

    n_wanted: int
    candidates: list[DryRun] = field(default_factory=list)
    n_harmless: int = 0

    @property
    def is_over(self) -> bool:
        return self.n_harmless > 0 and len(self.candidates) >= self.n_wanted

    def n_looked_at(self, attempts: Sequence[DryRun]) -> int:
        """Take the next dry runs; return how many of them the search looks at before it ends."""
        n_wanted, n_harmful = self.n_wanted, len(self.candidates) - self.n_harmless
        for i, attempt in enumerate(attempts):
            if not attempt.is_candidate:
                continue
            if attempt.n_pdb_violations:
                if n_harmful == n_wanted:
                    continue
                n_harmful += 1
            else:
                if self.n_harmless == n_wanted:
                    continue
                self.n_harmless += 1
            self.candidates.append(attempt)
            if self.is_over:
                return i + 1
        return len(attempts)


def _is_terminating_victim(pod: PodInfo) -> bool:
    """Return whether the scheduler itself has sent the pod away."""
    target = [c for c in pod.pod.status.conditions if c.type == "DisruptionTarget"][:1]
    return pod.terminating and any((c.status, c.reason) == PREEMPTED for c in target)
