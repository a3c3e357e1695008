"""`kviz explain`: why pods are pending, without a server."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from kviz.command_line.arguments import Subparsers, add_files_argument, add_format_options
from kviz.command_line.changes import add_change_option, changes_of, inputs_of
from kviz.command_line.cluster import pod_key, read_cluster, transport_for
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    add_config_option,
    add_release_options,
    add_scenario_option,
)
from kviz.questions.why import pending
from kviz.questions.why.answer import UnknownNodeError, UnknownPodError, explain
from kviz.questions.why.text import as_json, as_markdown, as_text
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import Ingested
from scheduler_core.config import ConfigError
from scheduler_core.sim import RunOptions
from scheduler_core.sim.pending import PendingPod, pending_pods


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "explain",
        description="Say why a pod is pending, from what kubectl printed: the cause with its "
        "values, which plugins reject which nodes, which nodes come nearest, what preemption would "
        "do, what it waits for. Without --pod a run is simulated, and all pods it leaves pending "
        "are explained, those of one owner with one cause together.",
    )
    add_files_argument(command)
    command.add_argument("--pod", metavar="NS/NAME", help="this pod alone, tried before all others")
    command.add_argument("--node", metavar="NODE", help="with --pod: why not, or why, this node")
    add_config_option(command)
    add_scenario_option(command, "; pods are explained as it leaves them")
    add_release_options(command)
    add_change_option(command)
    add_format_options(command, ("text", "json", "markdown"))
    command.set_defaults(run=run, seed=0, tie_break=None, queue_order="listed")


def run(options: argparse.Namespace) -> int:
    if options.node and (not options.pod or options.scenario):
        raise WrongUsage("--node goes with --pod, and not with --scenario")
    options.plays_scenario = not options.node
    return explain_cluster(options, read_cluster(options))


def explain_cluster(options: argparse.Namespace, cluster: Ingested) -> int:
    """Explain what the options ask about, of a cluster that was read. Raises CommandFailed."""
    made_of = inputs_of(options, changes_of(options), cluster)
    wanted, objects = made_of.options, made_of.objects(cluster)
    try:
        if options.pod and not options.scenario and not options.recreate_evicted:
            _explain_one(options, wanted, objects, cluster)
        else:
            _explain_pending(options, wanted, objects, cluster)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    return 0


def _explain_one(
    options: argparse.Namespace,
    wanted: RunOptions,
    objects: list[KubeObject],
    cluster: Ingested,
) -> None:
    gates = wanted.features
    try:
        explanation = explain(
            objects,
            pod_key(options.pod),
            wanted.configuration,
            wanted.registry,
            gates,
            wanted.ignored,
            options.node or "",
            wanted.left_out,
        )
    except UnknownPodError as error:
        hint = f". Is it one of {', '.join(error.similar)}?" if error.similar else ""
        raise CommandFailed(f"{error} in this cluster{hint}") from error
    except UnknownNodeError as error:
        raise CommandFailed(f"{error} in this cluster") from error
    if options.change:
        explanation = replace(explanation, cluster_says=None)
    match options.format:
        case "json":
            print(json.dumps(as_json(explanation) | gates.as_json() | _notes(cluster)))
        case "markdown":
            print(as_markdown(explanation, gates), end="")
        case _:
            print(as_text(explanation), end="")
            print(f"\n{gates.text}")


def _explain_pending(
    options: argparse.Namespace,
    wanted: RunOptions,
    objects: list[KubeObject],
    cluster: Ingested,
) -> None:
    without_pods = cluster.without_pods
    with transport_for(wanted.configuration) as transport:
        found = pending_pods(objects, replace(wanted, transport=transport))
    if options.change or options.scenario:  # then it is another cluster
        found = replace(found, cluster_says={})
    if options.pod:
        found = replace(found, pods=_only(found.pods, pod_key(options.pod)))
    groups = pending.grouped(found, objects, wanted)
    match options.format:
        case "json":
            answer = pending.as_json(found, groups, without_pods) | wanted.features.as_json()
            print(json.dumps(answer | _notes(cluster)))
        case "markdown":
            print(pending.as_markdown(found, groups, without_pods), end="")
            print(f"\n{wanted.features.text}")
        case _:
            print(pending.as_text(found, groups, without_pods), end="")
            print(f"\n{wanted.features.text}")


def _notes(cluster: Ingested) -> dict[str, object]:
    """What was noticed while the files were read, as scripts are told."""
    return {"notes": list(map(str, cluster.warnings))}


def _only(found: tuple[PendingPod, ...], pod: str) -> tuple[PendingPod, ...]:
    """The one pod that was asked for. Raises CommandFailed."""
    chosen = tuple(each for each in found if each.pod == pod)
    if not chosen:
        raise CommandFailed(f"the scenario leaves no pod {pod} pending")
    return chosen
