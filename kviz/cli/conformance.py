"""`kviz conformance`: replays recorded decisions of kube-scheduler and counts what is identical."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import WrongUsage
from kviz.conformance.cases import CaseError
from kviz.conformance.recordings import find_recordings
from kviz.conformance.result import Difference, Summary
from kviz.conformance.run import replay

SHOWN = 20
"""Differing cases that are printed in full before the others are only counted."""
MAX_VALUE_CHARS = 300


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("conformance")
    command.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="folder, .json or .jsonl.gz file of cases, or NAME.expected.json beside its snapshot",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        summary = Summary.of(r for found in find_recordings(options.paths) for r in replay(found))
    except CaseError as error:
        raise WrongUsage(str(error)) from error
    if options.json:
        print(json.dumps(summary.as_json()))
    else:
        _print(summary)
    return 0 if summary.n_identical == len(summary.results) else 1


def _print(summary: Summary) -> None:
    _print_plugins(summary)
    for what, n in summary.not_compared().items():
        print(f"not compared, a matter of chance (ADR 0010): {what} ({n})")
    differing = [result for result in summary.results if not result.identical]
    for result in differing[:SHOWN]:
        _print_difference(result.differences[0], len(result.differences))
    if len(differing) > SHOWN:
        print(f"... and {len(differing) - SHOWN} more")
    for what, n in summary.not_modelled().items():
        print(f"not modelled: {what} ({n} cases)")
    by_release = summary.by_release()
    if len(by_release) > 1:
        for release, counts in by_release.items():
            print(f"v{release}: {counts['identical']}/{counts['cases']} cases identical")
    print(f"{summary.n_identical}/{len(summary.results)} cases identical")


def _print_plugins(summary: Summary) -> None:
    by_plugin = summary.by_plugin()
    if not by_plugin:
        return
    width = max(map(len, by_plugin))
    print(f"{'plugin':<{width}}  {'compared':>10}  {'identical':>10}  {'share':>7}")
    for plugin, counts in by_plugin.items():
        n, n_identical = counts["cells"], counts["identical"]
        share = int(1000 * n_identical / n) / 10
        print(f"{plugin:<{width}}  {n:>10}  {n_identical:>10}  {share:>6.1f}%")
    print()


def _print_difference(difference: Difference, n: int) -> None:
    of = f", {difference.plugin}" if difference.plugin else ""
    more = f" (and {n - 1} more)" if n > 1 else ""
    print(f"{difference.name}{of}: {difference.field}{more}")
    print(f"    recorded: {_short(difference.expected)}")
    print(f"    kviz:     {_short(difference.got)}")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + "..."
