"""What survives: nodes are lost, owners recreate their pods, and the scheduler continues.

    losses_of_zones, losses_of_nodes, chosen_loss: the variants
    Standing.before(run): the cluster as it stands; standing.after(run, loss): one variant, run
    ranked(aftermaths): the worst first

`after` uses its run up: give every loss a separate settled run, or a fork of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from scheduler_core.analysis.advice.budgets import Budget, budgets_over, is_healthy
from scheduler_core.analysis.advice.made_again import recreating
from scheduler_core.analysis.advice.pools import zone_of
from scheduler_core.analysis.advice.settled import settled
from scheduler_core.api import KubeObject, Node, Pod, PodDisruptionBudget
from scheduler_core.changes.owners import DAEMON_SET, comes_back, is_static
from scheduler_core.changes.vocabulary import Delete, Target
from scheduler_core.cluster.pods import controller_of
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.events import PodEvicted
from scheduler_core.trace.tables import TERMINAL_PHASES

TEMPLATE_HASH: Final = "pod-template-hash"


@dataclass(frozen=True, slots=True)
class Loss:
    """Nodes that are gone together: all of a zone, one, or some that were chosen."""

    kind: Literal["zone", "node", "set"]
    name: str
    nodes: tuple[str, ...]

    def changes(self) -> tuple[Delete, ...]:
        """The loss as changes of the cluster."""
        return tuple(Delete(Target(Node, "", name)) for name in self.nodes)


def losses_of_zones(nodes: Iterable[Node]) -> tuple[Loss, ...]:
    """Return every zone, gone; nodes without a zone belong to none."""
    zones: dict[str, list[str]] = {}
    for node in nodes:
        if zone := zone_of(node):
            zones.setdefault(zone, []).append(node.name)
    return tuple(Loss("zone", zone, tuple(names)) for zone, names in sorted(zones.items()))


def losses_of_nodes(nodes: Iterable[Node]) -> tuple[Loss, ...]:
    """Return every node, gone."""
    return tuple(Loss("node", node.name, (node.name,)) for node in nodes)


def chosen_loss(names: Sequence[str]) -> Loss:
    """Return some nodes, gone together."""
    return Loss("set", ",".join(names), tuple(names))


# ---------------------------------------------------------------- what became of it


@dataclass(frozen=True, slots=True)
class StillPending:
    """A pod that has no node after the loss and was not pending before."""

    pod: str
    workload: str
    message: str


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many pods of a workload, or of a budget, are on nodes.

    `before` the loss, `at_once` when the nodes are gone, and `after` the scheduler has done what
    it can. `desired` is what a budget wants, else 0.
    """

    name: str
    before: int
    at_once: int
    after: int
    desired: int = 0


@dataclass(frozen=True)
class Aftermath:
    """What a loss leads to.

    Pods of DaemonSets and static pods go with their nodes, and count nowhere. `n_lost` other pods
    were on the nodes; `gone` are those of them that nobody makes again. `n_again` pods were
    recreated, or placed only now, and are on a node in the end. `evicted` were preempted for pods
    that came back. `workloads` are those that lost a pod; `budgets` those that were kept
    before, and are broken at once or after.
    """

    loss: Loss
    n_lost: int
    n_again: int
    pending: tuple[StillPending, ...]
    gone: tuple[str, ...]
    evicted: tuple[str, ...]
    workloads: tuple[Replicas, ...]
    budgets: tuple[Replicas, ...]

    @property
    def down_at_once(self) -> tuple[Replicas, ...]:
        """The workloads that lost all their pods at once."""
        return tuple(each for each in self.workloads if not each.at_once)

    @property
    def down(self) -> tuple[Replicas, ...]:
        """The workloads that have no pod on a node in the end."""
        return tuple(each for each in self.workloads if not each.after)

    @property
    def broken(self) -> tuple[Replicas, ...]:
        """The budgets that are broken in the end."""
        return tuple(each for each in self.budgets if each.after < each.desired)

    @property
    def broken_at_once(self) -> tuple[Replicas, ...]:
        """The budgets that want more than the loss leaves at once."""
        return tuple(each for each in self.budgets if each.at_once < each.desired)

    @property
    def hurt(self) -> tuple[int, ...]:
        """How much it hurts, what counts most first; compared as a whole."""
        return (
            len(self.down),
            len(self.broken),
            len(self.pending) + len(self.gone),
            len(self.down_at_once),
            len(self.broken_at_once),
            self.n_lost,
        )


def ranked(aftermaths: Iterable[Aftermath]) -> list[Aftermath]:
    """Return the losses that hurt most first, equal ones as they come."""
    return sorted(aftermaths, key=lambda each: each.hurt, reverse=True)


# ---------------------------------------------------------------- running it


def standing_run(objects: Sequence[KubeObject], options: RunOptions) -> Run:
    """Settle a cluster whose owners make lost pods again. Raises as a run does."""
    return settled(objects, recreating(options))


@dataclass(frozen=True)
class Standing:
    """A cluster before a loss: its pods, what they belong to, and its budgets."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    workloads: Mapping[str, int]
    """How many pods of each are on nodes."""
    budgets: tuple[Budget, ...]
    healthy: tuple[int, ...]
    """By budget."""
    pending: frozenset[str]

    @classmethod
    def before(cls, run: Run) -> Standing:
        """Look at a settled run."""
        server = run.simulation.server
        pods = tuple(server.all(Pod))
        free = [pod for pod in pods if not goes_with_node(pod)]
        budgets = budgets_over(server.all(PodDisruptionBudget), free)
        return cls(
            nodes=tuple(server.all(Node)),
            pods=pods,
            workloads=_on_nodes(pods),
            budgets=tuple(budgets),
            healthy=_healthy(budgets, pods),
            pending=frozenset(pod.key for pod in pods if _is_pending(pod)),
        )

    @property
    def broken(self) -> tuple[Replicas, ...]:
        """The budgets that are broken without any loss."""
        return tuple(
            Replicas(budget.key, healthy, healthy, healthy, budget.desired)
            for budget, healthy in zip(self.budgets, self.healthy, strict=True)
            if healthy < budget.desired
        )

    def after(self, run: Run, loss: Loss) -> Aftermath:
        """Lose the nodes in that run, which stands as this says, and see what becomes of it."""
        lost_nodes = frozenset(loss.nodes)
        lost = [each for each in self.pods if each.spec.node_name in lost_nodes and _counts(each)]
        victims = [each.pod for each in run.go_on(loss.changes()) if isinstance(each, PodEvicted)]
        now = tuple(run.simulation.server.all(Pod))
        difference = _difference(self.pods, now)
        return Aftermath(
            loss=loss,
            n_lost=len(lost),
            n_again=sum(_counts(pod) and standing_on_node(pod) for pod in difference.came),
            pending=tuple(self._still_pending(difference.came)),
            gone=tuple(pod.key for pod in lost if not comes_back(pod)),
            evicted=self._keys(run, victims),
            workloads=self._workloads(lost, difference),
            budgets=self._budgets(lost, difference),
        )

    def _still_pending(self, pods: Iterable[Pod]) -> Iterable[StillPending]:
        for pod in pods:
            if _is_pending(pod) and pod.key not in self.pending:
                yield StillPending(pod.key, workload_of(pod), _message(pod))

    def _keys(self, run: Run, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return which pods these are by the trace's numbers."""
        if not numbers:
            return ()
        uids = {number: uid for uid, number in run.simulation.recorder.pods.items()}
        keys = {pod.uid: pod.key for pod in self.pods}
        return tuple(keys.get(uids[number], uids[number]) for number in numbers)

    def _workloads(self, lost: Sequence[Pod], difference: _Difference) -> tuple[Replicas, ...]:
        at_once, went, came = map(_on_nodes, (lost, difference.went, difference.came))
        return tuple(
            Replicas(name, n, n - at_once[name], n - went[name] + came[name])
            for name in at_once
            if name and (n := self.workloads[name])
        )

    def _budgets(self, lost: Sequence[Pod], difference: _Difference) -> tuple[Replicas, ...]:
        at_once, went, came = (
            _healthy(self.budgets, pods) for pods in (lost, difference.went, difference.came)
        )
        found = (
            Replicas(budget.key, n, n - at_once[i], n - went[i] + came[i], budget.desired)
            for i, (budget, n) in enumerate(zip(self.budgets, self.healthy, strict=True))
        )
        return tuple(
            each for each in found if min(each.at_once, each.after) < each.desired <= each.before
        )


@dataclass(frozen=True)
class _Difference:
    """The pods of a cluster that are not as they were: as they were, and as they are."""

    went: list[Pod]
    came: list[Pod]


def _difference(before: Sequence[Pod], after: Sequence[Pod]) -> _Difference:
    """Tell pods apart by identity: an object that nobody has written is the same one."""
    ids_before, ids_after = set(map(id, before)), set(map(id, after))
    return _Difference(
        [pod for pod in before if id(pod) not in ids_after],
        [pod for pod in after if id(pod) not in ids_before],
    )


def workload_of(pod: Pod) -> str:
    """Return what a pod belongs to, as `Deployment shop/web`; empty for a bare pod.

    That a ReplicaSet is of a Deployment is seen from the hash that its name and its pods have. Pods
    of DaemonSets and static pods belong to their nodes, and so to nothing here.
    """
    owner = controller_of(pod)
    if owner is None or goes_with_node(pod):
        return ""
    kind, name = owner.kind, owner.name
    template_hash = pod.metadata.labels.get(TEMPLATE_HASH, "")
    if kind == "ReplicaSet" and template_hash and name.endswith(f"-{template_hash}"):
        kind, name = "Deployment", name.removesuffix(f"-{template_hash}")
    return f"{kind} {pod.namespace}/{name}"


def goes_with_node(pod: Pod) -> bool:
    """Return whether the pod belongs to its node."""
    owner = controller_of(pod)
    return is_static(pod) or (owner is not None and owner.kind == DAEMON_SET)


def _counts(pod: Pod) -> bool:
    return is_healthy(pod) and not goes_with_node(pod)


def _on_nodes(pods: Iterable[Pod]) -> Counter[str]:
    return Counter(workload_of(pod) for pod in pods if _counts(pod))


def _healthy(budgets: Iterable[Budget], pods: Sequence[Pod]) -> tuple[int, ...]:
    healthy = [pod for pod in pods if _counts(pod)]
    return tuple(sum(map(budget.covers, healthy)) for budget in budgets)


def _is_pending(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in TERMINAL_PHASES


def standing_on_node(pod: Pod) -> bool:
    """Return whether the pod takes room of a node; one that has finished does not."""
    return bool(pod.spec.node_name) and pod.status.phase not in TERMINAL_PHASES


def _message(pod: Pod) -> str:
    found = (each.message for each in pod.status.conditions if each.type == "PodScheduled")
    return next(found, "")
