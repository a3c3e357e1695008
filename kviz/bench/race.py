"""kviz and the real kube-scheduler over the same pods, in turn on the same machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, cast

from kviz.bench.measure import BenchOptions, BenchResult, measure, objects_of
from kviz.witness import RACE, Json, Witness, WitnessProblem
from scheduler_core.changes.documents import object_document
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.run import DEFAULT_START_NS, in_sync_order

N_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Round:
    """CPU seconds that each took to bind all pods, loading left out."""

    kviz: BenchResult
    real_s: float
    real_bound: int
    recorded_from: str


@dataclass(frozen=True, slots=True)
class Race:
    """Rounds of one workload, in which each ran once; figures are medians of them."""

    options: BenchOptions
    rounds: Sequence[Round]

    @property
    def ratio(self) -> float:
        """How many times as fast kviz is; the median of the rounds' own ratios."""
        return median(each.real_s / each.kviz.run_s for each in self.rounds)

    def as_json(self) -> dict[str, object]:
        """Return the object that `kviz bench --race --json` prints."""
        first = self.rounds[0]
        return {
            "workload": self.options.workload,
            "nodes": self.options.n_nodes,
            "pods": self.options.n_pods,
            "against": first.recorded_from,
            "bound": {"kviz": first.kviz.n_bound, "real": first.real_bound},
            "kviz_cpu_s": [round(each.kviz.run_s, 3) for each in self.rounds],
            "real_cpu_s": [round(each.real_s, 3) for each in self.rounds],
            "race_ratio": round(self.ratio, 2),
        }


def race(options: BenchOptions, witness: Witness) -> Race:
    """Run both in turn. Raises WitnessProblem if the program fails."""
    document: Json = {"objects": list(_documents(options))}
    return Race(options, [_round(options, witness, document) for _ in range(N_ROUNDS)])


def _round(options: BenchOptions, witness: Witness, document: Json) -> Round:
    mine = measure(replace(options, plugins=False, parts=False))
    (real,) = witness.says(document, test=RACE)
    if real["bound"] != mine.n_bound:
        raise WitnessProblem(f"the two bound {real['bound']} and {mine.n_bound} pods")
    return Round(mine, cast(float, real["cpuSeconds"]), mine.n_bound, str(real["recordedFrom"]))


def _documents(options: BenchOptions) -> Iterator[Json]:
    """Yield the workload's objects as an API server holds them."""
    server = ApiServer()
    for item in in_sync_order(objects_of(options)):
        yield object_document(server.create(item, DEFAULT_START_NS))
