"""The cluster as a scheduler had it when it decided, rebuilt from what was told.

Only the deciding pod pends. Of the others those stay that a preemption nominated: a scheduler
holds room for them. Pods that a scheduler has written down as nominated while it binds their
volumes are on their node already: it has assumed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import Final

from msgspec.structs import replace

from kviz.following.changes import EVENTS, Change, Item
from kviz.following.cluster import FollowedCluster
from kviz.following.decisions import Decision, decision_of, scheduled_condition
from kviz.following.follower import Journal
from scheduler_core.api import KubeObject, Pod, ResourceClaim

SECOND_NS: Final = 1_000_000_000
NEAR_NS: Final = 2 * SECOND_NS
"""Changes written further apart than that do not meet in a scheduler's caches."""
ENDED: Final = ("Succeeded", "Failed")
MAX_BACK: Final = 120
MAX_AHEAD: Final = 80


@dataclass(frozen=True, slots=True)
class Past:
    """A change that was made, what it changed, and the latest time that was told by then."""

    change: Change
    before: Item | None
    now_ns: int


@dataclass(slots=True)
class Moment:
    """Where a decision stands among the changes: `cluster` is as all earlier writes left it."""

    decision: Decision
    pod: Pod
    """As it was when it was tried."""
    cluster: FollowedCluster
    now_ns: int
    """The latest time that was told by then."""
    assumed: Mapping[str, str]
    """Nodes of pods that are assumed there, by uid."""
    past: Sequence[Past] = ()
    """The latest changes before, the latest last."""
    ahead: Sequence[Change] = ()
    """The next changes."""
    added: Mapping[str, int] = field(default_factory=dict)
    """By uid, the version in which a pod came, of those that were seen to come."""

    def objects(self) -> list[KubeObject]:
        """Return what the pod met, with the pod last."""
        devices = self._assumed_devices()
        return [
            devices.get(item.key, item) if isinstance(item, ResourceClaim) else item
            for item in (*_standing(self.cluster, self.assumed, self.pod), self.pod)
        ]

    def _assumed_devices(self) -> dict[str, ResourceClaim]:
        """Return the claims of assumed pods with the devices that are written into them later."""
        if not self.assumed:
            return {}
        pods = [pod for pod in self.cluster.pods() if pod.uid in self.assumed]
        names = {key for pod in pods if pod.uid != self.pod.uid for key in _claims_of(pod)}
        known = self.cluster.of("resourceclaims")
        found: dict[str, ResourceClaim] = {}
        for change in self.ahead:
            claim = change.item
            if isinstance(claim, ResourceClaim) and claim.key in names - found.keys():
                now = known.get(claim.key)
                if claim.status.allocation is not None and _has_no_devices(now, claim):
                    found[claim.key] = claim
        return found

    def before_changes(self) -> Iterator[Moment]:
        """Yield the moments before the latest changes, further and further back."""
        cluster, assumed = self.cluster.copy(), dict(self.assumed)
        for n_undone, past in enumerate(reversed(self.past), 1):
            if past.now_ns < self.now_ns - NEAR_NS:
                return
            cluster.undo(past.change, past.before)
            bound = _bound_by(past)
            if bound is not None and not self._may_follow(bound):
                assumed[bound.uid] = bound.spec.node_name
            elif matters(past):
                yield with_fields(
                    self,
                    cluster=cluster,
                    assumed=dict(assumed),
                    past=self.past[: len(self.past) - n_undone],
                    ahead=(),
                )

    def with_later(self) -> Iterator[Moment]:
        """Yield the moment with one more of the next bindings each time, as if made already."""
        assumed = dict(self.assumed)
        for pod, node in self.later_bindings():
            if self._may_precede(pod):
                assumed[pod.uid] = node
                yield with_fields(self, assumed=dict(assumed))

    def in_queue_order(self) -> Moment:
        """Return the moment with the bindings that were decided on before, and no others.

        Only where the queue leaves no doubt; pods that may have left it either way are as written.
        """
        cluster, past, assumed = self.cluster.copy(), list(self.past), dict(self.assumed)
        for each in reversed(self.past):
            if each.now_ns < self.now_ns - NEAR_NS:
                break
            bound = _bound_by(each)
            if bound is not None and self._leaves_first(self.pod, bound):
                cluster.undo(each.change, each.before)
                past.remove(each)
        for pod, node in self.later_bindings():
            if self._leaves_first(pod, self.pod):
                assumed[pod.uid] = node
        if len(past) == len(self.past) and assumed == self.assumed:
            return self
        return with_fields(self, cluster=cluster, past=past, assumed=assumed)

    def later_bindings(self) -> Iterator[tuple[Pod, str]]:
        """Yield the next pods to be bound, or nominated, that wait until then, with their nodes."""
        pods, seen = self.cluster.of("pods"), set(self.assumed)
        for change in self.ahead:
            pod = change.item
            if change.at_ns > self.now_ns + NEAR_NS:
                return
            if not isinstance(pod, Pod) or change.what == "DELETED" or pod.uid == self.pod.uid:
                continue
            known = pods.get(pod.key)
            node = pod.spec.node_name or pod.status.nominated_node_name
            if not isinstance(known, Pod) or known.uid != pod.uid or known.spec.node_name:
                continue
            if node and pod.uid not in seen:
                seen.add(pod.uid)
                yield known, node

    def _may_precede(self, other: Pod) -> bool:
        """Return whether a pod that is bound later may have been decided on before."""
        return not self._leaves_first(self.pod, other)

    def _may_follow(self, other: Pod) -> bool:
        """Return whether a pod that was bound already may have been decided on afterwards."""
        return not self._leaves_first(other, self.pod)

    def _leaves_first(self, one: Pod, other: Pod) -> bool:
        """Return whether a pod certainly left the queue before another.

        Of pods that wait for their first attempt, that of the higher priority leaves first, and of
        equals the one that came first.
        """
        if one.spec.scheduler_name != other.spec.scheduler_name:
            return False
        came = self.added.get(one.uid), self.added.get(other.uid)
        if came[0] is None or came[1] is None or _was_tried(one) or _was_tried(other):
            return False
        priorities = one.spec.priority or 0, other.spec.priority or 0
        return priorities[0] >= priorities[1] and came[0] < came[1]


def _was_tried(pod: Pod) -> bool:
    told = scheduled_condition(pod)
    return told is not None and told.status == "False"


def _claims_of(pod: Pod) -> Iterator[str]:
    """Yield the keys of the claims that a pod names, or that were made for it."""
    named = (each.resource_claim_name for each in pod.spec.resource_claims)
    made = (each.resource_claim_name for each in pod.status.resource_claim_statuses)
    yield from (f"{pod.namespace}/{name}" for name in (*named, *made) if name)


def _has_no_devices(known: Item | None, later: ResourceClaim) -> bool:
    if not isinstance(known, ResourceClaim) or known.uid != later.uid:
        return False
    return known.status.allocation is None


def _bound_by(past: Past) -> Pod | None:
    """Return the pod that a change bound, None if it bound none."""
    item, before = past.change.item, past.before
    if not isinstance(item, Pod) or not isinstance(before, Pod):
        return None
    return item if item.spec.node_name and not before.spec.node_name else None


def matters(past: Past) -> bool:
    """Return whether a change may be seen by an attempt at another pod."""
    item, before = past.change.item, past.before
    if isinstance(item, Pod) and before is None:
        return bool(item.spec.node_name)
    if not isinstance(item, KubeObject) or not isinstance(before, KubeObject):
        return isinstance(item, KubeObject)
    if not isinstance(item, Pod) or not isinstance(before, Pod):
        return past.change.what == "DELETED" or _as_read(item) != _as_read(before)
    return (
        past.change.what == "DELETED"
        or item.spec != before.spec
        or item.metadata.deletion_timestamp != before.metadata.deletion_timestamp
        or item.metadata.labels != before.metadata.labels
        or (item.status.phase in ENDED) is not (before.status.phase in ENDED)
        or item.status.nominated_node_name != before.status.nominated_node_name
    )


def _as_read(item: KubeObject) -> KubeObject:
    """Return an object without what changes with every write, its status where none is read."""
    return replace(item, metadata=replace(item.metadata, resource_version="", generation=None))


def _standing(
    cluster: FollowedCluster, assumed: Mapping[str, str], but: Pod
) -> Iterator[KubeObject]:
    for item in cluster.objects():
        if not isinstance(item, Pod) or item.spec.node_name:
            yield item
        elif item.uid in assumed and item.uid != but.uid:
            yield replace(item, spec=replace(item.spec, node_name=assumed[item.uid]))
        elif item.status.nominated_node_name and item.uid != but.uid:
            yield item


@dataclass
class _Walk:
    """A walk along the changes, in the order of their versions."""

    cluster: FollowedCluster
    now_ns: int
    past: list[Past] = field(default_factory=list)
    assumed: dict[str, str] = field(default_factory=dict)
    nominated: dict[str, Moment] = field(default_factory=dict)
    """By uid of a pod that is assumed so: the moment before that was written."""
    n_decisions: int = 0
    added: dict[str, int] = field(default_factory=dict)

    def step(self, change: Change, ahead: Sequence[Change]) -> Moment | None:
        self.now_ns = max(self.now_ns, change.at_ns)
        before = self.cluster.of(change.resource).get(change.item.key)
        decision = decision_of(self.n_decisions + 1, change, before)
        found = None
        if decision is not None:
            self.n_decisions += 1
            found = self._moment(decision, ahead)
        elif isinstance(change.item, Pod):
            self._assume(change.item, change, before, ahead)
        self.cluster.apply(change)
        if change.what == "ADDED" and isinstance(change.item, Pod):
            self.added.setdefault(change.item.uid, change.version)
        if change.resource != EVENTS:
            self.past = [*self.past[1 - MAX_BACK :], Past(change, before, self.now_ns)]
        return found

    def _moment(self, decision: Decision, ahead: Sequence[Change]) -> Moment:
        uid = decision.pod.uid
        assumed = self.assumed.pop(uid, "")
        earlier = self.nominated.pop(uid, None)
        if earlier is not None and assumed == decision.node:
            earlier.decision = decision
            return earlier
        return Moment(
            decision,
            decision.before,
            self.cluster.copy(),
            self.now_ns,
            dict(self.assumed),
            tuple(self.past),
            ahead,
            self.added,
        )

    def _assume(
        self, pod: Pod, change: Change, before: Item | None, ahead: Sequence[Change]
    ) -> None:
        """Note a nomination that no message came with: the pod's volumes are being bound."""
        node = pod.status.nominated_node_name
        if change.what == "DELETED":
            self.assumed.pop(pod.uid, None)
            return
        if not isinstance(before, Pod) or before.uid != pod.uid or pod.spec.node_name:
            return
        if node and not before.status.nominated_node_name:
            decision = Decision(0, "binding", pod, before, change.version, change.at_ns, node)
            self.nominated[pod.uid] = self._moment(decision, ahead)
            self.assumed[pod.uid] = node
        elif not node:
            self.assumed.pop(pod.uid, None)


def moments(journal: Journal) -> Iterator[Moment]:
    """Yield every decision that a journal tells, with the cluster that it met.

    Changes are taken in the order of their versions, whenever they arrived. A moment is only good
    until the next one is asked for.
    """
    changes = sorted(journal.changes, key=lambda change: change.version)
    walk = _Walk(journal.beginning(), journal.began_ns)
    for i, change in enumerate(changes):
        found = walk.step(change, changes[i + 1 : i + 1 + MAX_AHEAD])
        if found is not None:
            yield found
