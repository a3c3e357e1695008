"""Plugins beyond kube-scheduler's, for commands that run a configuration."""

from __future__ import annotations

import sys
from pathlib import Path

from kviz.command_line.problems import CommandFailed
from kviz.out_of_tree import LoadedPlugins, OutOfTreePlugin, load_plugins
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration


def plugins_for(configuration: KubeSchedulerConfiguration, path: Path | None) -> LoadedPlugins:
    """Load the plugins that the configuration of a file enables, and say which are not upstream's.

    Raises CommandFailed.
    """
    try:
        plugins = load_plugins(configuration)
    except ConfigError as error:
        raise CommandFailed(f"{path}: {error}") from error
    for plugin in plugins.out_of_tree:
        print(f"kviz: note: runs plugin {plugin}, {_whose(plugin)}", file=sys.stderr)
    return plugins


def _whose(plugin: OutOfTreePlugin) -> str:
    if plugin.is_own:
        return "kviz's own for teaching: no kube-scheduler has it"
    return "which is not part of kviz"
