"""Plugins of other packages on the command line, where whoever runs a command allows them."""

from __future__ import annotations

import sys
from pathlib import Path

from kviz.cli.problems import CommandFailed
from kviz.out_of_tree import LoadedPlugins, load_plugins
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration


def plugins_for(configuration: KubeSchedulerConfiguration, path: Path | None) -> LoadedPlugins:
    """Load the plugins that the configuration of a file enables, and say which are not kviz's.

    Raises CommandFailed.
    """
    try:
        plugins = load_plugins(configuration)
    except ConfigError as error:
        raise CommandFailed(f"{path}: {error}") from error
    for plugin in plugins.out_of_tree:
        print(f"kviz: note: runs plugin {plugin}, which is not part of kviz", file=sys.stderr)
    return plugins
