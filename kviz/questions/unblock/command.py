"""`kviz unblock`: the smallest changes after which a pending pod binds, each of them run."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from kviz.command_line.arguments import Subparsers
from kviz.command_line.cluster import Asked, add_cluster_options, asked_cluster, asked_of, pod_key
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import add_scenario_option
from kviz.forking.copies import CopyDied, n_cores, side_by_side
from kviz.questions.unblock.text import as_json, as_text, plans_text
from scheduler_core.analysis.advice.pods_asked import NothingToUnblock, pending_pods
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.analysis.advice.unblock import (
    Runner,
    Tried,
    Unblocked,
    one_by_one,
    unblock,
)
from scheduler_core.api.ingest import Ingested

TIME_LIMIT_S = 60.0


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "unblock",
        description="Try changes of the pod and of the cluster, alone and in pairs, and say which "
        "let a pending pod bind, harmless first. Every answer was run (docs/unblock.md).",
    )
    add_cluster_options(command)
    add_scenario_option(command)
    wanted = command.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--pod", metavar="NS/NAME", help="the pod that is pending")
    wanted.add_argument(
        "--owner",
        metavar="KIND/NS/NAME",
        help="an owner with pending pods: all of them are to bind",
    )
    command.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT_S,
        metavar="S",
        help="stop searching after so many seconds, with what was found (default: %(default)s)",
    )
    command.add_argument(
        "--tried", action="store_true", help="list every plan that was tried, with what came of it"
    )
    command.add_argument(
        "--jobs",
        type=int,
        default=n_cores(),
        metavar="N",
        help="so many runs at the same time (default: one per core, %(default)s here)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    until = time.monotonic() + options.time_limit
    with asked_cluster(options) as asked:
        return _answer(options, asked, until)


def unblock_cluster(options: argparse.Namespace, cluster: Ingested) -> int:
    """Answer what the options ask, of a cluster that was read. Raises CommandFailed."""
    until = time.monotonic() + options.time_limit
    with asked_of(options, cluster) as asked:
        return _answer(options, asked, until)


def _answer(options: argparse.Namespace, asked: Asked, until: float) -> int:
    trials = Trials(asked.objects, asked.options)
    try:
        pod, *others = _pods(options, trials)
        found = _found_until(unblock(trials, pod, runner(options.jobs), others), until)
    except (NothingToUnblock, CopyDied) as error:
        raise CommandFailed(str(error)) from error
    if options.json:
        asked.print_json(as_json(found))
    else:
        plans = f"\n{plans_text(found)}" if options.tried else ""
        asked.print_text(as_text(found) + plans)
    return 0


def runner(jobs: int) -> Runner:
    """Return what runs so many plans at a time."""
    if jobs == 1 or not hasattr(os, "fork"):
        return one_by_one
    by_copies: Runner = side_by_side(jobs)

    def run(work: Callable[[int], Tried], numbers: Iterator[int]) -> Iterator[tuple[int, Tried]]:
        # The first plan is most often the first answer: it does not wait for copies to begin.
        yield from one_by_one(work, islice(numbers, 1))
        for number in numbers:
            yield from by_copies(work, chain((number,), numbers))

    return run


def _pods(options: argparse.Namespace, trials: Trials) -> Sequence[str]:
    """The pods that it is about. Raises WrongUsage and NothingToUnblock."""
    if options.pod:
        return (pod_key(options.pod),)
    kind, _, name = options.owner.partition("/")
    if not name:
        raise WrongUsage(f"--owner {options.owner}: write KIND/NAMESPACE/NAME")
    namespace, _, own = pod_key(name).partition("/")
    return pending_pods(trials, kind, namespace, own)


def _found_until(search: Iterator[Unblocked], until: float) -> Unblocked:
    """What the search has found when it is over, when the time is, or when it is interrupted."""
    first = found = next(search)
    tells = sys.stderr.isatty()
    try:
        for found in chain((first,), search):
            if tells:
                _tell(found)
            if time.monotonic() > until:
                break
    except KeyboardInterrupt:
        pass  # after Ctrl-C the answers found are printed
    if tells:
        print("\r\033[K", end="", file=sys.stderr)
    return found


def _tell(found: Unblocked) -> None:
    """Say on one line how far the search is, and the best answer so far."""
    text = f"tried {found.n_tried} of {found.n_plans}"
    if found.answers:
        best = found.answers[0]
        text += f" (Ctrl-C ends it); so far, on {best.node}: {best.sentence}"
    width = shutil.get_terminal_size().columns - 1
    print(f"\r\033[K{text[:width]}", end="", file=sys.stderr, flush=True)
