"""One cluster run many times, with other coins each time, and where the pods end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scheduler_core.analysis.advice.coins import Coin, Tosses
from scheduler_core.analysis.advice.trial import PodEnd, Trials
from scheduler_core.api import KubeObject, Pod
from scheduler_core.releases.table import TieBreak
from scheduler_core.sim.run import RunOptions
from scheduler_core.trace.tables import TERMINAL_PHASES

PENDING: Final = ""
GONE: Final = "-"


@dataclass(frozen=True)
class Throw:
    """How one run ended.

    `places` has for each pod that pended the name of its node, or PENDING, or GONE for one that has
    been deleted; `left` are the pods that had a node and are no longer there. `tossed` are the
    coins that had anything to decide.
    """

    places: tuple[str, ...]
    left: tuple[str, ...]
    tossed: tuple[Coin, ...]


class Cast:
    """The pods that throws are about, in cluster order: those pending, and those with a node."""

    def __init__(self, objects: Sequence[KubeObject]) -> None:
        pods = [
            item
            for item in objects
            if isinstance(item, Pod)
            and item.status.phase not in TERMINAL_PHASES
            and item.metadata.deletion_timestamp is None
        ]
        self.pods: tuple[str, ...] = tuple(pod.key for pod in pods if not pod.spec.node_name)
        self.standing: tuple[str, ...] = tuple(pod.key for pod in pods if pod.spec.node_name)


class Throwing:
    """Throws of one cluster; it is loaded once, and what its runs have in common is shared."""

    def __init__(self, objects: Sequence[KubeObject], options: RunOptions) -> None:
        self._objects = objects
        self._options = options
        self._tosses = Tosses((), 0, options.configuration.parallelism)
        self._cast = Cast(objects)
        self._trials: dict[TieBreak, Trials] = {}

    def throw(self, coins: Collection[Coin], seed: int, number: int) -> Throw:
        """Run the cluster once; what comes up depends on these and the cluster alone.

        `number` is that of the run. Raises ConfigError and PluginFailure as a run does.
        """
        trials = self._by("draw" if "draws" in coins else self._options.tie_break)
        self._tosses.begin(coins, seed, number)
        end = trials.again(self._tosses.draw_seed)
        left = [key for key in self._cast.standing if end.of(key).outcome in ("evicted", "absent")]
        return Throw(
            places=tuple([_place(end.of(key)) for key in self._cast.pods]),
            left=tuple(left),
            tossed=tuple(self._tosses.n_choices),
        )

    def prepare(self, coins: Collection[Coin]) -> None:
        """Load the cluster and run it as it is, so that throws of these coins begin from there."""
        self._by("draw" if "draws" in coins else self._options.tie_break)

    def n_cycles(self, coins: Collection[Coin]) -> int:
        """Return how many scheduling cycles the run has in which nothing is tossed."""
        ends = self._by("draw" if "draws" in coins else self._options.tie_break).as_it_is.pods
        return max((end.cycle for end in ends.values()), default=0)

    def _by(self, tie_break: TieBreak) -> Trials:
        trials = self._trials.get(tie_break)
        if trials is None:
            options = replace(self._options, chance=self._tosses, tie_break=tie_break)
            trials = self._trials[tie_break] = Trials(self._objects, options)
            self._tosses.begin((), 0, 0)
            trials.as_it_is  # noqa: B018  # all further runs begin with what it works out
        return trials


def _place(end: PodEnd) -> str:
    if end.outcome in ("bound", "finished"):
        return end.node
    return PENDING if end.outcome == "pending" else GONE
