"""Answers that hold for every pod of a template, kept from cycle to cycle.

Plugins promise what their answers depend on beside the pod's template (`interface.py`):

* nothing (`template_only`): PreFilter and PreScore are asked once per template;
* the node objects (`node_only`), labels, taints, images: Filter and Score are asked once about
  all nodes, and again when a node changes;
* the resources of nodes and what is requested of them (`resources_only`): Filter and Score are
  asked once about each resource state (`cluster/resource_states.py`) that turns up.

Each cycle picks from the answers those of the nodes it looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from scheduler_core.cluster.columns import grown
from scheduler_core.cluster.nodes import IntArray, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.resource_states import ResourceStates
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import Codes, Reasons, Status, Verdict

MAX_TEMPLATES = 64
"""Answers about so many templates are kept; beyond that those of the oldest go."""

UNASKED_CODE = -1
UNASKED_SCORE = int(np.iinfo(np.int64).min)

AskFilter = Callable[[Nodes], Verdict]
AskScore = Callable[[Nodes], Scores]


@lru_cache(maxsize=256)
def same_everywhere(value: int, n: int) -> Scores:
    """Return a column int64 (n,) of one value: each time the same one, which nobody may change."""
    column = np.full(n, value, np.int64)
    column.flags.writeable = False
    return column


class StateVerdicts:
    """A Filter plugin's verdicts about one template, by resource state."""

    def __init__(self) -> None:
        self._code: Codes = np.zeros(0, np.int8)
        self._reasons: Reasons = np.zeros(0, np.uint64)
        self._texts: tuple[str, ...] | None = None
        self._keeps_its_texts = True

    def verdict(self, nodes: Nodes, ask: AskFilter) -> Verdict | None:
        """Return the verdict about `nodes`, None if it rejects no node at all."""
        states, n_states = nodes.resource_states, len(nodes.cluster.resource_states)
        self._code = grown(self._code, n_states, UNASKED_CODE)
        self._reasons = grown(self._reasons, n_states)
        code = self._code[states]
        if not np.count_nonzero(code):
            return None
        unasked = np.flatnonzero(code == UNASKED_CODE)
        if unasked.size and self._keeps_its_texts:
            at = _one_of_each(states, unasked)
            self._learn(states[at], ask(nodes.take(at)))
            code = self._code[states]
        if not self._keeps_its_texts:
            return ask(nodes)
        return Verdict(code, self._reasons[states], self._texts or ())

    def _learn(self, states: IntArray, answer: Verdict) -> None:
        if np.count_nonzero(answer.code):
            # Reasons are bits that mean texts; among others they would mean others.
            self._keeps_its_texts = self._texts is None or answer.texts == self._texts
            self._texts = answer.texts
        self._code[states], self._reasons[states] = answer.code, answer.reasons


class StateScores:
    """A Score plugin's raw scores about one template, by resource state."""

    def __init__(self) -> None:
        self._scores: Scores = np.zeros(0, np.int64)

    def score(self, nodes: Nodes, ask: AskScore) -> Scores:
        """Return the raw scores of `nodes`, int64 (n,)."""
        states = nodes.resource_states
        self._scores = grown(self._scores, len(nodes.cluster.resource_states), UNASKED_SCORE)
        scores = self._scores[states]
        if np.minimum.reduce(scores, initial=0) == UNASKED_SCORE:
            at = _one_of_each(states, np.flatnonzero(scores == UNASKED_SCORE))
            self._scores[states[at]] = ask(nodes.take(at))
            scores = self._scores[states]
        return scores


def _one_of_each(states: IntArray, at: IntArray) -> IntArray:
    """Return, of the positions `at`, the first of each state, int64."""
    _, first = np.unique(states[at], return_index=True)
    return at[first]


@dataclass(slots=True)
class TemplateAnswers:
    """What plugins said about one template, by plugin name.

    Node-only answers are over `n_rows` rows of the cluster, of which `rows` have a node. A
    verdict that lets all of them pass is None; scores that are all the same are one number.
    """

    first_uid: str
    rows: IntArray
    n_rows: int
    verdicts: dict[str, Verdict | None] = field(default_factory=dict)
    scores: dict[str, Scores | int] = field(default_factory=dict)
    state_verdicts: dict[str, StateVerdicts] = field(default_factory=dict)
    state_scores: dict[str, StateScores] = field(default_factory=dict)
    normalized: dict[str, PluginScore] = field(default_factory=dict)
    """The last scores of node-only plugins: they hold for the same column of raw scores."""

    def node_only_verdict(self, plugin: str, nodes: Nodes, ask: AskFilter) -> Verdict | None:
        """Return a plugin's verdict about `nodes`, None if it rejects no node at all."""
        if plugin not in self.verdicts:
            answer = ask(Nodes(nodes.cluster, self.rows))
            if answer.code.any():
                code = np.zeros(self.n_rows, np.int8)
                reasons = np.zeros(self.n_rows, np.uint64)
                code[self.rows], reasons[self.rows] = answer.code, answer.reasons
                self.verdicts[plugin] = replace(answer, code=code, reasons=reasons)
            else:
                self.verdicts[plugin] = None
        kept = self.verdicts[plugin]
        if kept is None:
            return None
        return replace(kept, code=kept.code[nodes.rows], reasons=kept.reasons[nodes.rows])

    def node_only_score(self, plugin: str, nodes: Nodes, ask: AskScore) -> Scores:
        """Return a plugin's raw scores of `nodes`, int64 (n,).

        If they are the same everywhere, the column is the same object for equally many nodes.
        """
        if plugin not in self.scores:
            answer = ask(Nodes(nodes.cluster, self.rows))
            if answer.size and (answer == answer[0]).all():
                self.scores[plugin] = int(answer[0])
            else:
                scores = np.zeros(self.n_rows, np.int64)
                scores[self.rows] = answer
                self.scores[plugin] = scores
        kept = self.scores[plugin]
        return same_everywhere(kept, nodes.n) if isinstance(kept, int) else kept[nodes.rows]

    def resources_only_verdict(self, plugin: str, nodes: Nodes, ask: AskFilter) -> Verdict | None:
        """Return a plugin's verdict about `nodes`, None if it rejects no node at all."""
        return self.state_verdicts.setdefault(plugin, StateVerdicts()).verdict(nodes, ask)

    def resources_only_score(self, plugin: str, nodes: Nodes, ask: AskScore) -> Scores:
        """Return a plugin's raw scores of `nodes`, int64 (n,)."""
        return self.state_scores.setdefault(plugin, StateScores()).score(nodes, ask)


class KeptAnswers:
    """The answers of one profile's plugins, by template."""

    def __init__(self) -> None:
        self._templates: dict[int, TemplateAnswers] = {}
        self._revision = -1
        self._states: ResourceStates | None = None
        self._rows: IntArray = np.zeros(0, np.int64)

    def about(self, pod: PodInfo, nodes: Nodes) -> TemplateAnswers | None:
        """Return what is kept for the pod's template, None if nothing should be.

        A template's first pod is judged without, for there may never be a second one; so are
        nodes shown without their images.
        """
        cluster, template = nodes.cluster, pod.template.index
        if self._revision != cluster.node_revision or self._states is not cluster.resource_states:
            self._revision = cluster.node_revision
            self._states = cluster.resource_states
            self._templates.clear()
            known = [row for row, node in enumerate(cluster.nodes) if node is not None]
            self._rows = np.array(known, np.int64)
        answers = self._templates.get(template)
        if answers is None:
            if len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            self._templates[template] = TemplateAnswers(pod.uid, self._rows, cluster.n_rows)
            return None
        return None if answers.first_uid == pod.uid or nodes.bare else answers


class KeptPreparations:
    """What template-only plugins of one profile answered at PreFilter and PreScore."""

    def __init__(self) -> None:
        self._templates: dict[int, dict[str, Prepared[object] | Status]] = {}

    def about(self, pod: PodInfo) -> dict[str, Prepared[object] | Status]:
        """Return the answers about the pod's template by plugin name, to be added to."""
        known = self._templates.get(pod.template.index)
        if known is None:
            if len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            known = self._templates[pod.template.index] = {}
        return known
