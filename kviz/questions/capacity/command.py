"""`kviz capacity`: how many more pods fit, by running the scheduler until the next does not."""

from __future__ import annotations

import argparse
from pathlib import Path

from kviz.command_line.arguments import Subparsers
from kviz.command_line.cluster import add_cluster_options, asked_cluster
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.questions.capacity.text import as_json, as_text, daemons_json
from kviz.simulate import read_files
from scheduler_core.analysis.advice.capacity import MAX_COPIES, capacity, capacity_of_mix
from scheduler_core.api import Pod
from scheduler_core.api.pod_templates import WORKLOADS

Template = tuple[Pod, int | None]
"""A pod and its weight; without one it is no part of a mix."""


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "capacity",
        description="Create copies of a pod, one after the other, until the scheduler finds no "
        "node for the next one; say how many fit, where, and what stops the next one.",
    )
    add_cluster_options(command)
    command.add_argument(
        "--pod",
        action="append",
        required=True,
        metavar="POD.yaml[=N]",
        help="the pod to copy, or a Deployment, StatefulSet, Job or the like that makes it; "
        "several take turns until none fits. With =N on each they are a mix "
        "of those weights, which ends with the first pod that does not fit",
    )
    command.add_argument(
        "--max",
        type=int,
        default=MAX_COPIES,
        metavar="N",
        help="try no more copies than that (default: %(default)s)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.max < 1:
        raise WrongUsage(f"--max {options.max}: at least one copy has to be tried")
    templates = [each for text in options.pod for each in _templates(text)]
    mix = [(pod, weight) for pod, weight in templates if weight is not None]
    if mix and len(mix) < len(templates):
        raise WrongUsage("--pod: give each file of a mix a weight (web.yaml=3), or none of them")
    with asked_cluster(options) as asked:
        if mix:
            found = capacity_of_mix(asked.objects, asked.options, mix, options.max)
        else:
            pods = [pod for pod, _ in templates]
            found = capacity(asked.objects, asked.options, pods, options.max)
    if options.json:
        asked.print_json(as_json(found) | {"daemons": daemons_json(asked.objects)})
    else:
        asked.print_text(as_text(found, asked.objects))
    return 0


def _templates(text: str) -> list[Template]:
    """The pods of a file. Raises CommandFailed."""
    name, weight = _name_and_weight(text)
    try:
        read = read_files([Path(name)], WORKLOADS)
    except OSError as error:
        raise CommandFailed(f"{name}: {error.strerror}") from error
    if read.errors:
        raise CommandFailed("; ".join(map(str, read.errors)))
    pods = read.objects.of(Pod)
    if not pods:
        raise CommandFailed(f"{name}: there is no pod in it, nor a workload that makes pods")
    return [(pod, weight) for pod in pods]


def _name_and_weight(text: str) -> tuple[str, int | None]:
    name, sign, number = text.rpartition("=")
    if not sign or Path(text).exists() or not number.isdecimal():
        return text, None
    if int(number) < 1:
        raise WrongUsage(f"--pod {text}: a weight is 1 or more")
    return name, int(number)
