"""`kviz whatif`: what follows from changes for a pod and for all others, without a server."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from kviz.command_line.arguments import Subparsers, add_files_argument, add_format_options
from kviz.command_line.changes import (
    add_change_option,
    add_fork_option,
    changes_of,
    in_time,
    inputs_of,
)
from kviz.command_line.cluster import pod_key, read_cluster, transport_for
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    add_config_option,
    add_release_options,
    add_rule_options,
    add_scenario_option,
)
from kviz.questions.whatif.answer import UnknownPodError, effect
from kviz.questions.whatif.text import as_json, as_text
from scheduler_core.changes import line_of
from scheduler_core.config import ConfigError


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "whatif",
        description="Run the scheduler twice over what kubectl printed, as it is and with the "
        "changes, and say what became of a pod in both, and which other pods end differently.",
    )
    add_files_argument(command)
    command.add_argument("--pod", required=True, metavar="NS/NAME", help="the pod that it is about")
    add_change_option(command)
    add_fork_option(command)
    add_config_option(command)
    add_scenario_option(command)
    add_release_options(command)
    add_rule_options(command)
    add_format_options(command, ("text", "json"))
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    changes = changes_of(options)
    if not changes:
        raise WrongUsage("what should be different? Give --change at least once (docs/changes.md)")
    cluster = read_cluster(options)
    as_it_is, changed = (inputs_of(options, each, cluster) for each in ((), changes))
    objects = changed.objects(cluster)
    pod = pod_key(options.pod)
    try:
        with (
            transport_for(as_it_is.options.configuration) as one_way,
            transport_for(changed.options.configuration) as another,
        ):
            found = effect(
                pod,
                (list(cluster.objects), replace(as_it_is.options, transport=one_way)),
                (objects, replace(changed.options, transport=another)),
                in_time(changed.sentences(cluster), options.fork_at),
            )
    except UnknownPodError as error:
        raise CommandFailed(f"there is no pod {pod}, neither before nor after") from error
    except ConfigError as error:
        raise CommandFailed(f"{options.config or '--change'}: {error}") from error
    if options.format == "json":
        answer = as_json(found, [line_of(change) for change in changes])
        print(json.dumps(answer | changed.options.features.as_json()))
    else:
        print(as_text(found), end="")
        print(f"\n{changed.options.features.text}")
    return 0
