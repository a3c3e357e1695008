"""What another release of the scheduler changes for a cluster, and which of its changes does.

The cluster runs under both releases. Where pods end otherwise it runs again as under the new one
with single changes undone: a pod that then ends as before has that cause. Where no single one is
enough, the fewest that have to be undone together are found by leaving out one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from itertools import chain

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


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """A switch, or a gate with another default, in which two releases differ.

    `undo` is what `--feature-gates` takes to have the old behaviour; empty where nothing does.
    """

    name: str
    upstream: str
    sentence: str
    undo: str


@dataclass(frozen=True)
class Rehearsal:
    """A cluster under two releases.

    `because` has for each pod that ends otherwise the changes that do it, by name: any one of
    several in `alone`, all of those in `together`. A pod in neither has no known cause.
    """

    comparison: Comparison
    apart: Names
    changes: Mapping[str, ReleaseChange]
    panics: tuple[str, ...]
    alone: Mapping[str, Sequence[str]] = field(default_factory=dict)
    together: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def because(self, pod: str) -> Sequence[str]:
        """The names of the changes that let a pod end otherwise; empty where none is known."""
        return self.alone.get(pod) or self.together.get(pod) or ()

    @property
    def causes(self) -> Mapping[str, int]:
        """Of how many pods each change is a cause, without those of none, in their order."""
        named = list(chain.from_iterable(map(self.because, sorted(self.apart))))
        return {name: named.count(name) for name in self.changes if name in named}


def rehearse(
    objects: Sequence[KubeObject], old: RunOptions, new: RunOptions, options_for: OptionsFor
) -> Rehearsal:
    """Run a cluster under two releases, and find which change lets which pod end otherwise.

    Raises ConfigError where a configuration cannot be run.
    """
    before, after = _run(objects, old), _run(objects, new)
    apart = _apart(before, after)
    changes = changes_between(old.features, new.features)
    found = Rehearsal(
        compare(before, after),
        apart,
        {each.name: each for each in changes},
        tuple(panics(objects, new.configuration, new.features)),
    )
    if not apart:
        return found
    trials = _Trials(objects, before, new.features, options_for)
    alone: dict[str, list[str]] = {}
    for change in changes:
        for pod in apart - trials.apart_without([change.name]):
            alone.setdefault(pod, []).append(change.name)
    return with_fields(
        found,
        alone=alone,
        together=_together(apart - alone.keys(), [each.name for each in changes], trials),
    )


def changes_between(old: FeatureGates, new: FeatureGates) -> list[ReleaseChange]:
    """What differs between two releases and decides something: switches, then gates."""
    switched = [
        ReleaseChange(name, switch.upstream, switch.sentence, "")
        for name, switch in SWITCHES.items()
        if getattr(old.switches, name) is not getattr(new.switches, name)
    ]
    gates = (name for name in SWITCHABLE if old.enabled(name) is not new.enabled(name))
    return switched + [
        ReleaseChange(name, "", SWITCHABLE[name], f"{name}={str(old.enabled(name)).lower()}")
        for name in gates
        if name in old.release.gates and name in switchable(new.release)
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


@dataclass
class _Trials:
    """Runs as under the new release without some of its changes, each made once."""

    objects: Sequence[KubeObject]
    before: RunLines
    new: FeatureGates
    options_for: OptionsFor
    known: dict[Names, Names] = field(default_factory=dict)

    def apart_without(self, names: Iterable[str]) -> Names:
        """The pods that do not end as under the old release."""
        key = frozenset(names)
        if key not in self.known:
            options = with_fields(self.options_for(undone(self.new, key)), details=False)
            self.known[key] = _apart(self.before, _run(self.objects, options))
        return self.known[key]


def _together(pods: Names, names: Sequence[str], trials: _Trials) -> dict[str, Sequence[str]]:
    """By pod, the fewest changes that have to be undone together for it to end as before."""
    found: dict[str, Sequence[str]] = {}
    for pod in sorted(pods):
        if pod in trials.apart_without(names):
            continue
        needed = list(names)
        for name in names:
            others = [each for each in needed if each != name]
            if pod not in trials.apart_without(others):
                needed = others
        found[pod] = needed
    return found


def _run(objects: Sequence[KubeObject], options: RunOptions) -> RunLines:
    return read_lines(list(chunked(simulate(objects, options))))


def _apart(a: RunLines, b: RunLines) -> Names:
    """Return the pods that do not end on one and the same node, or are evicted in one run only."""
    places_a, places_b = places(a.end), places(b.end)
    both = places_a.keys() & places_b.keys()
    moved = {pod for pod in both if places_a[pod] != places_b[pod]}
    return frozenset(moved | set(a.evicted) ^ set(b.evicted))
