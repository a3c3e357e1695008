"""`kviz rehearse`: what another release of the scheduler would change, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from kviz.command_line.arguments import Subparsers, add_files_argument
from kviz.command_line.changes import RunInputs, inputs_of
from kviz.command_line.cluster import read_cluster, transport_for
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.run_options import (
    RELEASE_CHOICES,
    add_config_option,
    add_rule_options,
    add_scenario_option,
    release,
    release_or_auto,
)
from kviz.questions.rehearse.text import Answer
from scheduler_core.analysis.rehearsal import rehearse
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    default_configuration,
    feature_gates,
    load_configuration,
)
from scheduler_core.extender.transport import Transport
from scheduler_core.releases import RELEASES
from scheduler_core.releases.choosing import AUTO
from scheduler_core.releases.table import Release, TieBreak
from scheduler_core.sim import RunOptions


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "rehearse",
        description="Run the scheduler of two releases over what kubectl printed, and say which "
        "pods end otherwise, because of which change of the release, and what keeps the old "
        "behaviour (docs/configuration.md). Exits with 0 if every pod ends as before, 1 if not, "
        "2 on bad input.",
    )
    add_files_argument(command)
    command.add_argument(
        "--to", type=release, required=True, metavar="RELEASE", help="the release to upgrade to"
    )
    command.add_argument(
        "--from",
        dest="release",
        type=release_or_auto,
        metavar=RELEASE_CHOICES,
        default=AUTO,
        help="the release that is upgraded; auto is what the cluster says (default: %(default)s)",
    )
    command.add_argument(
        "--feature-gates",
        action="append",
        default=[],
        metavar="A=true,B=false",
        help="gates that are switched today; those that the other release refuses are named",
    )
    add_config_option(command)
    add_scenario_option(command)
    add_rule_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run, fork_at=0)


def run(options: argparse.Namespace) -> int:
    """Print what is different. Raises WrongUsage: 1 is not for failing, it says they differ."""
    try:
        answer = _answer(options)
    except CommandFailed as problem:
        raise WrongUsage(str(problem)) from problem
    print(json.dumps(answer.as_json()) if options.json else answer.text())
    return 1 if answer.found.apart else 0


def _answer(options: argparse.Namespace) -> Answer:
    """Rehearse. Raises CommandFailed."""
    cluster = read_cluster(options)
    made_of = inputs_of(options, (), cluster)
    old, target = made_of.options, RELEASES[options.to]
    if target is old.features.release:
        raise WrongUsage(f"--to: the cluster follows v{old.features.release_text} already")
    refused = _refused(made_of.base.gates, target)
    try:
        kept = {name: on for name, on in made_of.base.gates.items() if name not in refused}
        gates = feature_gates(kept, target)
        with transport_for(old.configuration) as transport:

            def options_for(features: FeatureGates) -> RunOptions:
                return _options(made_of, features, options.tie_break, transport)

            found = rehearse(
                made_of.objects(cluster),
                replace(old, transport=transport),
                options_for(gates),
                options_for,
            )
    except ConfigError as error:
        raise CommandFailed(f"v{target.name} refuses this: {error}") from error
    return Answer(found, old.features, gates, refused)


def _options(
    made_of: RunInputs,
    features: FeatureGates,
    tie_break: TieBreak | None,
    transport: Transport | None,
) -> RunOptions:
    """What a run of the same cluster is made with under other gates. Raises ConfigError."""
    text = made_of.base.configuration
    loaded = load_configuration(text, features) if text.strip() else default_configuration(features)
    return replace(
        made_of.options,
        configuration=loaded,
        features=features,
        tie_break=tie_break or features.release.tie_break,
        transport=transport,
    )


def _refused(gates: Mapping[str, bool], target: Release) -> dict[str, str]:
    """Why a release refuses gates, by name; those that it takes are not in it."""
    found: dict[str, str] = {}
    with suppress(ConfigError):
        feature_gates(gates, target)
        return found
    for name, on in gates.items():
        try:
            feature_gates({name: on}, target)
        except ConfigError as error:
            found[name] = "; ".join(each.message for each in error.problems)
    return found
