"""`kviz simulate`: runs the scheduler over files, without a server."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec

from kviz.command_line.arguments import Subparsers, add_files_argument, add_format_options
from kviz.command_line.changes import (
    RunInputs,
    add_change_option,
    add_fork_option,
    changes_of,
    check_made,
    in_time,
    inputs_of,
)
from kviz.command_line.cluster import read_cluster, transport_for
from kviz.command_line.problems import CommandFailed
from kviz.command_line.run_options import (
    add_config_option,
    add_release_options,
    add_rule_options,
    add_scenario_option,
    scenario_text,
)
from kviz.engine_build import engine_build
from kviz.run_file import ChangeMade, Inputs, Plugin, RunFile, said_of
from kviz.simulate import Outcome, files_sha256
from kviz.simulate import run as simulate_files
from kviz.without_secrets import plain_without_secrets, without_secrets
from scheduler_core.api.absent_kinds import absent_budgets, absent_kinds
from scheduler_core.api.counting import counted
from scheduler_core.api.ingest import Ingested
from scheduler_core.api.packing import pack
from scheduler_core.changes import Change, document_of
from scheduler_core.config import ConfigError
from scheduler_core.sim import RunOptions
from scheduler_core.trace.index import CycleRow
from scheduler_core.wording import told


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "simulate",
        description="Run the scheduler over what kubectl printed: YAML or JSON files, packed or "
        "not, and folders of them.",
    )
    add_files_argument(command)
    add_config_option(command)
    add_scenario_option(command)
    add_release_options(command)
    add_rule_options(command)
    add_change_option(command)
    add_fork_option(command)
    add_format_options(command, ("table", "json"))
    command.add_argument(
        "--trace",
        type=Path,
        metavar="OUT",
        help="write the run to a .kviz file, to be opened in the browser",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    changes = changes_of(options)
    cluster = read_cluster(options)
    made_of = inputs_of(options, changes, cluster)
    objects = made_of.objects(cluster)
    try:
        with (
            options.trace.open("wb") if options.trace else nullcontext() as file,
            transport_for(made_of.options.configuration) as transport,
        ):
            run_file = RunFile(file, _inputs(options, made_of, cluster)) if file else None
            wanted = replace(made_of.options, transport=transport)
            outcome = simulate_files(objects, wanted, run_file)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    except OSError as error:
        raise CommandFailed(f"{options.trace}: {error.strerror}") from error
    sentences = made_of.sentences(cluster)
    check_made(outcome.finished.n_cycles, options.fork_at)
    if options.format == "json":
        made = {"changes": sentences, "forkAt": options.fork_at}
        print(
            json.dumps(outcome.as_json() | _options_json(wanted) | made | _lacks(cluster, outcome))
        )
    else:
        for text in cluster.without_pods:
            print(text)
        _print_table(outcome, _options_in_words(wanted), in_time(sentences, options.fork_at))
    return 0


def _lacks(cluster: Ingested, outcome: Outcome) -> dict[str, object]:
    """What the files lack: kinds that their pods would have needed, and pods of workloads."""
    preemptors = [each.pod for each in outcome.cycles if each.victims]
    absent = (
        *absent_kinds(cluster.objects, ignored=cluster.ignored),
        *absent_budgets(cluster.objects, preemptors),
    )
    return {
        "incomplete": [each.document for each in absent],
        "withoutPods": list(cluster.without_pods),
    }


def _options_json(wanted: RunOptions) -> dict[str, object]:
    return {
        **wanted.features.as_json(),
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


def _inputs(options: argparse.Namespace, made_of: RunInputs, cluster: Ingested) -> Inputs:
    """What a run file says that a run was made of: the inputs, and what was changed of them."""
    base = made_of.base
    return Inputs(
        engine_version=engine_build(),
        name=options.files[0].stem[:200],
        sha256=files_sha256(options.files),
        ignored=cluster.ignored,
        warnings=list(map(str, cluster.warnings)),
        problems=[{"message": str(error)} for error in cluster.errors],
        scheduler_config=without_secrets(base.configuration),
        scenario=without_secrets(scenario_text(options)),
        seed=base.seed,
        plugins=[
            Plugin(each.name, each.package, each.version) for each in made_of.plugins.out_of_tree
        ],
        objects=pack(cluster.objects),
        release=base.release.name,
        feature_gates=dict(base.gates),
        tie_break=made_of.options.tie_break,
        queue_order=base.queue_order,
        left_out=list(map(str, cluster.left_out)),
        changes=[ChangeMade(each.cycle, _kept(each.change)) for each in made_of.changes],
        said=said_of(cluster.warnings, map(told, cluster.errors), cluster.left_out),
        release_told=made_of.options.features.release_told,
    )


def _kept(change: Change) -> str:
    return msgspec.json.encode(plain_without_secrets(document_of(change))).decode()


# ---------------------------------------------------------------- the table

COLUMNS = ("CYCLE", "POD", "TRY", "RESULT", "NODE")


def _print_table(outcome: Outcome, made_with: str, changes: Sequence[str]) -> None:
    rows = [COLUMNS, *(_row(cycle) for cycle in outcome.cycles)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    print(*(head.ljust(width) for head, width in zip(COLUMNS, widths, strict=True)), "MESSAGE")
    room = max(shutil.get_terminal_size((120, 24)).columns - sum(widths) - len(widths), 40)
    for cycle, row in zip(outcome.cycles, rows[1:], strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(*cells, _message(cycle, room))
    end = outcome.finished
    print(f"\n{made_with}")
    for text in changes:
        print(f"changed: {text}")
    on_nodes = f"{counted(end.n_bound, 'pod')} on nodes, {end.n_pending} pending"
    print(f"{counted(end.n_cycles, 'cycle')}; {on_nodes}")
    if end.reason:
        print(end.reason)
    for pod in outcome.pending:
        print(f"  {pod}")
    for text in outcome.not_modelled:
        print(f"this may be wrong: {text}")


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
