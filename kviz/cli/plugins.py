"""`kviz plugins`: the plugins that a configuration may enable."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass

from kviz.command_line.arguments import Subparsers
from kviz.out_of_tree import offered_plugins
from scheduler_core.config import (
    ExtensionPoint,
    FeatureGates,
    default_configuration,
)
from scheduler_core.config.types import Plugin
from scheduler_core.registry import in_tree_registry, points_of
from scheduler_core.releases import LATEST
from scheduler_core.teaching import TEACHING_PLUGINS


@dataclass(frozen=True)
class Listed:
    """A plugin that a configuration may enable, as the list has it.

    `package` is `kube-scheduler` for those in its tree. `points` is None for a plugin of another
    package, which is not imported for a list. `weight` is that of the default profile.
    """

    name: str
    package: str
    version: str
    default: bool
    weight: int
    points: list[str] | None


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "plugins",
        description="List the plugins that a configuration may enable: kube-scheduler's, kviz's "
        "own for teaching, and those of installed packages (docs/plugins-out-of-tree.md).",
    )
    command.add_argument("--json", action="store_true", help="print one JSON list")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    listed = [*_in_tree(), *_beyond()]
    if options.json:
        print(json.dumps([asdict(plugin) for plugin in listed]))
    else:
        _print_table(listed)
    return 0


def _in_tree() -> Iterator[Listed]:
    """The plugins of the tree, those of the default profile first and in its order."""
    implements = in_tree_registry().implements()
    enabled = {p.name: p.weight for p in _default_plugins() if p.name in implements}
    for name in (*enabled, *sorted(implements.keys() - enabled.keys())):
        points, weight = _in_order(implements[name]), enabled.get(name, 0)
        yield Listed(name, "kube-scheduler", f"v{LATEST.name}", name in enabled, weight, points)


def _beyond() -> Iterator[Listed]:
    for plugin in offered_plugins():
        own = TEACHING_PLUGINS.get(plugin.name) if plugin.is_own else None
        points = None if own is None else _in_order(points_of(own))
        yield Listed(plugin.name, plugin.package, plugin.version, False, 0, points)


def _default_plugins() -> Iterable[Plugin]:
    return default_configuration(FeatureGates((), LATEST)).profiles[0].plugins.multi_point.enabled


def _in_order(points: Collection[ExtensionPoint]) -> list[str]:
    """In the order of a pod's way."""
    return [point.value for point in ExtensionPoint if point in points]


def _print_table(listed: list[Listed]) -> None:
    head = ("PLUGIN", "FROM", "WEIGHT", "EXTENSION POINTS")
    rows = [head, *(_row(plugin) for plugin in listed)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head) - 1)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True))
        print(*cells, row[-1], sep="  ")


def _row(plugin: Listed) -> tuple[str, str, str, str]:
    unknown = "(not imported before a configuration enables it)"
    points = unknown if plugin.points is None else ", ".join(plugin.points)
    return (plugin.name, f"{plugin.package} {plugin.version}", str(plugin.weight or ""), points)
