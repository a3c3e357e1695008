"""Which changes of a release let which pods end otherwise, hear otherwise, or be tried otherwise.

The cluster runs under both releases. Where something differs it runs again as under the new one
with single changes undone: what is then as before has that cause. Where no single one is enough,
those that have to be undone together are found by leaving out more and more of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import Final, Literal, get_args

from msgspec.structs import replace

from scheduler_core.analysis.compare import Comparison, RunLines, compare, read_lines
from scheduler_core.analysis.compare.ends import places
from scheduler_core.api import KubeObject
from scheduler_core.config.features import SWITCHABLE, FeatureGates, switchable
from scheduler_core.releases.switches import SWITCHES
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.sim.not_modelled import panics
from scheduler_core.trace.codec import chunked

OptionsFor = Callable[[FeatureGates], RunOptions]
"""What a run is made with under other gates: the configuration depends on them."""
Names = frozenset[str]
Kind = Literal["end", "message", "tries"]
"""A pod ends otherwise; or it does not, and its messages or how often it is tried differ."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Difference = tuple[Kind, str]
"""What is different, and of which pod."""
Differences = frozenset[Difference]
Trials = Callable[[Sequence[Names]], Sequence[Differences]]
"""For each of some sets of changes, what still differs when they are undone."""


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A switch, or a gate with another setting, in which two releases differ.

    `undo` is what `--feature-gates` takes to have the old behaviour; empty where nothing does.
    `instead` says what to write in objects to have it, where that is possible.
    `is_new` is False for what only the old release does.
    """

    name: str
    upstream: str
    sentence: str
    undo: str
    is_new: bool
    instead: str = ""


@dataclass(frozen=True)
class Rehearsal:
    """A cluster under two releases.

    `alone` has for what differs the changes each of which does it, by name; `together` those that
    have to be undone together. What is in neither has no known cause.
    """

    comparison: Comparison
    differences: Differences
    changes: Mapping[str, ReleaseChange]
    panics: tuple[str, ...]
    alone: Mapping[Difference, Sequence[str]]
    together: Mapping[Difference, Sequence[str]]

    def pods(self, kind: Kind) -> Names:
        """The pods of which something of a kind differs."""
        return frozenset(pod for each, pod in self.differences if each == kind)

    @property
    def apart(self) -> Names:
        """The pods that do not end on one and the same node, or are evicted in one run only."""
        return self.pods("end")

    def because(self, pod: str, kind: Kind = "end") -> Sequence[str]:
        """The names of the changes that do it; empty where none is known."""
        return self.alone.get((kind, pod)) or self.together.get((kind, pod)) or ()

    def causes(self, kind: Kind = "end") -> Mapping[str, int]:
        """Of how many pods each change is a cause, without those of none, in their order."""
        n = Counter(name for pod in self.pods(kind) for name in self.because(pod, kind))
        return {name: n[name] for name in self.changes if name in n}


@dataclass(frozen=True)
class _Course:
    """What a run made of its pods, by their names.

    `said` are the messages of a pod in order, without those that repeat the one before.
    """

    places: Mapping[str, str]
    evicted: Names
    said: Mapping[str, Sequence[str]]
    tries: Mapping[str, int]


class Both:
    """A cluster run under two releases, and under the new one with some of its changes undone."""

    def __init__(
        self,
        objects: Sequence[KubeObject],
        old: RunOptions,
        new: RunOptions,
        options_for: OptionsFor,
    ) -> None:
        """Run it. Raises ConfigError where a configuration cannot be run."""
        before, after = _run(objects, old), _run(objects, new)
        self._objects = objects
        self._options_for = options_for
        self._new = new.features
        self._before = _course(before)
        self.differences = _differences(self._before, _course(after))
        self.changes = changes_between(old.features, new.features)
        self.comparison = compare(before, after)
        self.panics = tuple(panics(objects, new.configuration, new.features))

    def without(self, names: Iterable[str]) -> Differences:
        """Run it with some changes undone, and return what still differs."""
        options = with_fields(self._options_for(undone(self._new, names)), details=False)
        return _differences(self._before, _course(_run(self._objects, options)))

    def explained(self, trials: Trials) -> Rehearsal:
        """Find the causes of what differs, by trials, of which several may run at a time."""
        names = [each.name for each in self.changes]
        alone: dict[Difference, list[str]] = {}
        if self.differences:
            for name, left in zip(
                names, trials([frozenset([each]) for each in names]), strict=True
            ):
                for each in self.differences - left:
                    alone.setdefault(each, []).append(name)
        return Rehearsal(
            self.comparison,
            self.differences,
            {each.name: each for each in self.changes},
            self.panics,
            alone,
            _together(self.differences - alone.keys(), names, trials),
        )


def rehearse(
    objects: Sequence[KubeObject], old: RunOptions, new: RunOptions, options_for: OptionsFor
) -> Rehearsal:
    """Run a cluster under two releases, and find which change lets which pod end otherwise.

    Raises ConfigError where a configuration cannot be run.
    """
    both = Both(objects, old, new, options_for)
    return both.explained(lambda sets: list(map(both.without, sets)))


def changes_between(old: FeatureGates, new: FeatureGates) -> list[ReleaseChange]:
    """What differs between two releases and decides something: switches, then gates."""
    switched = [
        ReleaseChange(
            name, switch.upstream, switch.sentence, "", is_new, switch.instead if is_new else ""
        )
        for name, switch in SWITCHES.items()
        if getattr(old.switches, name) is not (is_new := getattr(new.switches, name))
    ]
    may_be_set = switchable(new.release)
    return switched + [
        ReleaseChange(
            name,
            "",
            sentence,
            f"{name}={str(old.enabled(name)).lower()}" if name in may_be_set else "",
            new.enabled(name),
        )
        for name, sentence in SWITCHABLE.items()
        if old.enabled(name) is not new.enabled(name)
    ]


def undone(new: FeatureGates, names: Iterable[str]) -> FeatureGates:
    """Return the gates of a release without some of its changes."""
    wanted = set(names)
    switches = {name: not getattr(new.switches, name) for name in wanted & SWITCHES.keys()}
    gates = {name: not new.enabled(name) for name in wanted - SWITCHES.keys()}
    release = replace(new.release, switches=replace(new.switches, **switches))
    return replace(
        new, overrides=tuple(sorted({**dict(new.overrides), **gates}.items())), release=release
    )


def _together(
    differences: Differences, names: Sequence[str], trials: Trials
) -> dict[Difference, Sequence[str]]:
    """Return the changes that have to be undone together, none of which could be left out.

    Halves of the changes are left out first, then smaller parts, in the end single ones.
    """
    if not differences:
        return {}
    (left,) = trials([frozenset(names)])
    by_needed = {frozenset(names): differences - left}
    size = len(names)
    while size > 1:
        size = (size + 1) // 2
        for first in range(0, len(names), size):
            by_needed = _narrowed(by_needed, frozenset(names[first : first + size]), trials)
    return {
        each: [name for name in names if name in needed]
        for needed, group in by_needed.items()
        for each in group
    }


def _narrowed(
    by_needed: Mapping[Names, Differences], part: Names, trials: Trials
) -> dict[Names, Differences]:
    """Leave a part of the changes out where that is still enough."""
    asked = [needed for needed, group in by_needed.items() if group and needed & part]
    lefts = dict(zip(asked, trials([needed - part for needed in asked]), strict=True))
    found: dict[Names, Differences] = {}
    for needed, group in by_needed.items():
        left = lefts.get(needed, group)
        for key, some in ((needed, group & left), (needed - part, group - left)):
            if some:
                found[key] = found.get(key, frozenset()) | some
    return found


def _run(objects: Sequence[KubeObject], options: RunOptions) -> RunLines:
    return read_lines(list(chunked(simulate(objects, options))))


def _course(run: RunLines) -> _Course:
    said: dict[str, list[str]] = {}
    for line in run.lines:
        messages = said.setdefault(line.pod, [])
        if not messages or messages[-1] != line.message:
            messages.append(line.message)
    tries = Counter(line.pod for line in run.lines)
    return _Course(places(run.end), frozenset(run.evicted), said, tries)


def _differences(a: _Course, b: _Course) -> Differences:
    moved = {pod for pod in a.places.keys() & b.places.keys() if a.places[pod] != b.places[pod]}
    apart = moved | a.evicted ^ b.evicted
    tried = (a.tries.keys() | b.tries.keys()) - apart
    found: list[Difference] = [("end", pod) for pod in apart]
    found += [("message", pod) for pod in tried if a.said.get(pod) != b.said.get(pod)]
    found += [("tries", pod) for pod in tried if a.tries.get(pod) != b.tries.get(pod)]
    return frozenset(found)
