"""An upgrade is rehearsed: both releases, and the new one without some of its changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from functools import cached_property
from typing import Final, cast

from msgspec.structs import replace

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import MANY
from kviz.questions.rehearse.answer import Upgrade
from kviz.questions.rehearse.text import as_json
from kviz.runs.inputs import invalid
from scheduler_core.analysis.rehearsal import Differences, Kind
from scheduler_core.analysis.rehearsal.causes import KINDS, Names
from scheduler_core.config import ConfigError
from scheduler_core.releases import RELEASES


@dataclass(frozen=True)
class Without(Variant):
    """The new release with some of its changes undone."""

    names: tuple[str, ...] = ()


class Rehearsing:
    """Runs the cluster under both releases, then each variant under the new one.

    An outcome names the pods of which something still differs from the old release, by what.
    """

    per_copy: Final = MANY

    def __init__(self, begun: Beginning, to: str) -> None:
        self._begun = begun
        self._to = to

    @cached_property
    def _upgrade(self) -> Upgrade:
        objects, options, rules = self._begun.ruled_cluster()
        today = replace(options.features, release_told=self._begun.run.release_told)
        old = with_fields(options, features=today)
        return Upgrade(objects, old, rules, RELEASES[self._to])

    def answer(self, running: Running[Without]) -> Outcome:
        def trials(sets: Sequence[Names]) -> list[Differences]:
            wanted = [self._without(names) for names in sets]
            return [_differences(each) for each in running.all(wanted)]

        try:
            return as_json(self._upgrade.answer(trials))
        except ConfigError as error:
            raise invalid("scheduler_config", error.problems) from error

    def _without(self, names: Names) -> Without:
        ordered = [each.name for each in self._upgrade.both.changes if each.name in names]
        name = ordered[0] if len(ordered) == 1 else f"{len(ordered)} changes"
        return Without(f"v{self._to} without {name}", tuple(ordered))

    def carry_out(self, variant: Without) -> Outcome:
        left = self._upgrade.both.without(variant.names)
        named = {kind: sorted(pod for each, pod in left if each == kind) for kind in KINDS}
        return {"without": list(variant.names), "differs": named}


def _differences(outcome: Outcome) -> Differences:
    named = cast("dict[Kind, list[str]]", outcome["differs"])
    return frozenset((kind, pod) for kind, pods in named.items() for pod in pods)
