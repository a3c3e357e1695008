"""How many more pods fit: copies of templates, one after the other, until the next finds no node.

The scheduler runs: every copy is created and has its own cycle in the cluster that the ones
before it have left. Nothing is evicted for a copy that counts, because only a cycle that finds no
node preempts, and that one ends the count. Where others go on after it, as with several templates
that are not a mix, copies have `preemptionPolicy: Never`.

What cluster-capacity does (kubernetes-sigs/cluster-capacity), over the objects of a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from scheduler_core.analysis.advice.filling import Filling, Stop
from scheduler_core.analysis.advice.room import Headroom, Placement, PoolRoom, Rooms
from scheduler_core.analysis.advice.settled import settled
from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.gc_freeze import gc_frozen
from scheduler_core.sim.run import RunOptions

MAX_COPIES: Final = 100_000
"""So many copies are tried unless another limit is given."""
NEVER: Final = "Never"


@dataclass(frozen=True, slots=True)
class TemplateEnd:
    """How many copies of a template fit; `stop` is None where another one ended a mix."""

    pod: str
    count: int
    stop: Stop | None


@dataclass(frozen=True)
class Capacity:
    """How many copies fit beside what is there.

    `placements` are in the order in which the copies came. Of `n_waiting` pods that were pending
    in the cluster `n_placed_first` got a node before the first copy.
    """

    ends: tuple[TemplateEnd, ...]
    stop: Stop
    """What ended it all: that of the last template."""
    placements: tuple[Placement, ...]
    pools: tuple[PoolRoom, ...]
    headroom: Headroom
    max_copies: int
    n_waiting: int
    n_placed_first: int

    @property
    def count(self) -> int:
        return len(self.placements)

    @property
    def by_node(self) -> Mapping[str, int]:
        """How many copies each node got, the first one first."""
        return dict(Counter(each.node for each in self.placements))


def capacity(
    objects: Sequence[KubeObject],
    options: RunOptions,
    templates: Sequence[Pod],
    max_copies: int = MAX_COPIES,
) -> Capacity:
    """Fill the cluster with a copy of each template in turn, until none of them fits.

    A template whose copy finds no node is out, the others go on. Raises ConfigError and
    PluginFailure as a run does.
    """
    if len(templates) > 1:
        templates = [_never_preempting(pod) for pod in templates]
    return _filled(objects, options, templates, max_copies, _each_until_none_fits)


def capacity_of_mix(
    objects: Sequence[KubeObject],
    options: RunOptions,
    mix: Sequence[tuple[Pod, int]],
    max_copies: int = MAX_COPIES,
) -> Capacity:
    """Fill the cluster with templates in turns by their weights, until the next finds no node.

    Raises ConfigError and PluginFailure as a run does.
    """
    weights = [weight for _, weight in mix]

    def until_one_does_not_fit(filling: Filling) -> None:
        turns = turns_of(weights)
        while filling.place_copy(next(turns)):
            pass

    return _filled(objects, options, [pod for pod, _ in mix], max_copies, until_one_does_not_fit)


def turns_of(weights: Sequence[int]) -> Iterator[int]:
    """Yield for ever whose turn it is, each index by its weight and as evenly as can be."""
    due = [0] * len(weights)
    while True:
        for i, weight in enumerate(weights):
            due[i] += weight
        chosen = max(range(len(weights)), key=due.__getitem__)
        due[chosen] -= sum(weights)
        yield chosen


def _each_until_none_fits(filling: Filling) -> None:
    left = list(range(filling.n_templates))
    while left:
        left = [i for i in left if filling.place_copy(i)]


def _never_preempting(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, preemption_policy=NEVER))


def _filled(
    objects: Sequence[KubeObject],
    options: RunOptions,
    templates: Sequence[Pod],
    max_copies: int,
    fill: Callable[[Filling], None],
) -> Capacity:
    run = settled(objects, options)
    waiting = [item.key for item in objects if isinstance(item, Pod) and not item.spec.node_name]
    placed = [pod for key in waiting if (pod := run.simulation.server.get(Pod, key)) is not None]
    filling = Filling(run, templates, max_copies)
    rooms = Rooms(run.simulation.scheduler.cache.update_snapshot(), filling.requests)
    with gc_frozen(lambda: None):
        fill(filling)
    placements, stops = filling.placements(), filling.stops
    counts = Counter(each.template for each in placements)
    stop = list(stops.values())[-1]
    return Capacity(
        ends=tuple(
            TemplateEnd(pod.key, counts[i], stops.get(i)) for i, pod in enumerate(templates)
        ),
        stop=stop,
        placements=placements,
        pools=rooms.after(placements, stop.rejections),
        headroom=rooms.headroom(placements),
        max_copies=max_copies,
        n_waiting=len(waiting),
        n_placed_first=sum(bool(pod.spec.node_name) for pod in placed),
    )
