"""One cluster run many times, with other coins each time, and where the pods end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scheduler_core.advice.coins import Coin, Tosses
from scheduler_core.advice.trial import PodEnd, played_out
from scheduler_core.api import KubeObject, Pod
from scheduler_core.sim.run import Run, RunOptions
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
    """The pods that throws are about, in order of the cluster: who pends, and who has a node."""

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


def throw(
    objects: Sequence[KubeObject],
    options: RunOptions,
    coins: Collection[Coin],
    seed: int,
    number: int,
) -> Throw:
    """Run a cluster once; what comes up depends on the arguments alone.

    `number` is that of the run. Raises ConfigError and PluginFailure as a run does.
    """
    tosses = Tosses(coins, seed, options.configuration.parallelism)
    tosses.begin(number)
    tie_break = "draw" if tosses.draw_seed is not None else options.tie_break
    run = Run(objects, replace(options, details=False, chance=tosses, tie_break=tie_break))
    if tosses.draw_seed is not None:
        run.draw.restart(tosses.draw_seed)
    end, cast = played_out(run), Cast(objects)
    left = [key for key in cast.standing if end.of(key).outcome in ("evicted", "absent")]
    return Throw(
        places=tuple([_place(end.of(key)) for key in cast.pods]),
        left=tuple(left),
        tossed=tuple(tosses.n_choices),
    )


def _place(end: PodEnd) -> str:
    if end.outcome in ("bound", "finished"):
        return end.node
    return PENDING if end.outcome == "pending" else GONE
