"""The tables and the chart of docs/performance.md."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from kviz.bench.calibration import REFERENCE
from kviz.bench.measure import BenchOptions, BenchResult
from kviz.bench.parts import Parts
from kviz.bench.report import (
    OTHERS,
    RACES,
    SERIES,
    Series,
    chart,
    growth_table,
    parts_table,
    race_table,
)
from kviz.bench.workloads import WORKLOADS

SVG = "{http://www.w3.org/2000/svg}"


def _result(options: BenchOptions, run_s: float) -> BenchResult:
    return BenchResult(
        options=options,
        n_cycles=1000,
        n_bound=1000,
        load_s=0.1,
        run_s=run_s,
        p50_ms=0.5,
        p99_ms=1.5,
        trace_bytes_per_cycle=211.4,
        peak_rss_bytes=1,
        calibration_s=2.0,
        plugin_times=None,
    )


SMALL, LARGE = BenchOptions("basic", 500, 1000), BenchOptions("basic", 5000, 1000)
GROWTH = Series("nodes", (500, 5000), (SMALL, LARGE))


def test_every_race_has_a_reference_and_every_series_one_run_per_size() -> None:
    assert {(race.workload, race.n_nodes) for race in RACES} == set(REFERENCE)
    for series in SERIES:
        assert len(series.sizes) == len(series.runs) > 1
        assert {run.workload for run in series.runs} <= set(WORKLOADS)


def test_every_workload_is_reported() -> None:
    assert {run.workload for run in (*RACES, *OTHERS)} == set(WORKLOADS)


def test_the_parts_are_told_with_their_shares() -> None:
    parts = Parts()
    parts.counts.update({"Filter": 3, "Score": 1})
    (row,) = parts_table([replace(_result(SMALL, 0.5), parts=parts)]).splitlines()[2:]
    assert row == "| basic | 500 | Filter 75%, Score 25% |"


def test_tables() -> None:
    results = [_result(SMALL, 0.5), _result(LARGE, 1.0)]
    race = race_table(results[:1]).splitlines()
    assert race[2] == "| basic | 500 | 1000 | 2000 | 0.50 | 1.50 | 211 | 2.00 | 1.70 |"
    assert growth_table(GROWTH, results).splitlines()[2:] == [
        "| 500 | basic | 2000 | 4000 |",
        "| 5000 | basic | 1000 | 2000 |",
    ]


def test_the_chart_puts_the_fastest_run_at_the_top() -> None:
    svg = ElementTree.fromstring(chart([(GROWTH, [_result(SMALL, 0.5), _result(LARGE, 1.0)])]))
    heights = [float(dot.attrib["cy"]) for dot in svg.iter(f"{SVG}circle")]
    assert heights == [16, 116]
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert texts == ["4000", "0", "500", "5000", "nodes"]
