"""What changes come to in the cluster of a held cycle: edits of its objects, and other rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.device import ResourceClaimTemplate
from scheduler_core.changes import Change, ChangeError, RuleChange, sentence
from scheduler_core.changes.applying import carry_out
from scheduler_core.changes.limits import limits_of
from scheduler_core.changes.refusals import Objects, Refused
from scheduler_core.changes.rules import weighted
from scheduler_core.changes.scoring import scored
from scheduler_core.changes.vocabulary import (
    ObjectChange,
    Restore,
    SetScoring,
    SetWeight,
    Target,
    UseConfiguration,
)
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    load_configuration,
)
from scheduler_core.sim.api_server import completed
from scheduler_core.sim.preview_world import Edit
from scheduler_core.wording import say, told

K = TypeVar("K", bound=KubeObject)

MAX_EDITS: Final = 1_000
"""So many objects may be changed in a preview; it answers at once, or not at all."""

_OF_A_TEMPLATE: Final = say(
    "cycle.of_a_template",
    "a claim is made from its template before the cycle: start a run with the change",
)
_Key = tuple[type[KubeObject], str]


@dataclass(frozen=True)
class Planned:
    """What changes come to.

    `without_effect` names those that cannot matter, and says why; `limits` those to which a real
    cluster may have something to say.
    """

    edits: tuple[Edit, ...]
    configuration: KubeSchedulerConfiguration | None
    without_effect: tuple[Problem, ...]
    limits: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class HeldState:
    """What a held cycle knows that changes may be about.

    `own_key` is the pod that is tried, `nominated` has the nominated nodes by their pods' keys.
    """

    objects: Objects
    configuration: KubeSchedulerConfiguration
    features: FeatureGates
    now_ns: int
    own_key: str
    nominated: Mapping[str, str]


def plan(changes: Sequence[Change], held: HeldState) -> Planned:
    """Apply changes in order, to objects at rest: what is deleted is gone at once.

    Raises ChangeError, which names every change that cannot be carried out.
    """
    objects = ChangedObjects(held.objects)
    configuration: KubeSchedulerConfiguration | None = None
    problems: list[Problem] = []
    for i, change in enumerate(changes):
        try:
            if isinstance(change, RuleChange):
                configuration = _configuration(change, configuration, held)
            else:
                objects.carry_out(i, change)
        except Refused as refusal:
            problems.append(Problem(("changes", i), told(refusal)))
        except ConfigError as error:
            at = ("changes", i)
            problems += [Problem((*at, *each.path), each.message) for each in error.problems]
    if problems:
        raise ChangeError(problems)
    edits = tuple(objects.edits(held.now_ns))
    without_effect = tuple(objects.without_effect(edits, held))
    return Planned(edits, configuration, without_effect, tuple(objects.limits))


def _configuration(
    change: RuleChange, known: KubeSchedulerConfiguration | None, held: HeldState
) -> KubeSchedulerConfiguration:
    """Return the configuration after a change. Raises ConfigError, and Refused."""
    match change:
        case UseConfiguration(text) if text.strip():
            return load_configuration(text, held.features)
        case UseConfiguration():
            return default_configuration(held.features)
        case SetWeight(plugin, weight):
            return weighted(held.configuration if known is None else known, {plugin: weight})
        case SetScoring():
            return scored(held.configuration if known is None else known, change, held.features)
        case _:
            raise Refused(
                "this counts from the beginning of a run, so no cycle shows it by itself; start a "
                "run with it"
            )


class ChangedObjects:
    """The objects of a simulation as they would be after some changes."""

    def __init__(self, before: Objects) -> None:
        self._before = before
        self._now: dict[_Key, KubeObject | None] = {}
        self._touched: list[set[_Key]] = []
        self.limits: list[Problem] = []

    def carry_out(self, index: int, change: ObjectChange) -> None:
        """Carry out the change of that index. Raises Refused."""
        text = sentence(change, self)
        self._touched += [set() for _ in range(index + 1 - len(self._touched))]
        try:
            self.limits += [Problem(("changes", index), each) for each in limits_of(change, self)]
            carry_out(change, self)
        except Refused as refusal:
            raise Refused(
                say("list.what_why", "{what}: {why}", what=text, why=told(refusal))
            ) from None

    def edits(self, now_ns: int) -> Iterator[Edit]:
        """Yield what has become of each object that is not as it was, in order of first mention."""
        for (kind, key), new in self._now.items():
            old = self._before.get(kind, key)
            if new is not None and old is None:
                new = completed(new, now_ns, "")
            if new != old:
                yield Edit(old, new)

    def without_effect(self, edits: Sequence[Edit], held: HeldState) -> Iterator[Problem]:
        """Yield a problem for each change that cannot matter to the cycle."""
        edited = {(type(edit.item), edit.item.key): edit for edit in edits}
        for i, keys in enumerate(self._touched):
            there = [edited[key] for key in keys if key in edited]
            if not there and keys:
                yield Problem(("changes", i), "nothing changes: it is so already")
            elif there and all(isinstance(edit.item, ResourceClaimTemplate) for edit in there):
                yield Problem(("changes", i), _OF_A_TEMPLATE)
            elif there and all(_is_elsewhere(edit, held) for edit in there):
                names = ", ".join(sorted(edit.item.key for edit in there))
                text = (
                    f"{names} is pending and not nominated to a node: it takes no part in the cycle"
                )
                yield Problem(("changes", i), text)

    # ------------------------------------------------------------ the objects (Changeable)

    def get(self, kind: type[K], key: str) -> K | None:
        if (kind, key) not in self._now:
            return self._before.get(kind, key)
        found = self._now[kind, key]
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        seen = set()
        for item in self._before.all(kind):
            seen.add(item.key)
            now = self._now.get((kind, item.key), item)
            if isinstance(now, kind):
                yield now
        for (of_kind, key), new in list(self._now.items()):
            if of_kind is kind and key not in seen and isinstance(new, kind):
                yield new

    def write(self, item: KubeObject) -> None:
        self._set((type(item), item.key), item)

    def remove(self, item: KubeObject | Target) -> None:
        kind = type(item) if isinstance(item, KubeObject) else item.kind
        self._set((kind, item.key), None)

    def _set(self, key: _Key, item: KubeObject | None) -> None:
        if len(self._now) >= MAX_EDITS and key not in self._now:
            text = f"more than {MAX_EDITS:,} objects change, too many for a preview; start a run"
            raise Refused(text)
        self._touched[-1].add(key)
        self._now[key] = item

    def restore(self, change: Restore) -> None:
        for target in change.remove:
            self.remove(target)
        for placed in change.objects:
            self.write(placed.item)


def _is_elsewhere(edit: Edit, held: HeldState) -> bool:
    """Return whether an edit is of a pod that no other pod's cycle looks at."""
    pods = [each for each in (edit.old, edit.new) if isinstance(each, Pod)]
    return bool(pods) and not any(
        pod.key == held.own_key
        or pod.spec.node_name
        or pod.status.nominated_node_name
        or pod.key in held.nominated
        for pod in pods
    )
