"""What commands share that read a real cluster: which one, and what was wrong with it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final, TextIO

from kviz import environment
from kviz.clusters.importing import Imported, import_cluster
from kviz.clusters.reading.problems import ClusterProblem
from kviz.clusters.reading.targets import Target, chosen_target
from kviz.command_line.problems import CommandFailed
from kviz.common.mode import Mode

CLEAR_LINE: Final = "\r\x1b[K"


def add_target_options(command: argparse.ArgumentParser) -> None:
    """Offer the context and the kubeconfig, as kubectl calls them."""
    command.add_argument(
        "--context", default="", metavar="C", help="a context of the kubeconfig (default: current)"
    )
    command.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="F",
        help="a kubeconfig file (default: KUBECONFIG, ~/.kube/config, or the pod's own cluster)",
    )


def target_of_options(options: argparse.Namespace) -> Target:
    """The cluster that is meant. Raises CommandFailed."""
    try:
        return chosen_target(options.kubeconfig, options.context, os.environ)
    except ClusterProblem as problem:
        raise CommandFailed(str(problem)) from None


def imported(target: Target) -> Imported:
    """Read the cluster; print what should be known about it. Raises CommandFailed."""
    shown = Progress(sys.stderr)
    try:
        found = import_cluster(target, reads=shown.reads)
    except ClusterProblem as problem:
        raise CommandFailed(str(problem)) from None
    finally:
        shown.end()
    for error in found.ingested.errors:
        print(f"kviz: {error}", file=sys.stderr)
    for warning in found.ingested.warnings:
        print(f"kviz: note: {warning}", file=sys.stderr)
    return found


class Progress:
    """One line on a terminal: the kind that is being read, and what is left of it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file if file.isatty() else None

    def reads(self, kind: str, n_left: int) -> None:
        if self._file is not None:
            left = f", {n_left:,} left" if n_left else ""
            print(f"{CLEAR_LINE}reading {kind}{left}", end="", file=self._file, flush=True)

    def end(self) -> None:
        if self._file is not None:
            print(CLEAR_LINE, end="", file=self._file, flush=True)


def check_mode() -> None:
    """There is a local workspace to store it in. Raises CommandFailed."""
    if environment.choice("KVIZ_MODE", tuple(Mode)) != Mode.LOCAL:
        raise CommandFailed(
            "In server mode there is no local workspace to import into: list the cluster in "
            "KVIZ_CLUSTERS_FILE (docs/clusters.md), or write it to a file with --output."
        )
