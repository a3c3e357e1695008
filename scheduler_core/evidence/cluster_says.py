"""What the cluster itself said of a pod, as its condition tells, beside what kviz says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.absent_kinds import absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.counting import counted
from scheduler_core.config import FeatureGates
from scheduler_core.evidence.fit_error import fit_error
from scheduler_core.releases import UNNAMED
from scheduler_core.releases.choosing import (
    AUTO,
    NOTHING,
    chosen_release,
    is_known,
    release_told,
    why,
)
from scheduler_core.wording import say, some_of

BOUND: Final = "bound"
UNSCHEDULABLE: Final = "unschedulable"
GATED: Final = "gated"
ERROR: Final = "error"

_OF_REASON: Final = {
    "Unschedulable": UNSCHEDULABLE,
    "SchedulingGated": GATED,
    "SchedulerError": ERROR,
}
_IN_WORDS: Final = {
    BOUND: say("cluster.bound", "it has a node"),
    UNSCHEDULABLE: say("cluster.unschedulable", "no node takes it"),
    GATED: say("cluster.gated", "it is kept out of the queue"),
    ERROR: say("cluster.error", "the attempt failed with an error"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of a pod: one of the words above, and the scheduler's message."""

    word: str
    message: str = ""

    def is_like(self, other: Verdict) -> bool:
        """Return whether both say the same: the word, and why, where both say that.

        Counts may differ: nodes come and go.
        """
        ours, theirs = self._reasons, other._reasons
        return self.word == other.word and (not ours or not theirs or ours == theirs)

    @property
    def _reasons(self) -> set[str]:
        found = fit_error(self.message)
        return {each.reason for each in found.reasons} if found else set()

    @property
    def text(self) -> str:
        """Return it in words; a verdict of another kind is its own word."""
        return self.message.rstrip(".") or _IN_WORDS.get(self.word, self.word)


@dataclass(frozen=True, slots=True)
class ClusterSays:
    """The cluster's verdict on a pod, and kviz's; `because` says why they differ, if they do."""

    pod: str
    cluster: Verdict
    kviz: Verdict
    because: str = ""

    @property
    def agrees(self) -> bool:
        return not self.because

    @property
    def document(self) -> dict[str, object]:
        """As scripts are told."""
        return {
            "verdict": self.cluster.word,
            "message": self.cluster.message,
            "agrees": self.agrees,
            "because": self.because or None,
        }

    @property
    def sentence(self) -> str:
        if self.agrees:
            return say("cluster.agrees", "Your cluster says the same.")
        return say(
            "cluster.differs",
            "Your cluster says: {cluster}. kviz says: {kviz}. Why: {because}.",
            cluster=self.cluster.text,
            kviz=self.kviz.text,
            because=self.because,
        )


def verdict_of(pod: Pod) -> Verdict | None:
    """Return what the cluster said of a pod; None if the file does not tell."""
    if pod.spec.node_name:
        return Verdict(BOUND)
    for each in pod.status.conditions:
        if each.type == "PodScheduled" and each.status == "False" and each.reason in _OF_REASON:
            return Verdict(_OF_REASON[each.reason], each.message)
    return None


def cluster_says(
    objects: Sequence[KubeObject],
    pod: Pod,
    attempts: Sequence[Verdict],
    features: FeatureGates,
    not_modelled: Sequence[str] = (),
) -> ClusterSays | None:
    """Compare the cluster's verdict on a pod with kviz's attempts at it, the last of which counts.

    One like the cluster's is enough: a pod that waits for its victims to leave binds later. None
    if the cluster's verdict, or kviz's, is not known.
    """
    found = verdict_of(pod)
    if found is None or not attempts:
        return None
    like = next((each for each in attempts if each.is_like(found)), None)
    if like is not None:
        return ClusterSays(pod.key, found, like)
    because = next(_causes(objects, pod, found, attempts[-1], features, not_modelled))
    return ClusterSays(pod.key, found, attempts[-1], because)


def _causes(
    objects: Sequence[KubeObject],
    pod: Pod,
    cluster: Verdict,
    kviz: Verdict,
    features: FeatureGates,
    not_modelled: Sequence[str],
) -> Iterator[str]:
    """Yield why the verdicts differ, what is surest first."""
    absent = absent_kinds(ClusterObjects(objects), pod)
    if absent:
        kinds = some_of([each.kind for each in absent])
        yield say("cluster.because_absent", "the file has no {kinds}", kinds=kinds)
    nominated = pod.status.nominated_node_name
    if nominated and kviz.word == BOUND:
        yield say(
            "cluster.because_nominated",
            "the state was older: room on {node}, which it was nominated to, was made since",
            node=nominated,
        )
    found = fit_error(cluster.message)
    n_nodes = sum(isinstance(each, Node) for each in objects)
    if found is not None and found.n_nodes != n_nodes:
        yield say(
            "cluster.because_nodes",
            "the state was another: the cluster counted {then}, the file has {now}",
            then=counted(found.n_nodes, "node"),
            now=counted(n_nodes, "node"),
        )
    told = release_told(objects)
    followed = features.release
    chosen = chosen_release(AUTO, told).release
    if told != NOTHING and followed is not UNNAMED and not (is_known(told) and chosen == followed):
        yield say(
            "cluster.because_release",
            "the release is another: {said}, kviz follows {release}",
            said=why(told),
            release=followed.name,
        )
    if not_modelled:
        yield say(
            "cluster.because_not_modelled", "may be this: {what}", what=not_modelled[0].rstrip(".")
        )
    yield say(
        "cluster.because_unknown",
        "not known; the state may have been older, or the scheduler configured otherwise",
    )
