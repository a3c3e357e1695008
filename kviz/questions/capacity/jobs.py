"""How many more fit: copies of pods, one after the other, until the next finds no node.

With several templates each is also counted alone, so that one sees which of them is in the way.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypedDict

from kviz.common.problems import ErrorItem
from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import ONE
from kviz.questions.capacity.text import as_json, daemons_json
from kviz.runs.inputs import InvalidInput
from scheduler_core.analysis.advice.capacity import capacity, capacity_of_mix
from scheduler_core.analysis.advice.filling import as_new
from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.errors import ParseError
from scheduler_core.api.ingest import ingest
from scheduler_core.api.pod_templates import WORKLOADS
from scheduler_core.changes import document_of
from scheduler_core.changes.vocabulary import Create
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim.run import RunOptions
from scheduler_core.wording import say, series

# Pods pasted as templates of copies.

FIELD: Final = "manifest"


def pods_in(manifest: str) -> list[Pod]:
    """Return the pods of a manifest and those that its workloads make, at least one.

    Raises InvalidInput, with lines.
    """
    read = ingest([("templates", io.BytesIO(manifest.encode()))], pods_in=WORKLOADS)
    if read.errors:
        raise InvalidInput([_error(each) for each in read.errors])
    pods = list(read.objects.of(Pod))
    if not pods:
        others = series([*read.counts, *read.ignored])
        text = say("question.no_template", "There is no pod in it, nor a workload that makes pods.")
        if others:
            text = say(
                "question.no_template_only",
                "There is no pod in it, nor a workload that makes pods, only: {kinds}.",
                kinds=others,
            )
        raise InvalidInput([{"field": FIELD, "message": text}])
    return pods


def _error(error: ParseError) -> ErrorItem:
    message = error.message
    if error.field:
        message = say("list.what_why", "{what}: {why}", what=error.field, why=message)
    found: dict[str, str | int] = {"field": FIELD, "message": message}
    return found if error.place.line is None else found | {"line": error.place.line}


TOGETHER: Final = "together"


class AskedTemplate(TypedDict):
    """A pod of the cluster, or a manifest of one or several pods; `weight` 0: no part of a mix."""

    pod: str
    manifest: str
    weight: int


@dataclass(frozen=True)
class Fill(Variant):
    """Copies of some templates, by their places; more than one fill together."""

    templates: tuple[int, ...] = ()


class Filling:
    """Fills the cluster with copies of all templates together, and of each alone."""

    per_copy: Final = ONE

    def __init__(
        self, begun: Beginning, templates: Sequence[AskedTemplate], max_copies: int
    ) -> None:
        self._begun = begun
        self._asked = templates
        self._max_copies = max_copies

    @cached_property
    def _cluster(self) -> tuple[Sequence[KubeObject], RunOptions]:
        return self._begun.cluster()

    @cached_property
    def _templates(self) -> list[tuple[Pod, int]]:
        return templates_of(self._asked, self._cluster[0])

    def answer(self, running: Running[Fill]) -> Outcome:
        n = len(self._templates)
        alone = [Fill(pod.key, (i,)) for i, (pod, _) in enumerate(self._templates)]
        together = [Fill(TOGETHER, tuple(range(n)))] if n > 1 else []
        outcomes = running.all([*together, *alone])
        names = (pod.key for pod, _ in self._templates)
        counts = zip(names, outcomes[len(together) :], strict=True)
        found = {name: value for name, value in outcomes[0].items() if name != "changes"}
        return found | {
            "alone": [{"pod": name, "count": each.get("count")} for name, each in counts],
        }

    def carry_out(self, variant: Fill) -> Outcome:
        objects, options = self._cluster
        chosen = [self._templates[i] for i in variant.templates]
        try:
            if len(chosen) > 1 and all(weight for _, weight in chosen):
                found = capacity_of_mix(objects, options, chosen, self._max_copies)
            else:
                pods = [pod for pod, _ in chosen]
                found = capacity(objects, options, pods, self._max_copies)
        except PluginFailure as failure:
            return {"problem": str(failure)}
        ends = zip(found.ends, (pod for pod, _ in chosen), strict=True)
        one_more = 0 if found.stop.victims or found.stop.kind != "unschedulable" else 1
        copies = [Create((as_new(pod),), end.count + one_more) for end, pod in ends if end.count]
        return as_json(found) | {
            "daemons": daemons_json(objects),
            "changes": [document_of(each) for each in copies],
        }


def templates_of(
    asked: Iterable[AskedTemplate], objects: Sequence[KubeObject]
) -> list[tuple[Pod, int]]:
    """Return the pods to copy, with their weights. Raises InvalidInput."""
    there = {item.key: item for item in objects if isinstance(item, Pod)}
    found: list[tuple[Pod, int]] = []
    for each in asked:
        if name := each["pod"]:
            if name not in there:
                raise InvalidInput(
                    [
                        {
                            "field": "pod",
                            "message": say("question.no_pod", "There is no pod {pod}.", pod=name),
                        }
                    ]
                )
            found.append((there[name], each["weight"]))
        else:
            found += [(pod, each["weight"]) for pod in pods_in(each["manifest"])]
    return found
