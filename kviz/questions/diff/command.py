"""`kviz diff`: what is different between two runs, without a server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, get_args

from kviz.command_line.arguments import Subparsers, cluster_path
from kviz.command_line.changes import add_change_option, changes_of, inputs_of
from kviz.command_line.cluster import read_cluster_files, transport_for
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    RELEASE_CHOICES,
    add_config_option,
    add_release_options,
    add_rule_options,
    add_scenario_option,
    release_or_auto,
)
from kviz.command_line.samples import take_from_samples
from kviz.run_file import MAGIC, Inputs, Part, RunFileError, is_run_file, read_records
from scheduler_core.amounts import in_one_unit
from scheduler_core.analysis.compare import (
    Comparison,
    RunLines,
    argument_settings,
    compare,
    read_lines,
)
from scheduler_core.analysis.compare.inputs import Setting
from scheduler_core.analysis.compare.words import share_text
from scheduler_core.api.ingest import Ingested
from scheduler_core.changes import ChangeError, Rules, changed_rules, read_changes
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.releases import stored_release
from scheduler_core.releases.choosing import in_words
from scheduler_core.releases.table import TieBreak
from scheduler_core.sim import simulate
from scheduler_core.trace.checking import TraceError
from scheduler_core.trace.codec import Chunk, chunked
from scheduler_core.trace.records import QueueOrder

ROWS_SHOWN: Final = 20
"""Of each table of the text form; `--json` has all."""
SIDES: Final = ("a", "b")
LISTS: Final = ("feature_gates", "change")
"""Options of which one run has those given for both, and its own after them."""
SINGLE: Final = ("config", "scenario", "release", "seed", "tie_break", "queue_order")


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "diff",
        description="Compare two runs: .kviz files, or clusters as kubectl printed them, which are "
        "simulated first. Options without -a or -b hold for both. Exits with 0 if the runs are "
        "identical, 1 if they differ, 2 if one cannot be read.",
        epilog="example: kviz diff cluster.yaml cluster.yaml --config-b heavier.yaml",
    )
    command.add_argument("a", type=cluster_path, metavar="A", help="a run file, or a cluster")
    command.add_argument("b", type=cluster_path, metavar="B", help="a run file, or a cluster")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_config_option(command)
    add_scenario_option(command)
    add_release_options(command)
    add_rule_options(command)
    add_change_option(command)
    for side in SIDES:
        _add_side(command, side)
    command.set_defaults(run=run)


def _add_side(command: argparse.ArgumentParser, side: str) -> None:
    group = command.add_argument_group(f"of {side.upper()} alone")
    group.add_argument(f"--config-{side}", type=Path, metavar="F")
    group.add_argument(f"--scenario-{side}", type=Path, metavar="F")
    group.add_argument(f"--change-{side}", action="append", default=[], metavar="C")
    group.add_argument(f"--feature-gates-{side}", action="append", default=[], metavar="A=true")
    group.add_argument(f"--release-{side}", type=release_or_auto, metavar=RELEASE_CHOICES)
    group.add_argument(f"--seed-{side}", type=int, metavar="N")
    group.add_argument(f"--tie-break-{side}", choices=get_args(TieBreak))
    group.add_argument(f"--queue-order-{side}", choices=get_args(QueueOrder))


def run(options: argparse.Namespace) -> int:
    """Print what is different. Raises WrongUsage: 1 is not for failing, it says they differ."""
    try:
        a, b = _runs(options)
        found = _compared(options, a, b)
    except (CommandFailed, PluginFailure) as problem:
        raise WrongUsage(str(problem)) from problem
    if options.json:
        releases = {"a": a.release_text, "b": b.release_text}
        print(json.dumps(found.as_json() | {"releases": releases}))
    else:
        _print(found)
        print(f"A: Kubernetes v{a.release_text}\nB: Kubernetes v{b.release_text}")
    return 0 if found.identical else 1


# ---------------------------------------------------------------- reading


def _runs(options: argparse.Namespace) -> tuple[Made, Made]:
    """Return the two runs. Raises CommandFailed."""
    sources = Sources()
    given = [name for name in ("config", "scenario", "tie_break", *LISTS) if getattr(options, name)]
    if given and _holds_run(options.a) and _holds_run(options.b):
        raise WrongUsage(f"{_option(given[0])}: both are runs already; they stay as they were made")
    a, b = (_run_of(options, side, sources) for side in SIDES)
    return a, b


def _compared(options: argparse.Namespace, a: Made, b: Made) -> Comparison:
    try:
        return compare(a.lines, b.lines).with_known(_arguments(a, b), ())
    except TraceError as error:
        raise CommandFailed(f"{options.a} or {options.b}: {error}") from error


@dataclass
class Sources:
    """The cluster read last: most often both runs are over the same one."""

    path: Path | None = None
    cluster: Ingested | None = None

    def read(self, path: Path) -> Ingested:
        if self.cluster is None or path != self.path:
            self.path, self.cluster = path, read_cluster_files([path])
        return self.cluster


@dataclass(frozen=True)
class Made:
    """A run, and what it was configured with: None where that is not known any more."""

    lines: RunLines
    configuration: KubeSchedulerConfiguration | None
    release_text: str


def _arguments(a: Made, b: Made) -> list[Setting]:
    """The arguments of plugins that differ, those that are known."""
    if a.configuration is None or b.configuration is None:
        return []
    return argument_settings(a.configuration, b.configuration)


def _run_of(options: argparse.Namespace, side: str, sources: Sources) -> Made:
    """One of the two runs, read or simulated. Raises CommandFailed."""
    path: Path = getattr(options, side)
    own = options_of(options, side)
    if _holds_run(path):
        if given := [name for name in (*SINGLE, *LISTS) if getattr(options, f"{name}_{side}")]:
            option = _option(f"{given[0]}_{side}")
            raise WrongUsage(f"{option}: {path} is a run already; it stays as it was made")
        chunks, configuration, release = _saved(path)
    else:
        take_from_samples(own)
        chunks, configuration, release = _simulated(own, sources.read(path))
    try:
        return Made(read_lines(chunks), configuration, release)
    except TraceError as error:
        raise CommandFailed(f"{path}: the trace in this file is damaged: {error}") from error


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def options_of(options: argparse.Namespace, side: str) -> argparse.Namespace:
    """What one of the runs is made with: its own options before those for both."""
    # each run has its changes from its beginning
    own = argparse.Namespace(
        fork_at=0,
        plays_scenario=options.plays_scenario,
        recreate_evicted=False,
        files=[getattr(options, side)],
    )
    for name in SINGLE:
        alone = getattr(options, f"{name}_{side}")
        setattr(own, name, getattr(options, name) if alone is None else alone)
    for name in LISTS:
        setattr(own, name, [*getattr(options, name), *getattr(options, f"{name}_{side}")])
    return own


def _holds_run(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        with path.open("rb") as file:
            return is_run_file(file.read(len(MAGIC)))
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error


def _saved(path: Path) -> tuple[list[Chunk], KubeSchedulerConfiguration | None, str]:
    """The trace in a file, its configuration and its release. Raises CommandFailed."""
    try:
        with path.open("rb") as file:
            records = [each for each in read_records(file) if isinstance(each, Part | Inputs)]
    except RunFileError as error:
        raise CommandFailed(f"{path}: {error}") from error
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    inputs = next((each for each in records if isinstance(each, Inputs)), None)
    chunks = [each.chunk for each in records if isinstance(each, Part)]
    if inputs is None:
        return chunks, None, ""
    return chunks, configuration_in(inputs), in_words(inputs.release, inputs.release_told)


def configuration_in(inputs: Inputs) -> KubeSchedulerConfiguration | None:
    """What a saved run was configured with; None where this kviz cannot read it any more."""
    release = stored_release(inputs.release)
    if release is None:
        return None
    base = Rules(inputs.scheduler_config, inputs.feature_gates, release)
    try:
        made = read_changes([each.change for each in inputs.changes])
        return changed_rules(base, made).load()
    except (ConfigError, ChangeError):
        return None


def _simulated(
    own: argparse.Namespace, cluster: Ingested
) -> tuple[list[Chunk], KubeSchedulerConfiguration, str]:
    made_of = inputs_of(own, changes_of(own), cluster)
    objects, wanted = made_of.objects(cluster), made_of.options
    try:
        with transport_for(wanted.configuration) as transport:
            chunks = list(chunked(simulate(objects, replace(wanted, transport=transport))))
            return chunks, wanted.configuration, wanted.features.release_text
    except ConfigError as error:
        raise CommandFailed(f"{own.config}: {error}") from error


# ---------------------------------------------------------------- the text


def _print(found: Comparison) -> None:
    print(found.sentence)
    for cause in found.causes:
        print(f"Has to do with it: {cause}.")
    for name, values in (("A", found.evicted_a), ("B", found.evicted_b)):
        if values and found.evicted_a != found.evicted_b:
            print(f"Evicted in {name}: {', '.join(values[:ROWS_SHOWN])}{_more(values)}.")
    for title, rows in _tables(found):
        if rows:
            print(f"\n{title}")
            _print_rows(rows[:ROWS_SHOWN])
            if len(rows) > ROWS_SHOWN:
                print(f"  … {len(rows) - ROWS_SHOWN:,} more; --json has all")


def _more(values: Sequence[object]) -> str:
    rest = len(values) - ROWS_SHOWN
    return f" and {rest:,} more" if rest > 0 else ""


def _tables(found: Comparison) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    ends, made = found.ends, found.inputs
    yield "Moved", [(each.pod, each.a, each.b, _luck(each.luck)) for each in ends.moved]
    yield "Newly placed in B", [(each.pod, each.node, each.message) for each in ends.newly_bound]
    yield "Newly pending in B", [(each.pod, each.message) for each in ends.newly_pending]
    yield "Pending for another reason", [(each.pod, each.a, each.b) for each in ends.messages]
    yield (
        "What differs at the start",
        [
            *((each.name, each.a or "-", each.b or "-") for each in made.settings),
            *(
                (kind, name, side)
                for kind, objects in (("node", made.nodes), ("pod", made.pods))
                for side, names in (("only in A", objects.only_a), ("only in B", objects.only_b))
                for name in names
            ),
            *(
                (kind, each.name, ", ".join(each.what))
                for kind, objects in (("node", made.nodes), ("pod", made.pods))
                for each in objects.changed
            ),
        ],
    )
    if not found.identical:
        yield "Resources at the end", list(_resources(found))


def _luck(luck: bool | None) -> str:
    return {True: "by a tie only", False: "", None: "not examined for ties"}[luck]


def _resources(found: Comparison) -> Iterator[tuple[str, ...]]:
    yield "", "REQUESTED A", "B", "ALLOCATABLE A", "B", "LARGEST FREE A", "B", "OF NO USE A", "B"
    for each in found.ends.utilisation:
        values = (
            *(each.a.requested, each.b.requested, each.a.allocatable, each.b.allocatable),
            *(each.a.largest_free, each.b.largest_free),
        )
        shares = (share_text(each.a.fragmentation), share_text(each.b.fragmentation))
        yield each.resource, *in_one_unit(each.resource, *values), *shares


def _print_rows(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  " + "  ".join(cells).rstrip())
