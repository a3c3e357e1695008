"""Answers that hold for every pod of a template until a node object changes.

Most Filter and Score plugins look at nothing of a node but its object: labels, taints, images.
They say `node_only = True`, are asked once about all nodes, and each cycle picks from their
answers those of the nodes it looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler_core.cluster.nodes import IntArray, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import Scores
from scheduler_core.framework.status import Verdict

MAX_TEMPLATES = 64
"""Answers about so many templates are kept; beyond that those of the oldest go."""


@dataclass(slots=True)
class TemplateAnswers:
    """What plugins said about one template, by plugin name, over `n_rows` rows of the cluster.

    `rows` are those that have a node. A verdict that lets all of them pass is None.
    """

    first_uid: str
    rows: IntArray
    n_rows: int
    verdicts: dict[str, Verdict | None] = field(default_factory=dict)
    scores: dict[str, Scores] = field(default_factory=dict)

    def verdict(self, plugin: str, nodes: Nodes, ask: Callable[[Nodes], Verdict]) -> Verdict | None:
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

    def score(self, plugin: str, nodes: Nodes, ask: Callable[[Nodes], Scores]) -> Scores:
        """Return a plugin's raw scores of `nodes`, int64 (n,)."""
        if plugin not in self.scores:
            scores = np.zeros(self.n_rows, np.int64)
            scores[self.rows] = ask(Nodes(nodes.cluster, self.rows))
            self.scores[plugin] = scores
        return self.scores[plugin][nodes.rows]


class KeptAnswers:
    """The answers of one profile's node-only plugins, by template."""

    def __init__(self) -> None:
        self._templates: dict[int, TemplateAnswers] = {}
        self._revision = -1
        self._rows: IntArray = np.zeros(0, np.int64)

    def about(self, pod: PodInfo, nodes: Nodes) -> TemplateAnswers | None:
        """Return what is kept for the pod's template, None if nothing should be.

        A template's first pod is judged without, for there may never be a second one; so are
        nodes shown without their images.
        """
        cluster, template = nodes.cluster, pod.template.index
        if self._revision != cluster.node_revision:
            self._revision = cluster.node_revision
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
