"""`kviz bench`: each workload is what it says, and the figures are those of the run."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

from kviz.bench import diff, measure, previews, variants
from kviz.bench.calibration import REFERENCE
from kviz.bench.dump import UnusableDump, objects_of_dump, recorded
from kviz.bench.measure import BenchOptions, BenchResult, PluginTimes
from kviz.bench.parts import PARTS, part_of
from kviz.bench.workloads import WORKLOADS, ZONE
from kviz.cli import main
from kviz.forking.copies import n_cores
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.simulation import Timing
from tests.builders import make_node, make_pod

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


@pytest.fixture(autouse=True)
def _calibrated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (diff, measure, previews, variants):
        monkeypatch.setattr(module, "N_ITERATIONS", 1_000)


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
    assert report["calibration_s"] > 0
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


def test_runs_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--nodes", "4", "--pods", "9"]
    assert main(["bench", "--diff", *sizes, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["diff"]
    assert [each["pair"] for each in results] == ["itself", "weight", "a node less"]
    assert [each["moved"] for each in results][:1] == [0]
    assert results[2]["moved"] > 0
    assert all(each["cycles"] == 9 and each["compare_s"] > 0 for each in results)


def test_previews_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--nodes", "5", "--pods", "4"]
    assert main(["bench", "--preview", *sizes, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["preview"]
    assert [each["change"] for each in results] == ["pod", "node", "weight"]
    assert all(0 < each["p50_ms"] <= each["p95_ms"] for each in results)
    assert all(each["bytes"] > 100 for each in results)


@pytest.mark.slow("forks eighty copies")
def test_variants_are_counted_by_one_process_and_by_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "--variants", "--nodes", "4", "--pods", "3", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["variants"]
    assert [each["processes"] for each in results] == sorted({1, n_cores()})
    assert all((each["nodes"], each["pods"]) == (4, 3) for each in results)
    assert all(each["variants_per_s"] > 0 and each["cpu_ms"] > 0 for each in results)


@pytest.mark.long
def test_an_experiment_is_carried_out_by_one_worker_and_by_several() -> None:
    """Long: starts a worker, then as many as there are cores, on data folders of their own."""
    measured = "import json; from kviz.cli.bench_workers import measure_workers as measure; "
    measured += "print(json.dumps([each.as_json() for each in measure('basic', 4, 3, 6)]))"
    env = {name: text for name, text in os.environ.items() if not name.startswith("KVIZ_")}
    printed = subprocess.run(
        [sys.executable, "-c", measured], env=env, capture_output=True, text=True, check=True
    ).stdout
    results = json.loads(printed.splitlines()[-1])
    assert [each["workers"] for each in results] == sorted({1, min(2, n_cores()), n_cores()})
    assert all((each["nodes"], each["variants"]) == (4, 6) for each in results)
    assert all(each["took_s"] > 0 and each["speedup"] > 0 for each in results)


def test_the_flush_wakes_growing_numbers_of_pods(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--flush", "--pods", "16", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["flush"]
    assert [result["pods"] for result in results] == [2, 4, 8, 16]
    assert all(result["flush_ms"] > 0 for result in results)


def test_contested_preempts_with_one_pod_in_ten() -> None:
    run = run_workload("contested")
    preemptors = [p for p in run.simulation.server.all(Pod) if p.name.startswith("high-")]
    assert len(preemptors) == N_PODS // 10
    assert run.simulation.scheduler.n_cycles == N_PODS + len(preemptors)


def _dump(folder: Path, objects: list[KubeObject]) -> Path:
    path = folder / "shop.recorded.json"
    items = [
        msgspec.to_builtins(item) | {"kind": item.kind, "apiVersion": "v1"} for item in objects
    ]
    path.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def test_the_pods_of_a_dump_wait_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirror = make_pod("mirror").owner("Node", "n1").on("n1").obj()
    finished = make_pod("finished").on("n1").phase("Succeeded").obj()
    pods = [make_pod(f"p{i}").on("n1").obj() for i in range(3)]
    nodes = [make_node(name).cpu(8).obj() for name in ("n1", "n2")]
    path = _dump(tmp_path, [*nodes, mirror, finished, *pods])
    found = objects_of_dump(path)
    waiting = [item for item in found if isinstance(item, Pod)]
    assert [(pod.name, pod.spec.node_name) for pod in waiting] == [
        ("p0", ""),
        ("p1", ""),
        ("p2", ""),
    ]
    assert main(["bench", "--dump", str(path), "--pods", "2", "--json", "--parts"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["workload"], report["nodes"], report["pods"], report["bound"]) == (
        "shop",
        2,
        2,
        2,
    )


def test_a_dump_without_pods_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _dump(tmp_path, [make_node("n1").obj()])
    assert main(["bench", "--dump", str(path)]) == 1
    assert "no pods to schedule" in capsys.readouterr().err


def test_time_is_charged_to_the_innermost_part_but_for_preemption() -> None:
    def frames(*functions: tuple[str, str]) -> FrameType:
        """Call a function of each name in its module, one out of the other."""
        inside: Callable[[], FrameType] = sys._getframe
        for module, name in reversed(functions):
            scope: dict[str, Any] = {"__name__": f"scheduler_core.{module}", "inside": inside}
            exec(f"def {name}(): return inside()", scope)
            inside = scope[name]
        return inside()

    score, search = (
        ("framework.runtime", "run_score"),
        ("scheduler.algorithm", "find_feasible_nodes"),
    )
    filtering = ("framework.runtime", "run_filter_with_nominated_pods")
    preempt = ("framework.runtime", "run_post_filter")
    assert part_of(frames(search, score, ("plugins.any", "score"))) == "Score"
    assert part_of(frames(search)).startswith("the rest")
    assert part_of(frames(preempt, filtering)) == PARTS[preempt]
    assert part_of(frames(("sim.run", "events"))) == "all else"


def test_every_part_names_a_function_there_is() -> None:
    for module, name in PARTS:
        spec = find_spec(f"scheduler_core.{module}")
        assert spec is not None
        assert spec.origin is not None
        code = Path(spec.origin).read_text(encoding="utf-8")
        assert f"def {name}(" in code


def test_a_recorded_workload_is_found_where_the_dumps_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KVIZ_DUMPS", str(tmp_path))
    assert main(["bench", "--workload", "openb"]) == 1
    assert "KVIZ_DUMPS" in capsys.readouterr().err

    dump = _dump(tmp_path, [make_node("n1").cpu(8).obj(), make_pod("p").obj()])
    (tmp_path / "openb.json.gz").write_bytes(gzip.compress(dump.read_bytes()))
    assert main(["bench", "--workload", "openb", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert (measured["workload"], measured["nodes"], measured["bound"]) == ("openb", 1, 1)


def test_without_a_setting_dumps_are_looked_for_beside_the_repository(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KVIZ_DUMPS", raising=False)
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "snapshots"
    with pytest.raises(UnusableDump, match=re.escape(str(beside / "nothing.json.gz"))):
        recorded("nothing")
