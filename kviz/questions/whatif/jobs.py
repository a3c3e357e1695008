"""Questions that are answered by comparing each variant's end with that of the run as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypedDict, cast

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import MANY
from kviz.runs.inputs import InvalidInput, changes_given
from scheduler_core.analysis.advice import trial as advice
from scheduler_core.analysis.advice.trial import Differing, RunEnd, differences
from scheduler_core.api import Pod
from scheduler_core.changes import Change, ChangeError, RuleChange
from scheduler_core.changes.documents import Document
from scheduler_core.changes.owners import PINNED_KINDS
from scheduler_core.cluster.pods import controller_of
from scheduler_core.config import JsonValue
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import told

AS_IT_IS: Final = "as it is"
WITH_ITS_NODE: Final = "gone with its node"
DIFFERENCES: Final = (
    "newly bound",
    "newly pending",
    "evicted",
    "gone",
    WITH_ITS_NODE,
    "moved",
    "finished",
    "new, bound",
    "new, pending",
)
"""How a pod may end differently, as outcomes and tables have it."""
NAMED: Final = 20
"""So many pods that end differently an outcome names, of each kind of difference."""


class AskedVariant(TypedDict):
    """A variant as an experiment has it stored; `changes` are documents or lines."""

    name: str
    changes: Sequence[Document]


@dataclass(frozen=True)
class Trial(Variant):
    """The run as it is, with some changes before it begins."""

    changes: tuple[Document, ...] = ()


class Trials:
    """Runs each variant from the beginning, with its changes made before.

    An outcome says how many pods are `bound`, `pending` and `evicted` in the end, how many end
    differently from the run as it is, by how (`different`), and names some of them (`pods`). A
    variant that cannot be run has a `problem` instead.
    """

    per_copy: Final = MANY

    def __init__(self, begun: Beginning, variants: Iterable[AskedVariant]) -> None:
        self._begun = begun
        asked = [Trial(each["name"], tuple(each["changes"])) for each in variants]
        self._variants = [Trial(AS_IT_IS), *asked]

    @cached_property
    def _trials(self) -> advice.Trials:
        """The cluster, loaded once for all variants."""
        return self._begun.trials()

    @cached_property
    def _pinned(self) -> frozenset[str]:
        """The pods that belong to their node, as those of DaemonSets do, and go with it."""
        pods = (item for item in self._trials.objects if isinstance(item, Pod))
        return frozenset(pod.key for pod in pods if _is_pinned(pod))

    def answer(self, running: Running[Trial]) -> Outcome:
        _ = self._trials.as_it_is, self._pinned  # before copies are made: they all need them
        outcomes = running.all(self._variants)
        return totals(outcomes[1:])

    def carry_out(self, variant: Trial) -> Outcome:
        try:
            end = self._end(changes_given(cast("list[JsonValue]", list(variant.changes))))
        except (ChangeError, InvalidInput, PluginFailure) as error:
            return {"problem": told(error)}
        return outcome_of(self._trials.as_it_is, end, self._pinned)

    def _end(self, changes: Sequence[Change]) -> advice.RunEnd:
        if not changes:
            return self._trials.as_it_is
        if any(isinstance(each, RuleChange) for each in changes):
            return advice.trial(*self._begun.varied(changes))
        return self._trials.after(changes)


def _is_pinned(pod: Pod) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.kind in PINNED_KINDS


def outcome_of(before: RunEnd, after: RunEnd, pinned: Collection[str]) -> Outcome:
    """Set the end of a variant beside that of the run as it is.

    That the `pinned` pods are gone is said apart: it follows from their node being gone.
    """
    ends = Counter(end.outcome for end in after.pods.values())
    differing: dict[str, list[str]] = {}
    for each in differences(before, after):
        differing.setdefault(_what(each, pinned), []).append(each.pod)
    return {
        "bound": ends["bound"],
        "pending": ends["pending"],
        "evicted": ends["evicted"],
        "different": {what: len(pods) for what, pods in differing.items()},
        "pods": {what: pods[:NAMED] for what, pods in differing.items()},
        "stopped": after.stopped,
    }


def _what(each: Differing, pinned: Collection[str]) -> str:
    if each.what == "gone" and each.pod in pinned:
        return WITH_ITS_NODE
    return f"new, {each.after.outcome}" if each.what == "new" else each.what


def totals(outcomes: Sequence[Outcome]) -> Outcome:
    """How many variants leave pods pending that are bound as it is, and how many could not run."""
    problems = sum("problem" in each for each in outcomes)
    harmless = sum("problem" not in each and not n_worse(each) for each in outcomes)
    return {"variants": len(outcomes), "harmless": harmless, "problems": problems}


def n_worse(outcome: Outcome) -> int:
    """How many pods that have a node as it is have none in a variant, or are gone."""
    different = outcome.get("different")
    if not isinstance(different, Mapping):
        return 0
    return sum(int(different.get(what, 0)) for what in ("newly pending", "evicted", "gone"))
