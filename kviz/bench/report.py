"""How the cost of a cycle grows with the cluster: tables and a chart (docs/performance.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kviz.bench.measure import BenchOptions, BenchResult, measure
from kviz.bench.parts import Parts
from kviz.bench.workloads import WORKLOADS

RACES: Final = (
    BenchOptions("basic", 500, 5000),
    BenchOptions("basic", 1000, 5000),
    BenchOptions("basic", 5000, 5000),
    BenchOptions("spread", 5000, 2000),
    BenchOptions("antiaffinity", 5000, 2000),
    BenchOptions("preemption", 500, 400),
)
"""The workloads for which there is a figure of kube-scheduler's."""

WIDTH: Final = 640
HEIGHT: Final = 200
MARGIN: Final = 48
COLOURS: Final = ("#326ce5", "#c2410c", "#15803d")


@dataclass(frozen=True, slots=True)
class Series:
    """Runs of one workload that differ in one size: `along` is `nodes`, `pods` or `classes`."""

    along: str
    sizes: tuple[int, ...]
    runs: tuple[BenchOptions, ...]


SERIES: Final = (
    Series(
        "nodes",
        (100, 500, 1000, 2000, 5000),
        tuple(BenchOptions("basic", n, 2000) for n in (100, 500, 1000, 2000, 5000)),
    ),
    Series(
        "pods",
        (500, 1000, 2000, 5000, 10_000),
        tuple(BenchOptions("basic", 2000, n) for n in (500, 1000, 2000, 5000, 10_000)),
    ),
    Series(
        "classes",
        (1, 2, 9),
        tuple(BenchOptions(name, 2000, 1000) for name in ("basic", "unschedulable", "mixed")),
    ),
)
"""`classes` counts the kinds of pods: plain ones, those and too large ones, all kinds."""


OTHERS: Final = (
    *(
        BenchOptions(name, workload.n_nodes, workload.n_pods)
        for name, workload in WORKLOADS.items()
        if name not in {race.workload for race in RACES}
    ),
    BenchOptions("crowded", 5000, 1000),
    BenchOptions("preemption", 5000, 100),
)
"""Everything else, and what preemption costs in a large cluster."""

N_TIMES: Final = 3
"""A figure is the median of so many runs."""
N_PARTS: Final = 6


def race_table(results: Sequence[BenchResult]) -> str:
    """Return measured workloads as a Markdown table, with the race ratio where there is one."""
    head = ("workload", "nodes", "pods", "cycles/s", "p50 ms", "p99 ms", "trace B/cycle")
    rows = [
        (
            r.options.workload,
            str(r.options.n_nodes),
            str(r.options.n_pods),
            f"{r.cycles_per_s:.0f}",
            f"{r.p50_ms:.2f}",
            f"{r.p99_ms:.2f}",
            f"{r.trace_bytes_per_cycle or 0:.0f}",
            f"{r.calibration_s:.2f}",
            f"{r.race_ratio:.2f}" if r.race_ratio is not None else "",
        )
        for r in results
    ]
    return _table((*head, "calibration s", "race ratio"), rows)


def growth_table(series: Series, results: Sequence[BenchResult]) -> str:
    """Return cycles per second and per calibration along one size, as a Markdown table."""
    rows = [
        (str(size), r.options.workload, f"{r.cycles_per_s:.0f}", f"{_per_calibration(r):.0f}")
        for size, r in zip(series.sizes, results, strict=True)
    ]
    return _table((series.along, "workload", "cycles/s", "cycles per calibration"), rows)


def parts_table(results: Sequence[BenchResult]) -> str:
    """Return the parts of the scheduler that take most of the time, as a Markdown table."""
    rows = []
    for result in results:
        shares = list((result.parts or Parts()).shares().items())[:N_PARTS]
        listed = ", ".join(f"{part} {share:.0%}" for part, share in shares)
        rows.append((result.options.workload, str(result.options.n_nodes), listed))
    return _table(("workload", "nodes", "where the time goes"), rows)


def measure_all(runs: Sequence[BenchOptions]) -> list[BenchResult]:
    return [measure_median(options) for options in runs]


def measure_median(options: BenchOptions) -> BenchResult:
    """Measure several times; return the run that was neither fast nor slow."""
    results = [measure(options) for _ in range(N_TIMES)]
    return sorted(results, key=_per_calibration)[N_TIMES // 2]


def measure_parts(runs: Sequence[BenchOptions]) -> list[BenchResult]:
    return [measure(replace(options, parts=True)) for options in runs]


def chart(results: Sequence[tuple[Series, Sequence[BenchResult]]]) -> str:
    """Draw cycles per calibration along each size, as SVG; steps along x are not to scale."""
    highest = max(_per_calibration(r) for _, each in results for r in each)
    parts = [
        line
        for i, (series, each) in enumerate(results)
        for line in _line(series, [_per_calibration(r) / highest for r in each], COLOURS[i], i)
    ]
    frame = f'<rect x="{MARGIN}" y="16" width="{WIDTH}" height="{HEIGHT}" fill="none"'
    size = f'width="{WIDTH + 2 * MARGIN}" height="{HEIGHT + 110}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif"'
            ' font-size="12">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'{frame} stroke="#94a3b8"/>',
            f'<text x="{MARGIN - 4}" y="22" text-anchor="end">{highest:.0f}</text>',
            f'<text x="{MARGIN - 4}" y="{HEIGHT + 16}" text-anchor="end">0</text>',
            *parts,
            "</svg>\n",
        )
    )


def _line(series: Series, heights: Sequence[float], colour: str, at: int) -> Iterator[str]:
    """Draw one series; `heights` are 0 to 1, `at` is its place in the legend."""
    step = WIDTH / (len(heights) - 1)
    points = [(MARGIN + i * step, 16 + HEIGHT * (1 - h)) for i, h in enumerate(heights)]
    path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    below = HEIGHT + 36 + 20 * at
    for (x, y), size in zip(points, series.sizes, strict=True):
        yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"/>'
        yield f'<text x="{x:.0f}" y="{below}" text-anchor="middle" fill="{colour}">{size}</text>'
    yield (
        f'<text x="{MARGIN + step / 2:.0f}" y="{below}" text-anchor="middle" fill="{colour}">'
        f"{series.along}</text>"
    )


def _per_calibration(result: BenchResult) -> float:
    return result.cycles_per_s * result.calibration_s


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
