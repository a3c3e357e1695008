"""What the cluster itself said of a pod, as its condition tells, beside what kviz says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.absent_kinds import AbsentKind
from scheduler_core.api.counting import counted
from scheduler_core.config import FeatureGates
from scheduler_core.evidence.fit_error import fit_error, todays_reason
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
_OF_OTHER_PODS: Final = (
    "Too many pods",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) exceed max volume count",
)
"""Reasons of a message that other pods decide about, beside want of room."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of a pod: one of the words above, and the scheduler's message."""

    word: str
    message: str = ""
    node: str = ""
    """The node that the pod is on, or is nominated to, if any."""

    def is_like(self, other: Verdict) -> bool:
        """Return whether both say the same: the word, and why and where, if both say that.

        Counts may differ: nodes come and go.
        """
        pairs = ((self.reasons, other.reasons), (self.node, other.node))
        return self.word == other.word and all(
            not ours or not theirs or ours == theirs for ours, theirs in pairs
        )

    @property
    def reasons(self) -> set[str]:
        found = fit_error(self.message)
        return {todays_reason(each.reason) for each in found.reasons} if found else set()

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
            "kviz": self.kviz.text,
            "text": self.sentence,
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
    """Return what the cluster said of a pod; None if the file does not tell.

    Events of a file are in its pods' conditions by now (`scheduler_core.api.said_events`).
    """
    if pod.spec.node_name:
        return Verdict(BOUND, node=pod.spec.node_name)
    for each in pod.status.conditions:
        if each.type == "PodScheduled" and each.status == "False" and each.reason in _OF_REASON:
            word, nominated = _OF_REASON[each.reason], pod.status.nominated_node_name
            return Verdict(word, each.message, nominated)
    return None


class Comparison:
    """The verdicts of a cluster beside those of kviz's run over it, pod by pod."""

    def __init__(
        self,
        objects: Sequence[KubeObject],
        features: FeatureGates,
        absent: Sequence[AbsentKind],
        not_modelled: Sequence[str] = (),
    ) -> None:
        self._features = features
        self._told = release_told(objects)
        self._not_modelled = not_modelled
        self._n_nodes = sum(isinstance(each, Node) for each in objects)
        self._absent: dict[str, list[str]] = {}
        for each in absent:
            for pod in each.needed_by:
                self._absent.setdefault(pod, []).append(each.kind)

    def of(self, pod: Pod, attempts: Sequence[Verdict]) -> ClusterSays | None:
        """Compare the cluster's verdict with kviz's attempts at the pod, the last of which counts.

        One like the cluster's is enough: a pod that waits for its victims to leave binds later.
        None if the cluster's verdict, or kviz's, is not known.
        """
        found = verdict_of(pod)
        if found is None or not attempts:
            return None
        like = next((each for each in attempts if each.is_like(found)), None)
        if like is not None:
            return ClusterSays(pod.key, found, like)
        because = next(self._causes(pod, found, attempts[-1]))
        return ClusterSays(pod.key, found, attempts[-1], because)

    def _causes(self, pod: Pod, cluster: Verdict, kviz: Verdict) -> Iterator[str]:
        """Yield why the verdicts differ, what is surest first."""
        if absent := self._absent.get(pod.key):
            kinds = some_of(absent)
            yield say("cluster.because_absent", "the file has no {kinds}", kinds=kinds)
        yield from _nominations(cluster, kviz)
        yield from self._states(cluster, kviz)
        yield from self._releases()
        if self._not_modelled:
            what = self._not_modelled[0].rstrip(".")
            yield say("cluster.because_not_modelled", "may be this: {what}", what=what)
        yield say(
            "cluster.because_unknown",
            "not known; the state may have been older, or the scheduler configured otherwise",
        )

    def _states(self, cluster: Verdict, kviz: Verdict) -> Iterator[str]:
        found = fit_error(cluster.message)
        if found is not None and found.n_nodes != self._n_nodes:
            yield say(
                "cluster.because_nodes",
                "the state was another: the cluster counted {then}, the file has {now}",
                then=counted(found.n_nodes, "node"),
                now=counted(self._n_nodes, "node"),
            )
        if found is not None and not found.reasons:
            yield say(
                "cluster.because_no_reason",
                "the message of the cluster names no reason that could be compared",
            )
        changing = sorted(filter(_may_change, cluster.reasons ^ kviz.reasons))
        if changing and (kviz.word == BOUND or set(changing) == cluster.reasons ^ kviz.reasons):
            yield say(
                "cluster.because_pods",
                "the state was probably another: this depends on the pods that are on nodes, which "
                "come and go: {reasons}",
                reasons=some_of(changing),
            )

    def _releases(self) -> Iterator[str]:
        told, followed = self._told, self._features.release
        chosen = chosen_release(AUTO, told).release
        if told == NOTHING or followed is UNNAMED or (is_known(told) and chosen == followed):
            return
        yield say(
            "cluster.because_release",
            "the release is another: {said}, kviz follows {release}",
            said=why(told),
            release=followed.name,
        )


def _nominations(cluster: Verdict, kviz: Verdict) -> Iterator[str]:
    if not cluster.node or cluster.word != UNSCHEDULABLE:
        return
    if kviz.word == BOUND and kviz.node == cluster.node:
        yield say(
            "cluster.because_nominated",
            "the state was older: room on {node}, which it was nominated to, was made since",
            node=cluster.node,
        )
    elif kviz.node and kviz.node != cluster.node:
        yield say(
            "cluster.because_elsewhere",
            "the state was older: the cluster had nominated it to {node}, and by the file {other} "
            "comes first",
            node=cluster.node,
            other=kviz.node,
        )


def _may_change(reason: str) -> bool:
    """Whether a reason depends on which pods are on nodes."""
    return reason.startswith("Insufficient ") or reason in _OF_OTHER_PODS
