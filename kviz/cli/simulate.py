"""`kviz simulate`: runs the scheduler over files, without a server."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from kviz.cli.arguments import Subparsers
from kviz.cli.plugins import plugins_for
from kviz.cli.problems import CommandFailed
from kviz.common.hosts import AllowedHosts
from kviz.out_of_tree import LoadedPlugins
from kviz.project import environment
from kviz.run_file import Inputs, Plugin, RunFile
from kviz.simulate import Outcome, files_sha256, read_files
from kviz.simulate import run as simulate_files
from scheduler_core import ENGINE_VERSION
from scheduler_core.api.ingest import Ingested
from scheduler_core.api.packing import pack
from scheduler_core.config import (
    ConfigError,
    KubeSchedulerConfiguration,
    default_configuration,
    load_configuration,
)
from scheduler_core.extender.transport import Transport
from scheduler_core.sim import RunOptions, Scenario, load_scenario
from scheduler_core.trace.index import CycleRow

Loaded = TypeVar("Loaded")


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "simulate",
        help="run the scheduler over what kubectl printed",
        description="Run the scheduler over what kubectl printed: YAML or JSON files, packed or "
        "not, and folders of them.",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )
    command.add_argument(
        "--scenario", type=Path, metavar="F", help="what happens meanwhile (docs/scenarios.md)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    command.add_argument("--format", choices=("table", "json"), default="table")
    command.add_argument(
        "--trace",
        type=Path,
        metavar="OUT",
        help="write the run to a .kviz file, to be opened in the browser",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    configuration = read_configuration(options.config)
    plugins = plugins_for(configuration, options.config)
    wanted = RunOptions(
        configuration=configuration,
        registry=plugins.registry,
        scenario=_scenario(options.scenario),
        seed=options.seed,
    )
    cluster = read_cluster(options.files)
    try:
        with (
            options.trace.open("wb") if options.trace else nullcontext() as file,
            _transport(configuration) as transport,
        ):
            run_file = RunFile(file, _inputs(options, cluster, plugins)) if file else None
            outcome = simulate_files(cluster, replace(wanted, transport=transport), run_file)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except OSError as error:
        raise CommandFailed(f"{options.trace}: {error.strerror}") from error
    if options.format == "json":
        print(json.dumps(outcome.as_json()))
    else:
        _print_table(outcome)
    return 0


def _inputs(options: argparse.Namespace, cluster: Ingested, plugins: LoadedPlugins) -> Inputs:
    """What a run file says that a run was made of."""
    return Inputs(
        engine_version=ENGINE_VERSION,
        name=options.files[0].stem[:200],
        sha256=files_sha256(options.files),
        ignored=cluster.ignored,
        warnings=list(cluster.warnings),
        problems=[{"message": str(error)} for error in cluster.errors],
        scheduler_config=options.config.read_text() if options.config else "",
        scenario=options.scenario.read_text() if options.scenario else "",
        seed=options.seed,
        plugins=[Plugin(each.name, each.package, each.version) for each in plugins.out_of_tree],
        objects=pack(cluster.objects),
    )


@contextmanager
def _transport(configuration: KubeSchedulerConfiguration) -> Iterator[Transport | None]:
    """A way to the configuration's extenders, if it has any, as far as they may be called.

    Prints a warning for those that may not. Raises CommandFailed.
    """
    if not configuration.extenders:
        yield None
        return
    from kviz.common.extender_http import HttpTransport, read_files  # takes long to load

    try:
        allowed = AllowedHosts.parse(environment.words("KVIZ_EXTENDER_HOSTS", ()))
    except ValueError as error:
        raise CommandFailed(f"KVIZ_EXTENDER_HOSTS: {error}") from error
    for extender in configuration.extenders:
        if refusal := allowed.refusal(extender.url_prefix):
            print(f"kviz: warning: {refusal} (docs/operation.md)", file=sys.stderr)
    with HttpTransport(allowed, read_files) as transport:
        yield transport


def read_configuration(path: Path | None) -> KubeSchedulerConfiguration:
    """Read a scheduler configuration, the default one without a path. Raises CommandFailed."""
    return default_configuration() if path is None else _loaded(path, load_configuration)


def _scenario(path: Path | None) -> Scenario:
    return Scenario() if path is None else _loaded(path, load_scenario)


def _loaded(path: Path, load: Callable[[bytes], Loaded]) -> Loaded:
    """What a file holds. Raises CommandFailed."""
    try:
        return load(path.read_bytes())
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except ConfigError as error:
        raise CommandFailed(f"{path}: {error}") from error


def read_cluster(paths: list[Path]) -> Ingested:
    """Read the files; print what cannot be read, and fail the command if nothing is left.

    Raises CommandFailed.
    """
    try:
        cluster = read_files(paths)
    except OSError as error:
        raise CommandFailed(f"{error.filename}: {error.strerror}") from error
    for problem in cluster.errors:
        print(f"kviz: {problem}", file=sys.stderr)
    for warning in cluster.warnings:
        print(f"kviz: note: {warning}", file=sys.stderr)
    if not cluster.counts:
        raise CommandFailed("there is nothing in these files that the scheduler reads")
    return cluster


# ---------------------------------------------------------------- the table

COLUMNS = ("CYCLE", "POD", "TRY", "RESULT", "NODE")


def _print_table(outcome: Outcome) -> None:
    rows = [COLUMNS, *(_row(cycle) for cycle in outcome.cycles)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    print(*(head.ljust(width) for head, width in zip(COLUMNS, widths, strict=True)), "MESSAGE")
    room = max(shutil.get_terminal_size((120, 24)).columns - sum(widths) - len(widths), 40)
    for cycle, row in zip(outcome.cycles, rows[1:], strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(*cells, _message(cycle, room))
    end = outcome.finished
    print(f"\n{end.n_cycles} cycles; {end.n_bound} pods on nodes, {end.n_pending} pending")
    if end.reason:
        print(end.reason)
    for pod in outcome.pending:
        print(f"  {pod}")


def _row(cycle: CycleRow) -> tuple[str, ...]:
    return (str(cycle.number), cycle.pod, str(cycle.attempt), cycle.result, cycle.node)


def _message(cycle: CycleRow, room: int) -> str:
    text = cycle.message
    if cycle.victims:
        text = f"evicts {', '.join(cycle.victims)} from {cycle.nominated_node}; {text}"
    if cycle.devices:
        given = (f"{claim}: {', '.join(names)}" for claim, names in cycle.devices.items())
        text = "; ".join([*given, *([text] if text else [])])
    if not sys.stdout.isatty() or len(text) <= room:
        return text
    return text[: room - 1] + "…"
