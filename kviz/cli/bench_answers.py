"""How long answers take: each question about each cluster, asked as its command asks it.

The clock begins when the file has been read: loading the cluster and running it as it is belong to
what one waits for. Each question uses all cores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.dump import UnusableDump, name_of_dump, recorded
from kviz.forking.copies import n_cores
from kviz.questions.luck.answer import luck
from kviz.questions.nodes.answer import draining
from kviz.questions.survive.answer import survival
from kviz.questions.unblock.command import runner
from kviz.samples import FOLDER
from kviz.simulate import read_files
from scheduler_core.analysis.advice.capacity import MAX_COPIES, capacity
from scheduler_core.analysis.advice.coins import coins_of
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS, nodes_to_add
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES
from scheduler_core.analysis.advice.nodes.offers import offers_of
from scheduler_core.analysis.advice.survival import Standing, losses_of_zones, standing_run
from scheduler_core.analysis.advice.trial import RunEnd, Trials, trial
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.sim.run import RunOptions

SAMPLE: Final = FOLDER / "why-pending.yaml"
DUMPS: Final = ("medium", "openb", "large")
"""Recorded clusters that are asked about, too, where they are."""
OPTIONS: Final = RunOptions()


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """One answer: `first_s` until the first part of it, `took_s` until all, both by the clock.

    `cpu_s` is the time of all processes, `load` how many wanted a core at the end of it, on average
    over the last minute; this one's are among them.
    """

    cluster: str
    question: str
    answer: str
    first_s: float
    took_s: float
    cpu_s: float
    calibration_s: float
    load: float

    def as_json(self) -> dict[str, object]:
        return asdict(self)


Saying = Iterator[str]
"""What is known so far, in words; the last is the whole answer."""


def files_asked(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that are measured: those given, or else a sample and the dumps there are."""
    yield from given or (SAMPLE,)
    for name in () if given else DUMPS:
        try:
            yield recorded(name)
        except UnusableDump:
            continue


def measure_answers(files: Iterable[Path]) -> Iterator[AnswerResult]:
    """Ask every question about the cluster of every file. Raises OSError and UnusableDump."""
    for file in files:
        objects = list(read_files([file]).objects)
        if not any(isinstance(item, Node) for item in objects):
            raise UnusableDump(f"{file}: there is no node in it")
        for question, said in _questions(objects, trial(objects, OPTIONS)).items():
            yield _measured(name_of_dump(file), question, said)


def _measured(cluster: str, question: str, ask: Callable[[], Saying]) -> AnswerResult:
    calibration_s = loop_s(N_ITERATIONS)
    began_s, cpu_began_s = time.perf_counter(), _cpu_s()
    said = ask()
    answer = next(said)
    first_s = time.perf_counter() - began_s
    *_, answer = (answer, *said)
    took_s, cpu_s = time.perf_counter() - began_s, _cpu_s() - cpu_began_s
    load = os.getloadavg()[0]
    return AnswerResult(cluster, question, answer, first_s, took_s, cpu_s, calibration_s, load)


def _cpu_s() -> float:
    """CPU seconds of this process and of its copies that are gone."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _questions(objects: Sequence[KubeObject], end: RunEnd) -> dict[str, Callable[[], Saying]]:
    """What can be asked of a cluster that ends so, by name."""
    pending, bound = end.keys("pending"), end.keys("bound")
    there = {item.key: item for item in objects if isinstance(item, Pod)}
    stuck = next((key for key in pending if key in there and end.of(key).cycle), None)
    copied = next((there[key] for key in (*bound, *pending) if key in there), None)
    questions: dict[str, Callable[[], Saying]] = {}
    if stuck is not None:
        questions["unblock"] = lambda: _unblock(objects, stuck)
    if copied is not None:
        questions["capacity"] = lambda: _capacity(objects, copied)
    return questions | {
        "nodes": lambda: _nodes(objects),
        "survive": lambda: _survive(objects),
        "luck": lambda: _luck(objects),
    }


def _unblock(objects: Sequence[KubeObject], pod: str) -> Saying:
    n_answers = 0
    for found in unblock(Trials(objects, OPTIONS), pod, runner(n_cores())):
        n_answers = len(found.answers)
        if n_answers:
            yield f"{pod}: {n_answers} answers, {found.n_tried} of {found.n_plans} plans tried"
    if not n_answers:
        yield f"{pod}: no answer"


def _capacity(objects: Sequence[KubeObject], pod: Pod) -> Saying:
    found = capacity(objects, OPTIONS, [pod], MAX_COPIES)
    yield f"{found.count:,} more of {pod.key}"


def _nodes(objects: Sequence[KubeObject]) -> Saying:
    """First the nodes to add, then those that could be drained."""
    added = nodes_to_add(objects, OPTIONS, offers_of(objects, (), {}), MAX_RUNS)
    text = f"{added.n_nodes:,} to add for {len(added.placed):,} pods"
    yield text
    standing = standing_run(objects, OPTIONS)
    n_nodes = sum(isinstance(item, Node) for item in objects)
    drained = draining(standing, n_nodes, MAX_CANDIDATES, n_cores())
    yield f"{text}, {len(drained.drained):,} of {drained.n_tried:,} can be drained"


def _survive(objects: Sequence[KubeObject]) -> Saying:
    standing = standing_run(objects, OPTIONS)
    before = Standing.before(standing)
    losses = list(losses_of_zones(before.nodes))
    survival(standing, before, losses, n_cores())
    yield f"{len(losses):,} zones lost in turn"


def _luck(objects: Sequence[KubeObject]) -> Saying:
    found = luck(
        objects, OPTIONS, coins=coins_of(OPTIONS.tie_break), runs=None, seed=0, jobs=n_cores()
    )
    alone = sum(each.runs for each in found.alone)
    tight = ", every interval tight" if found.is_tight else ""
    yield f"{found.runs:,} runs{tight}, {alone:,} of single choices"
