"""`kviz gates`: the feature gates of a release, and what kviz lets one switch."""

from __future__ import annotations

import argparse
import json

from kviz.command_line.arguments import Subparsers
from kviz.command_line.run_options import release
from scheduler_core.config.features import NOT_MODELLED, SWITCHABLE, switchable
from scheduler_core.releases import LATEST, NAMES, RELEASES
from scheduler_core.releases.table import GateSpec, Release


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "gates",
        description="List the feature gates that the scheduler of a release reads: the default, "
        "what a gate switches on, and whether a run may switch it.",
    )
    command.add_argument(
        "--release",
        type=release,
        metavar=f"{{{','.join(NAMES)}}}",
        default=LATEST.name,
        help="1.36 and 1.37 are their newest patches (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    table = RELEASES[options.release]
    gates = [_as_json(name, spec, table) for name, spec in table.gates.items()]
    if options.json:
        print(json.dumps({"release": table.name, "gates": gates}))
    else:
        _print(table)
    return 0


def _as_json(name: str, spec: GateSpec, release: Release) -> dict[str, object]:
    return {
        "name": name,
        "stage": spec.stage,
        "default": spec.default,
        "locked": spec.locked,
        "requires": list(spec.requires),
        "switchable": name in switchable(release),
        "about": SWITCHABLE.get(name, ""),
        "notModelled": NOT_MODELLED.get(name, ""),
    }


def _print(release: Release) -> None:
    print(f"{release}\n")
    width = max(map(len, release.gates))
    for name, spec in release.gates.items():
        default = "on" if spec.default else "off"
        print(name.ljust(width), default.ljust(3), spec.stage.ljust(5), _about(name, release))


def _about(name: str, release: Release) -> str:
    if release.gates[name].locked:
        return "locked"
    if name in switchable(release):
        return SWITCHABLE[name]
    return f"cannot be switched on: {NOT_MODELLED[name]}"
