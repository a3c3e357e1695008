"""What the commands take that ask a question of a cluster: its files, and how it is scheduled."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kviz.cli.changes import add_change_option, changes_of, inputs_of
from kviz.cli.problems import CommandFailed
from kviz.cli.run_options import add_release_options, add_rule_options
from kviz.cli.simulate import read_cluster, transport_for
from scheduler_core.analysis.advice.daemons import with_daemons
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import Ingested
from scheduler_core.config import ConfigError
from scheduler_core.sim import RunOptions


@dataclass(frozen=True)
class Asked:
    """A cluster with the changes that were asked for, and how it is scheduled.

    Nodes that changes add have pods of the DaemonSets that would run there.
    """

    objects: Sequence[KubeObject]
    options: RunOptions
    sentences: tuple[str, ...]


def add_cluster_options(command: argparse.ArgumentParser) -> None:
    """Offer files, changes, the configuration, the release and rules, and JSON."""
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    add_change_option(command)
    command.add_argument(
        "--config",
        type=Path,
        metavar="F",
        help="a KubeSchedulerConfiguration (default: upstream's)",
    )
    add_release_options(command)
    add_rule_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(scenario=None)


@contextmanager
def asked_cluster(options: argparse.Namespace) -> Iterator[Asked]:
    """Read the cluster; what the scheduler refuses of the configuration fails the command.

    Raises CommandFailed.
    """
    with asked_of(options, read_cluster(options.files)) as asked:
        yield asked


@contextmanager
def asked_of(options: argparse.Namespace, cluster: Ingested) -> Iterator[Asked]:
    """The same of a cluster that was read already. Raises CommandFailed."""
    made_of = inputs_of(options, changes_of(options), cluster)
    objects = with_daemons(cluster.objects, made_of.objects(cluster))
    try:
        with transport_for(made_of.options.configuration) as transport:
            wanted = replace(made_of.options, transport=transport)
            yield Asked(objects, wanted, made_of.sentences(cluster))
    except ConfigError as error:
        raise CommandFailed(f"{options.config or '--change'}: {error}") from error
