"""`kviz bench`: measures the scheduler and races it against the real one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kviz.bench.diff import measure_diff
from kviz.bench.dump import RECORDED, UnusableDump, recorded
from kviz.bench.flush import measure_flush
from kviz.bench.measure import (
    BenchOptions,
    BenchResult,
    measure,
    options_of_dump,
)
from kviz.bench.previews import measure_previews
from kviz.bench.race import Race, race
from kviz.bench.report import (
    OTHERS,
    RACES,
    SERIES,
    chart,
    growth_table,
    measure_all,
    measure_parts,
    parts_table,
    race_table,
)
from kviz.bench.variants import measure_variants
from kviz.bench.workloads import WORKLOADS
from kviz.cli.bench_answers import files_asked, measure_answers
from kviz.cli.bench_class import BoardsResult, measure_boards, measure_class
from kviz.cli.bench_followers import measure_followers
from kviz.cli.bench_storage import as_json, measure_storage
from kviz.cli.bench_workers import measure_workers
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed
from kviz.witness import WitnessProblem, find_witness
from scheduler_core.releases import RELEASES

READERS = 50
"""That ask for pages and REST while a run is followed."""


def add_parser(commands: Subparsers) -> None:
    about = {name: workload.about for name, workload in WORKLOADS.items()} | RECORDED
    workloads = "\n".join(f"  {name:<22} {text}" for name, text in about.items())
    command = commands.add_parser(
        "bench",
        description="Measure the scheduler on a workload. Times are CPU seconds.\n\n"
        f"workloads:\n{workloads}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--workload", choices=about, default="basic", metavar="W", help="default: %(default)s"
    )
    command.add_argument("--nodes", type=_positive, metavar="N", help="default: as the workload")
    command.add_argument("--pods", type=_positive, metavar="N", help="default: as the workload")
    command.add_argument(
        "--dump",
        type=Path,
        metavar="FILE",
        help="schedule all pods of a recorded cluster again, instead of a workload",
    )
    command.add_argument("--no-trace", action="store_true", help="do not record the trace")
    command.add_argument(
        "--plugins", action="store_true", help="also take the time of every plugin"
    )
    command.add_argument(
        "--parts", action="store_true", help="also say which part of the scheduler is at work"
    )
    _add_other_measurements(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument(
        "--report",
        type=Path,
        metavar="SVG",
        help="measure all sizes of docs/performance.md: print its tables, draw its chart",
    )
    command.set_defaults(run=run)


def _add_other_measurements(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--race",
        action="store_true",
        help="run the real kube-scheduler over the same pods, in turn with kviz, where "
        "`make oracle` has built it; else compare with its recorded speed",
    )
    command.add_argument(
        "--flush",
        action="store_true",
        help="measure the event that requeues N unschedulable pods instead (default: 10,000)",
    )
    command.add_argument(
        "--diff",
        action="store_true",
        help="measure comparing two runs instead (default: 1,000 nodes, 40,000 pods)",
    )
    command.add_argument(
        "--preview",
        action="store_true",
        help="measure previews of a changed cycle instead (default: 5,000 nodes, 400 pods)",
    )
    command.add_argument(
        "--storage",
        action="store_true",
        help="measure uploading, executing, storing and reading back instead (10,000 pods)",
    )
    command.add_argument(
        "--followers",
        type=_positive,
        metavar="N",
        help="measure how late N viewers of one run are instead, with 50 readers (10,000 pods)",
    )
    command.add_argument(
        "--class",
        dest="of_class",
        action="store_true",
        help="measure how long a teacher's step takes to 60 and to 1,000 followers instead",
    )
    command.add_argument(
        "--variants",
        action="store_true",
        help="measure variants of one cluster per second instead (100 and 5,000 nodes, 20 pods)",
    )
    command.add_argument(
        "--answers",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="measure unblock, capacity, nodes, survive and luck instead (default: a sample, and "
        "the recorded clusters that are there)",
    )
    command.add_argument(
        "--workers",
        action="store_true",
        help="measure an experiment over workers of one core each instead (100 nodes, 20 pods)",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    try:
        if options.workload in RECORDED and options.dump is None:
            options.dump = recorded(options.workload)
        return _measure(options)
    except (OSError, UnusableDump) as problem:
        raise CommandFailed(str(problem)) from problem


def _measure(options: argparse.Namespace) -> int:
    if options.flush:
        return _flush(options)
    if options.diff:
        return _diff(options)
    if options.preview:
        return _previews(options)
    if options.variants:
        return _variants(options)
    if options.workers:
        return _workers(options)
    if options.of_class:
        return _class(options)
    if options.answers is not None:
        return _answers(options)
    if options.followers:
        return _followers(options)
    if options.storage:
        return _storage(options)
    return _race(options) if options.race else _speed(options)


def _variants(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    results = list(measure_variants(workload, options.nodes, options.pods or 20))
    head = (
        f"{'nodes':>7} {'processes':>10} {'variants/s':>11} {'CPU ms':>8} {'loading s':>10} "
        f"{'calibration s':>14}"
    )
    rows = (
        f"{each.nodes:>7,} {each.processes:>10} {each.variants_per_s:>11.1f} {each.cpu_ms:>8.1f} "
        f"{each.load_s:>10.2f} {each.calibration_s:>14.2f}"
        for each in results
    )
    return _tell(options, "variants", results, head, rows)


def _workers(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    results = list(measure_workers(workload, options.nodes or 100, options.pods or 20))
    head = (
        f"{'workers':>8} {'nodes':>7} {'variants':>9} {'seconds':>8} {'speedup':>8} "
        f"{'calibration s':>14} {'load':>6}"
    )
    rows = (
        f"{each.workers:>8} {each.nodes:>7,} {each.variants:>9,} {each.took_s:>8.1f} "
        f"{each.speedup:>8.2f} {each.calibration_s:>14.2f} {each.load:>6.1f}"
        for each in results
    )
    return _tell(options, "workers", results, head, rows)


def _answers(options: argparse.Namespace) -> int:
    results = list(measure_answers(files_asked(options.answers)))
    head = (
        f"{'cluster':<12} {'question':<9} {'first s':>8} {'all s':>7} {'CPU s':>7} "
        f"{'calibration s':>14} {'load':>5}  answer"
    )
    rows = (
        f"{each.cluster:<12} {each.question:<9} {each.first_s:>8.1f} {each.took_s:>7.1f} "
        f"{each.cpu_s:>7.1f} {each.calibration_s:>14.2f} {each.load:>5.1f}  {each.answer}"
        for each in results
    )
    return _tell(options, "answers", results, head, rows)


def _class(options: argparse.Namespace) -> int:
    results = [measure_class(n_followers) for n_followers in (60, 1_000)]
    head = (
        f"{'followers':>9} {'p50 ms':>8} {'p95 ms':>8} {'most ms':>8} {'request ms':>11} "
        f"{'calibration s':>14} {'load':>6}"
    )
    rows = (
        f"{each.followers:>9,} {each.p50_ms:>8.0f} {each.p95_ms:>8.0f} {each.most_ms:>8.0f} "
        f"{each.request_p50_ms:>11.0f} "
        f"{each.calibration_s:>14.2f} {each.load:>6.1f}"
        for each in results
    )
    boards = measure_boards(60)
    if options.json:
        found = {"class": [each.as_json() for each in results], "boards": boards.as_json()}
        print(json.dumps(found))
        return 0
    _tell(options, "class", results, head, rows)
    print()
    return _boards(options, boards)


def _boards(options: argparse.Namespace, result: BoardsResult) -> int:
    head = (
        f"{'boards':>9} {'requests/s':>11} {'look p50, p95 ms':>18} {'move p50, p95 ms':>18} "
        f"{'step p50, p95 ms':>18} {'calibration s':>14} {'load':>6}"
    )
    rows = (
        f"{each.boards:>9,} {each.requests_per_s:>11.0f} "
        f"{each.look_p50_ms:>10.0f}, {each.look_p95_ms:>6.0f} "
        f"{each.move_p50_ms:>10.0f}, {each.move_p95_ms:>6.0f} "
        f"{each.step_p50_ms:>10.0f}, {each.step_p95_ms:>6.0f} "
        f"{each.calibration_s:>14.2f} {each.load:>6.1f}"
        for each in (result,)
    )
    return _tell(options, "boards", (result,), head, rows)


def _followers(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    n_nodes = options.nodes or WORKLOADS[workload].n_nodes
    result = measure_followers(
        workload, n_nodes, options.pods or 10_000, options.followers, READERS
    )
    return _list(options, result.as_json())


def _storage(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    n_nodes = options.nodes or WORKLOADS[workload].n_nodes
    return _list(
        options, as_json(measure_storage(workload, n_nodes, options.pods or 10_000, options.dump))
    )


def _list(options: argparse.Namespace, result: Mapping[str, float]) -> int:
    """Print what was measured, a line for each value."""
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<24} {value:>15,.10g}")
    return 0


def _flush(options: argparse.Namespace) -> int:
    results = list(measure_flush(options.pods or 10_000))
    head = f"{'pods':>12} {'requeued in':>12} {'per pod':>10}"
    rows = (
        f"{each.n_pods:>12,} {1000 * each.flush_s:>9.1f} ms "
        f"{1e6 * each.flush_s / each.n_pods:>7.1f} us"
        for each in results
    )
    return _tell(options, "flush", results, head, rows)


def _previews(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    results = list(measure_previews(workload, options.nodes or 5_000, options.pods or 400))
    head = f"{'changed':<8} {'p50 ms':>8} {'p95 ms':>8} {'bytes':>9} {'calibration s':>14}"
    rows = (
        f"{each.change:<8} {each.p50_ms:>8.1f} {each.p95_ms:>8.1f} {each.n_bytes:>9,} "
        f"{each.calibration_s:>14.2f}"
        for each in results
    )
    return _tell(options, "preview", results, head, rows)


def _diff(options: argparse.Namespace) -> int:
    workload = "basic" if options.workload in RECORDED else options.workload
    results = list(measure_diff(workload, options.nodes or 1_000, options.pods or 40_000))
    head = f"{'compared with':<14} {'cycles':>9} {'moved':>9} {'CPU s':>7} {'calibration s':>14}"
    rows = (
        f"{each.pair:<14} {each.n_cycles:>9,} {each.n_moved:>9,} {each.compare_s:>7.2f} "
        f"{each.calibration_s:>14.2f}"
        for each in results
    )
    return _tell(options, "diff", results, head, rows)


class _Measured(Protocol):
    def as_json(self) -> Mapping[str, object]: ...


def _tell(
    options: argparse.Namespace,
    name: str,
    results: Sequence[_Measured],
    head: str,
    rows: Iterable[str],
) -> int:
    """Print what was measured: one JSON object if that is wanted, else a table."""
    if options.json:
        print(json.dumps({name: [result.as_json() for result in results]}))
    else:
        print(head, *rows, sep="\n")
    return 0


RACED = "1.36.3"
"""The release whose scheduler runs beside kviz."""


def _race(options: argparse.Namespace) -> int:
    try:
        witness = find_witness(RELEASES[RACED])
    except WitnessProblem as problem:
        print(f"kviz: note: {problem}\nIts recorded speed is taken.", file=sys.stderr)
        return _speed(options)
    try:
        found = race(_workload(options), witness)
    except WitnessProblem as problem:
        raise CommandFailed(str(problem)) from problem
    if options.json:
        print(json.dumps(found.as_json()))
    else:
        _print_race(found)
    return 0


def _print_race(found: Race) -> None:
    first = found.rounds[0]
    print(f"{'round':>5} {'kviz CPU s':>11} {'real CPU s':>11} {'calibration s':>14}")
    for i, each in enumerate(found.rounds, 1):
        mine = each.kviz
        print(f"{i:>5} {mine.run_s:>11.2f} {each.real_s:>11.2f} {mine.calibration_s:>14.2f}")
    print(
        f"{found.options.workload}, {found.options.n_nodes:,} nodes: {first.kviz.n_bound:,} pods "
        f"bound by each; {first.recorded_from} takes {found.ratio:.2f} times the CPU time of kviz"
    )


def _speed(options: argparse.Namespace) -> int:
    if options.report is not None:
        return _report(options.report)
    result = measure(
        replace(
            _workload(options),
            trace=not options.no_trace,
            plugins=options.plugins,
            parts=options.parts,
        )
    )
    if options.json:
        print(json.dumps(result.as_json()))
    else:
        _print(result)
    return 0


def _workload(options: argparse.Namespace) -> BenchOptions:
    if options.dump is None:
        workload = WORKLOADS[options.workload]
        n_nodes, n_pods = options.nodes or workload.n_nodes, options.pods or workload.n_pods
        return BenchOptions(options.workload, n_nodes, n_pods)
    return options_of_dump(options.dump, options.nodes, options.pods)


def _report(svg: Path) -> int:
    print(race_table(measure_all(RACES)))
    print(parts_table(measure_parts(RACES)))
    print(race_table(measure_all(OTHERS)))
    drawn = [(series, measure_all(series.runs)) for series in SERIES]
    for series, results in drawn:
        print(growth_table(series, results))
    svg.write_text(chart(drawn), encoding="utf-8")
    return 0


def _print(result: BenchResult) -> None:
    options, size, ratio = result.options, result.trace_bytes_per_cycle, result.race_ratio
    print(f"workload      {options.workload}, {options.n_nodes} nodes, {options.n_pods} pods")
    print(f"loading       {result.load_s:.2f} s")
    print(f"cycles        {result.n_cycles}, {result.n_bound} pods bound, {result.run_s:.2f} s")
    print(f"speed         {result.cycles_per_s:.0f} cycles/s, {result.pods_per_s:.0f} pods/s")
    print(f"per cycle     p50 {result.p50_ms:.2f} ms, p99 {result.p99_ms:.2f} ms")
    print(f"trace         {'off' if size is None else f'{size:.0f} bytes per cycle'}")
    print(f"peak memory   {result.peak_rss_bytes / 1e6:.0f} MB")
    print(f"calibration   {result.calibration_s:.2f} s")
    if ratio is None:
        print("race ratio    no reference for this workload at this size")
    else:
        print(f"race ratio    {ratio:.2f} times kube-scheduler")
    if result.parts is not None:
        print()
        for part, share in result.parts.shares().items():
            print(f"{part:<38} {share:>7.1%}")
    if result.plugin_times is not None:
        _print_plugins(result)


def _print_plugins(result: BenchResult) -> None:
    assert result.plugin_times is not None
    print(f"\n{'plugin':<34} {'ms per cycle':>12} {'share':>7}")
    for plugin, times in result.plugin_times.as_json(result.run_s, result.n_cycles).items():
        print(f"{plugin:<34} {times['ms']:>12.4f} {times['share']:>7.1%}")
    other_s = result.run_s - sum(result.plugin_times.seconds.values())
    print(f"{'(all else)':<34} {1000 * other_s / result.n_cycles:>12.4f} ", end="")
    print(f"{other_s / result.run_s:>7.1%}")
