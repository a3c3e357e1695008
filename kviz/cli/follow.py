"""`kviz follow`: what a real cluster's scheduler does, and whether kviz would do the same."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from kviz.cli.real_cluster import add_target_options, target_of_options
from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import ClusterProblem
from kviz.clusters.reading.server_version import server_version
from kviz.clusters.scheduler_config import GuessedConfig, guess_config
from kviz.clusters.watching import begin, follow
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import add_release_options, gates_of
from kviz.following.changes import Change, UnreadableChange
from kviz.following.decisions import Decision
from kviz.following.follower import Journal, Told
from kviz.following.reality import check, score
from kviz.following.recording import (
    BadRecording,
    Replayed,
    change_lines,
    journal_lines,
    journal_of,
    parse_lines,
    read_lines,
    replay,
)
from kviz.following.text import as_json, as_text
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    default_configuration,
    load_configuration,
)
from scheduler_core.releases.choosing import chosen_release
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim import Scenario


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "follow",
        description="Tell what a real cluster's scheduler does, as its API server says it, until "
        "Ctrl-C; or from a recording. With --check every decision is simulated in its place. "
        "Nothing is written to the cluster (docs/following.md).",
    )
    command.add_argument(
        "recording", type=Path, nargs="?", metavar="FILE", help="a recording instead of a cluster"
    )
    add_target_options(command)
    command.add_argument(
        "--for", type=float, dest="seconds", metavar="S", help="end after so many seconds"
    )
    command.add_argument(
        "--record",
        type=Path,
        metavar="F",
        help="write what was told to a recording (.jsonl); goes on with one that is there",
    )
    command.add_argument(
        "--check", action="store_true", help="set kviz's own verdict beside every decision"
    )
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="the scheduler's KubeSchedulerConfiguration (default: upstream's)",
    )
    command.add_argument(
        "--config-map",
        metavar="NS/NAME",
        help="the ConfigMap that has it; without either, kviz looks where it may be, and says so",
    )
    add_release_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run, scenario=None, recreate_evicted=False)


def run(options: argparse.Namespace) -> int:
    if options.recording is None:
        journal, wanted = live(options)
        if options.check:
            print_check(options, journal, wanted)
        return 0
    told = recorded(options.recording)
    if options.check:
        print_check(options, told.journal, scheduling(options, told.journal))
    else:
        print_decisions(options, told.decisions)
    return 0


def live(options: argparse.Namespace) -> tuple[Journal, SchedulerOptions]:
    """Follow a cluster, and print its decisions as they come. Raises CommandFailed.

    Returns the received changes, and what is known of the scheduler's configuration.
    """
    target, over = target_of_options(options), threading.Event()
    timer = threading.Timer(options.seconds or 0.0, over.set)
    timer.daemon = True
    try:
        with Connection(target) as connection, Recording(options.record) as recording:
            journal = recording.journal or _begun(connection, over)
            wanted = scheduling(options, journal)
            if options.check and options.config is None:
                guessed = guess_config(connection, wanted.features, options.config_map or "")
                if guessed.origin:
                    print(f"kviz: the configuration: {guessed.origin}", file=sys.stderr)
                wanted = guessed_scheduling(wanted, guessed)
            recording.begin(journal)

            def tell(told: Told) -> None:
                journal.changes += told.changes
                recording.add(told.changes)
                if not (options.check and options.json):
                    print_decisions(options, told.decisions)

            if options.seconds:
                timer.start()
            _until_interrupted(lambda: follow(connection, journal, tell, over), over)
    except (ClusterProblem, BadRecording, UnreadableChange) as error:
        raise CommandFailed(str(error)) from None
    except OSError as error:
        raise CommandFailed(f"{options.record}: {error.strerror}") from error
    return journal, wanted


def _begun(connection: Connection, over: threading.Event) -> Journal:
    """The lists of a cluster; says which kinds may not be read."""
    found = begin(connection, over.wait)
    for resource, sentence in found.refused.items():
        print(f"kviz: {resource} are not followed: {sentence}", file=sys.stderr)
    return Journal(found.lists, server_version=server_version(connection))


def _until_interrupted(work: Callable[[], object], over: threading.Event) -> None:
    """Do something until it is over; Ctrl-C ends it in good order."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
    except KeyboardInterrupt:
        over.set()
        thread.join()
    if failed:
        raise failed[0]


class Recording:
    """A file for the received changes; without a path, nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self.journal: Journal | None = None
        self._file: IO[bytes] | None = None
        if path is not None:
            self._file = path.open("a+b")
            self._resume(self._file, path)

    def _resume(self, file: IO[bytes], path: Path) -> None:
        """Read what is there; a line that was not written to its end is taken away."""
        file.seek(0)
        whole, newline, _ = file.read().rpartition(b"\n")
        file.truncate(len(whole) + len(newline))
        if whole:
            self.journal = journal_of(parse_lines(whole.split(b"\n"), str(path)))

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._file is not None:
            self._file.close()

    def begin(self, journal: Journal) -> None:
        """Write the lists, unless they are there."""
        if self._file is not None and self.journal is None:
            self._file.writelines(journal_lines(journal))
            self._file.flush()

    def add(self, changes: Sequence[Change]) -> None:
        if self._file is not None:
            self._file.writelines(change_lines(changes))
            self._file.flush()


def scheduling(options: argparse.Namespace, journal: Journal) -> SchedulerOptions:
    """The given configuration of the followed scheduler."""
    chosen = chosen_release(options.release, journal.release_told)
    gates: FeatureGates = gates_of(options, Scenario(), {}, chosen)
    if options.config is None:
        return SchedulerOptions(configuration=default_configuration(gates), features=gates)
    try:
        configuration = load_configuration(options.config.read_text(), gates)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{options.config}: {error}") from error
    return SchedulerOptions(configuration=configuration, features=gates)


def guessed_scheduling(given: SchedulerOptions, guessed: GuessedConfig) -> SchedulerOptions:
    """How it is configured by what was found in the cluster, or as given where nothing was."""
    if not guessed.text:
        return given
    configuration = load_configuration(guessed.text, given.features)
    return SchedulerOptions(configuration=configuration, features=given.features)


def recorded(path: Path) -> Replayed:
    """Follow a recording to its end. Raises CommandFailed."""
    try:
        return replay(read_lines(path))
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from error
    except (BadRecording, UnreadableChange) as error:
        raise CommandFailed(str(error)) from error


def print_check(options: argparse.Namespace, journal: Journal, wanted: SchedulerOptions) -> None:
    try:
        found = list(check(journal, wanted))
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    total = score(found)
    if options.json:
        print(json.dumps(as_json(found, total, wanted.features)))
    else:
        print(as_text(found, total, wanted.features), end="")


def print_decisions(options: argparse.Namespace, decisions: Sequence[Decision]) -> None:
    if options.json and options.recording is None:
        for each in decisions:
            print(json.dumps(_document(each)), flush=True)
    elif options.json:
        print(json.dumps({"decisions": [_document(each) for each in decisions]}))
    else:
        for line in _lines(decisions):
            print(line, flush=True)


def _document(decision: Decision) -> dict[str, object]:
    return {
        "number": decision.number,
        "pod": decision.pod.key,
        "resourceVersion": str(decision.version),
        "node": decision.node or None,
        "message": decision.message or None,
        "nominatedNodeName": decision.nominated or None,
    }


def _lines(decisions: Sequence[Decision]) -> Iterator[str]:
    for each in decisions:
        said = f"bound to {each.node}" if each.node else each.message
        yield f"{each.number:>6}  {each.pod.key}  {said}"
