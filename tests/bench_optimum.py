"""How long the search for the optimum takes: `python -m tests.bench_optimum [SECONDS]`.

Clusters of a few pools and few templates, tight enough that the scheduler's order costs pods: some
prefer a pool, some keep apart, some spread over zones. CPU seconds, beside a calibration: how long
this machine takes for ten million additions.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence

from msgspec.structs import replace

from kviz.questions.optimum.comparison import compare, pose
from kviz.questions.optimum.solver.clock import Clock
from scheduler_core.analysis.model import Viability
from scheduler_core.api import (
    Affinity,
    KubeObject,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
)
from scheduler_core.sim import RunOptions
from tests.builders import HOSTNAME, ZONE, PodBuilder, make_node, make_pod

MODES: tuple[Viability, ...] = ("classic", "snapshot")
SIZES = ((12, 15, 6), (60, 10, 8), (100, 15, 8), (200, 30, 8), (300, 50, 10))
"""Pods, nodes, templates."""


def cluster(n_pods: int, n_nodes: int, n_templates: int, seed: int) -> list[KubeObject]:
    """Make nodes of two pools in three zones, and pods that ask for about all there is."""
    draw = random.Random(seed)
    nodes = [
        make_node(f"n{i}")
        .label(HOSTNAME, f"n{i}")
        .label("pool", "large" if i % 3 == 0 else "small")
        .zone("abc"[i % 3])
        .cpu(16 if i % 3 == 0 else 8)
        .memory("32Gi" if i % 2 else "64Gi")
        .pods(30)
        .obj()
        for i in range(n_nodes)
    ]
    room = sum(16 if i % 3 == 0 else 8 for i in range(n_nodes)) / n_pods
    made = [_template(draw, number, room) for number in range(n_templates)]
    pods = []
    for i in range(n_pods):
        template = made[draw.randrange(n_templates)]
        metadata = replace(template.metadata, name=f"p{i}", uid=f"p{i}")
        pods.append(replace(template, metadata=metadata))
    return [*nodes, *pods]


def _template(draw: random.Random, number: int, room: float) -> Pod:
    cpu = max(0.1, room * draw.choice((0.4, 0.7, 1.0, 1.6, 2.2)))
    pod = make_pod(f"t{number}").label("app", f"t{number}").cpu(f"{round(cpu * 1000)}m")
    pod.memory(f"{draw.choice((256, 512, 1024, 2048))}Mi").priority(draw.choice((0, 0, 0, 100)))
    _preferring(draw, pod)
    if number % 4 == 1:
        pod.spread(ZONE, 1, app=f"t{number}")
    return pod.obj()


def _preferring(draw: random.Random, pod: PodBuilder) -> None:
    pool = NodeSelectorRequirement(
        key="pool", operator="In", values=(draw.choice(("large", "small")),)
    )
    term = PreferredSchedulingTerm(
        weight=draw.choice((10, 50, 100)), preference=NodeSelectorTerm(match_expressions=(pool,))
    )
    prefers = (term,)
    pod.affinity(
        Affinity(
            node_affinity=NodeAffinity(preferred_during_scheduling_ignored_during_execution=prefers)
        )
    )


def calibration_s() -> float:
    """Return the CPU seconds of ten million additions, the best of three."""
    best = float("inf")
    for _ in range(3):
        begin_s = time.process_time()
        sum(range(10_000_000))
        best = min(best, time.process_time() - begin_s)
    return best


def main(arguments: Sequence[str]) -> None:
    limit_s = float(arguments[0]) if arguments else 10.0
    say(f"calibration {calibration_s():.2f} s, limit {limit_s:g} s; run, best, bound")
    for n_pods, n_nodes, n_templates in SIZES:
        for seed in range(3):
            objects = cluster(n_pods, n_nodes, n_templates, seed)
            for mode in MODES:
                say(f"{n_pods:4} x {n_nodes:<3} {mode:<9} {measured(objects, mode, limit_s)}")


def measured(objects: Sequence[KubeObject], mode: Viability, limit_s: float) -> str:
    """Return a row: what the run and the search came to, and how long that took."""
    posed = pose(objects, RunOptions(details=False), mode)
    begin_s = time.process_time()
    found = compare(posed, Clock(limit_s, lambda step: None))
    cpu_s = time.process_time() - begin_s
    best = found.optimum
    placed = (found.run.placed, best.placed, best.bound_placed)
    cells = (
        "  ".join(f"{sum(each.values()):4}" for each in placed),
        f"{found.run.value}  {best.value}  {best.bound_value}",
        "proven" if best.proven else "open",
        f"{cpu_s:.2f} s",
    )
    return "    ".join(cells)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
