"""`kviz explain`: why pods are pending, without a server."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from kviz.cli.arguments import Subparsers
from kviz.cli.plugins import plugins_for
from kviz.cli.problems import CommandFailed, WrongUsage
from kviz.cli.run_options import add_release_options, gates_of
from kviz.cli.simulate import read_cluster, read_configuration, read_scenario, transport_for
from kviz.explain import pending
from kviz.explain.explanation import UnknownNodeError, UnknownPodError, explain
from kviz.explain.text import as_json, as_markdown, as_text
from scheduler_core.api.ingest import Ingested
from scheduler_core.config import ConfigError, FeatureGates
from scheduler_core.sim import RunOptions
from scheduler_core.sim.pending import PendingPod, pending_pods


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "explain",
        help="say why pods are pending",
        description="Say why a pod is pending, from what kubectl printed: the cause with its "
        "values, which plugins reject which nodes, which nodes come nearest, what preemption would "
        "do, what it waits for. Without --pod a run is simulated, and all pods it leaves pending "
        "are explained, those of one owner with one cause together.",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument("--pod", metavar="NS/NAME", help="this pod alone, tried before all others")
    command.add_argument("--node", metavar="NODE", help="with --pod: why not, or why, this node")
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )
    command.add_argument(
        "--scenario",
        type=Path,
        metavar="F",
        help="what happens meanwhile (docs/scenarios.md); pods are explained as it leaves them",
    )
    add_release_options(command)
    command.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.node and (not options.pod or options.scenario):
        raise WrongUsage("--node goes with --pod, and not with --scenario")
    wanted = _run_options(options)
    cluster = read_cluster(options.files)
    try:
        if options.pod and not options.scenario:
            _explain_one(options, wanted, cluster)
        else:
            _explain_pending(options, wanted, cluster)
    except ConfigError as error:
        raise CommandFailed(f"{options.config}: {error}") from error
    return 0


def _run_options(options: argparse.Namespace) -> RunOptions:
    scenario = read_scenario(options.scenario)
    gates = gates_of(options, scenario)
    configuration = read_configuration(options.config, gates)
    registry = plugins_for(configuration, options.config).registry
    return RunOptions(
        configuration=configuration, features=gates, registry=registry, scenario=scenario
    )


def _explain_one(options: argparse.Namespace, wanted: RunOptions, cluster: Ingested) -> None:
    gates = wanted.features
    try:
        explanation = explain(
            list(cluster.objects),
            _key(options.pod),
            wanted.configuration,
            wanted.registry,
            gates,
            cluster.ignored,
            options.node or "",
            cluster.left_out,
        )
    except UnknownPodError as error:
        hint = f". Is it one of {', '.join(error.similar)}?" if error.similar else ""
        raise CommandFailed(f"{error} in these files{hint}") from error
    except UnknownNodeError as error:
        raise CommandFailed(f"{error} in these files") from error
    match options.format:
        case "json":
            print(json.dumps(as_json(explanation) | _followed(gates)))
        case "markdown":
            print(as_markdown(explanation, gates), end="")
        case _:
            print(as_text(explanation), end="")
            print(f"\n{gates.text}")


def _explain_pending(options: argparse.Namespace, wanted: RunOptions, cluster: Ingested) -> None:
    with transport_for(wanted.configuration) as transport:
        wanted = replace(
            wanted, transport=transport, ignored=cluster.ignored, left_out=cluster.left_out
        )
        found = pending_pods(list(cluster.objects), wanted)
    if options.pod:
        found = replace(found, pods=_only(found.pods, _key(options.pod)))
    match options.format:
        case "json":
            print(json.dumps(pending.as_json(found) | _followed(wanted.features)))
        case "markdown":
            print(pending.as_markdown(found), end="")
            print(f"\n{wanted.features.text}")
        case _:
            print(pending.as_text(found), end="")
            print(f"\n{wanted.features.text}")


def _followed(gates: FeatureGates) -> dict[str, object]:
    return {"release": gates.release.name, "featureGates": gates.changed}


def _only(found: tuple[PendingPod, ...], pod: str) -> tuple[PendingPod, ...]:
    """The one pod that was asked for. Raises CommandFailed."""
    chosen = tuple(each for each in found if each.pod == pod)
    if not chosen:
        raise CommandFailed(f"the scenario leaves no pod {pod} pending")
    return chosen


def _key(pod: str) -> str:
    return pod if "/" in pod else f"default/{pod}"
