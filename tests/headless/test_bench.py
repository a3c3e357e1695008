"""`kviz bench`: each workload is what it says, and the figures are those of the run."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from kviz.cli import main
from kviz.headless.bench.calibration import REFERENCE
from kviz.headless.bench.measure import BenchOptions, BenchResult
from kviz.headless.bench.plugin_times import PluginTimes
from kviz.headless.bench.workloads import WORKLOADS, ZONE
from scheduler_core.api import Node, Pod
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.simulation import Timing

CONTRACT = {
    "workload",
    "nodes",
    "pods",
    "cycles_per_s",
    "p50_ms",
    "p99_ms",
    "trace_bytes_per_cycle",
    "peak_rss_bytes",
    "calibration_s",
    "race_ratio",
}
N_NODES, N_PODS = 30, 20


def run_workload(name: str) -> Run:
    objects = list(WORKLOADS[name].make(N_NODES, N_PODS))
    run = Run(objects, RunOptions(timing=Timing(kubelet_start_ns=None)))
    for _ in run.events():
        pass
    return run


def placement(run: Run) -> Counter[str]:
    """Count the measured pods by node; pending ones under an empty name."""
    server = run.simulation.server
    return Counter(p.spec.node_name for p in server.all(Pod) if not p.name.startswith("low-"))


def zones(run: Run) -> Counter[str]:
    zone_of = {node.name: node.metadata.labels[ZONE] for node in run.simulation.server.all(Node)}
    counts: Counter[str] = Counter()
    for name, n in placement(run).items():
        counts[zone_of[name]] += n
    return counts


@pytest.mark.parametrize("name", WORKLOADS)
def test_what_does_not_fit_is_as_planned(name: str) -> None:
    run = run_workload(name)
    assert placement(run)[""] == {"unschedulable": N_PODS // 10, "mixed": 2}.get(name, 0)
    assert sum(placement(run).values()) == N_PODS


def test_spread_keeps_zones_level() -> None:
    counts = zones(run_workload("spread"))
    assert set(counts) == {"a", "b", "c"}
    assert max(counts.values()) - min(counts.values()) <= 5


def test_podaffinity_gathers_in_one_zone() -> None:
    assert len(zones(run_workload("podaffinity"))) == 1


def test_antiaffinity_keeps_apart() -> None:
    assert max(placement(run_workload("antiaffinity")).values()) == 1


def test_nodeaffinity_stays_in_two_zones() -> None:
    assert set(zones(run_workload("nodeaffinity"))) == {"a", "b"}


def test_preferredpodaffinity_gathers_on_one_node() -> None:
    assert placement(run_workload("preferredpodaffinity")).most_common(1)[0][1] > N_PODS // 2


def test_preemption_takes_two_cycles_per_pod() -> None:
    run = run_workload("preemption")
    assert run.simulation.scheduler.n_cycles == 2 * N_PODS
    left = sum(1 for pod in run.simulation.server.all(Pod) if pod.name.startswith("low-"))
    assert left == 4 * N_NODES - 3 * N_PODS


def test_volumes_follow_their_zone() -> None:
    assert sorted(zones(run_workload("volumes")).values()) == [6, 7, 7]


def test_json_keeps_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--workload", "spread", "--nodes", "30", "--pods", "20", "--plugins", "--json"]
    assert main(["bench", *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) >= CONTRACT
    assert (report["workload"], report["nodes"], report["pods"]) == ("spread", 30, 20)
    assert (report["cycles"], report["bound"]) == (20, 20)
    assert report["race_ratio"] is None
    assert 0 < report["p50_ms"] <= report["p99_ms"]
    assert 20 < report["trace_bytes_per_cycle"] < 10_000
    assert report["peak_rss_bytes"] > 10_000_000
    assert report["calibration_s"] > 0.1
    shares = [plugin["share"] for plugin in report["plugins"].values()]
    assert 0 < sum(shares) < 1
    assert shares == sorted(shares, reverse=True)


def test_without_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--nodes", "20", "--pods", "5", "--no-trace"]) == 0
    assert "trace         off" in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["0", "-1", "x", "1.5"])
def test_sizes_are_positive_numbers(argument: str) -> None:
    with pytest.raises(SystemExit) as refusal:
        main(["bench", "--nodes", argument])
    assert refusal.value.code == 2


def test_race_ratio_counts_pods_not_attempts() -> None:
    result = BenchResult(
        options=BenchOptions("preemption", 500, 400),
        n_cycles=800,
        n_bound=400,
        load_s=1.0,
        run_s=2.0,
        p50_ms=1.0,
        p99_ms=2.0,
        trace_bytes_per_cycle=100.0,
        peak_rss_bytes=1,
        calibration_s=3.0,
        plugin_times=None,
    )
    assert result.cycles_per_s == 400
    assert result.race_ratio == pytest.approx(200 * 3 / REFERENCE["preemption", 500])


def test_a_plugin_is_not_charged_for_those_it_runs() -> None:
    """DefaultPreemption has the Filter plugins run, hundreds of times."""
    objects = list(WORKLOADS["preemption"].make(N_NODES, N_PODS))
    run = Run(objects, RunOptions(timing=Timing(kubelet_start_ns=None)))
    times = PluginTimes(run.simulation.scheduler)
    for _ in run.events():
        pass
    assert times.seconds["NodeResourcesFit"] > 0
    assert times.seconds["DefaultPreemption"] > 0
    assert times.seconds["NodeResourcesFit"] > times.seconds["NodeName"]


def test_the_flush_wakes_growing_numbers_of_pods(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--flush", "--pods", "16", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["flush"]
    assert [result["pods"] for result in results] == [2, 4, 8, 16]
    assert all(result["flush_ms"] > 0 for result in results)
