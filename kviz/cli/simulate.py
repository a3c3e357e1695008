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
from kviz.cli.run_options import (
    add_release_options,
    add_rule_options,
    gates_of,
    tie_break_of,
)
from kviz.common.hosts import AllowedHosts
from kviz.out_of_tree import LoadedPlugins
from kviz.project import environment
from kviz.run_file import Inputs, Plugin, RunFile
from kviz.simulate import Outcome, files_sha256, read_files
from kviz.simulate import run as simulate_files
from scheduler_core import ENGINE_VERSION
from scheduler_core.api.findings import counted
from scheduler_core.api.ingest import Ingested
from scheduler_core.api.packing import pack
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
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
    add_release_options(command)
    add_rule_options(command)
    command.add_argument("--format", choices=("table", "json"), default="table")
    command.add_argument(
        "--trace",
        type=Path,
        metavar="OUT",
        help="write the run to a .kviz file, to be opened in the browser",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    scenario = read_scenario(options.scenario)
    gates = gates_of(options, scenario)
    configuration = read_configuration(options.config, gates)
    plugins = plugins_for(configuration, options.config)
    cluster = read_cluster(options.files)
    wanted = RunOptions(
        configuration=configuration,
        features=gates,
        registry=plugins.registry,
        scenario=scenario,
        seed=options.seed,
        tie_break=tie_break_of(options),
        queue_order=options.queue_order,
        ignored=cluster.ignored,
        left_out=cluster.left_out,
    )
    try:
        with (
            options.trace.open("wb") if options.trace else nullcontext() as file,
            transport_for(configuration) as transport,
        ):
            run_file = RunFile(file, _inputs(options, wanted, cluster, plugins)) if file else None
            outcome = simulate_files(cluster, replace(wanted, transport=transport), run_file)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except OSError as error:
        raise CommandFailed(f"{options.trace}: {error.strerror}") from error
    if options.format == "json":
        print(json.dumps(outcome.as_json() | _options_json(wanted)))
    else:
        _print_table(outcome, _options_in_words(wanted))
    return 0


def _options_json(wanted: RunOptions) -> dict[str, object]:
    return {
        "release": wanted.features.release.name,
        "featureGates": wanted.features.changed,
        "tieBreak": wanted.tie_break,
        "queueOrder": wanted.queue_order,
    }


def _options_in_words(wanted: RunOptions) -> str:
    words = [wanted.features.text]
    if wanted.tie_break != wanted.features.release.tie_break:
        words.append(f"ties by {wanted.tie_break}, seed {wanted.seed}")
    if wanted.queue_order != "listed":
        words.append(f"pending pods queued by {wanted.queue_order}")
    return "; ".join(words)


def _inputs(
    options: argparse.Namespace, wanted: RunOptions, cluster: Ingested, plugins: LoadedPlugins
) -> Inputs:
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
        release=wanted.features.release.name,
        feature_gates=dict(wanted.features.overrides),
        tie_break=wanted.tie_break,
        queue_order=wanted.queue_order,
        left_out=list(cluster.left_out),
    )


@contextmanager
def transport_for(configuration: KubeSchedulerConfiguration) -> Iterator[Transport | None]:
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


def read_configuration(path: Path | None, gates: FeatureGates) -> KubeSchedulerConfiguration:
    """Read a scheduler configuration, the default one without a path. Raises CommandFailed."""
    if path is None:
        return default_configuration(gates)
    return _loaded(path, lambda text: load_configuration(text, gates))


def read_scenario(path: Path | None) -> Scenario:
    """Read what happens meanwhile, nothing without a path. Raises CommandFailed."""
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


def _print_table(outcome: Outcome, made_with: str) -> None:
    rows = [COLUMNS, *(_row(cycle) for cycle in outcome.cycles)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    print(*(head.ljust(width) for head, width in zip(COLUMNS, widths, strict=True)), "MESSAGE")
    room = max(shutil.get_terminal_size((120, 24)).columns - sum(widths) - len(widths), 40)
    for cycle, row in zip(outcome.cycles, rows[1:], strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(*cells, _message(cycle, room))
    end = outcome.finished
    print(f"\n{made_with}")
    print(f"{end.n_cycles} cycles; {end.n_bound} pods on nodes, {end.n_pending} pending")
    if end.reason:
        print(end.reason)
    for pod in outcome.pending:
        print(f"  {pod}")
    for text in outcome.not_modelled:
        print(f"not modelled: {text}")


def _row(cycle: CycleRow) -> tuple[str, ...]:
    return (str(cycle.number), cycle.pod, str(cycle.attempt), cycle.result, cycle.node)


def _message(cycle: CycleRow, room: int) -> str:
    text = cycle.message
    if cycle.n_held:
        text = f"{counted(cycle.n_held, 'node')} held for nominated pods; {text}"
    if cycle.victims:
        text = f"evicts {', '.join(cycle.victims)} from {cycle.nominated_node}; {text}"
    if cycle.devices:
        given = (f"{claim}: {', '.join(names)}" for claim, names in cycle.devices.items())
        text = "; ".join([*given, *([text] if text else [])])
    if not sys.stdout.isatty() or len(text) <= room:
        return text
    return text[: room - 1] + "…"
