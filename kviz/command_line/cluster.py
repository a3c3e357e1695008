"""What the commands take that ask a question of a cluster: its files, and how it is scheduled."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kviz.command_line.arguments import add_files_argument
from kviz.command_line.changes import add_change_option, changes_of, inputs_of
from kviz.command_line.problems import CommandFailed
from kviz.command_line.run_options import (
    NO_SCENARIO,
    add_config_option,
    add_release_options,
    add_rule_options,
)
from kviz.command_line.samples import take_from_samples
from kviz.common.hosts import AllowedHosts
from kviz.simulate import read_files
from scheduler_core.analysis.advice.daemons import with_daemons
from scheduler_core.api import KubeObject
from scheduler_core.api.absent_kinds import absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.ingest import Ingested
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration
from scheduler_core.extender.transport import Transport
from scheduler_core.sim import RunOptions
from scheduler_core.sim.not_modelled import inputs_not_modelled


@dataclass(frozen=True)
class Asked:
    """A cluster with the changes that were asked for, and how it is scheduled.

    Nodes that changes add have pods of the DaemonSets that would run there.
    """

    objects: Sequence[KubeObject]
    options: RunOptions
    sentences: tuple[str, ...]

    def print_json(self, answer: Mapping[str, object]) -> None:
        """Print an answer, what may make it wrong, by which release it is, and what was changed."""
        absent = absent_kinds(ClusterObjects(self.objects), ignored=self.options.ignored)
        told = {
            **self.options.features.as_json(),
            "changes": self.sentences,
            "notModelled": self._not_modelled,
            "incomplete": [each.document for each in absent],
        }
        print(json.dumps({**answer, **told}))

    def print_text(self, text: str) -> None:
        """Print what may make an answer wrong, the answer, its release, and what was changed."""
        for each in self._not_modelled:
            print(f"This may be wrong: {each}")
        print(f"{text}\n{self.options.features.text}")
        for sentence in self.sentences:
            print(f"changed: {sentence}")

    @property
    def _not_modelled(self) -> tuple[str, ...]:
        options = self.options
        uncalled = options.configuration.extenders if options.transport is None else ()
        found = inputs_not_modelled(
            self.objects,
            options.ignored,
            uncalled,
            options.left_out,
            options.configuration,
            options.features,
        )
        return tuple(found)


def add_cluster_options(command: argparse.ArgumentParser) -> None:
    """Offer files, changes, the configuration, the release and rules, and JSON."""
    add_files_argument(command)
    add_change_option(command)
    add_config_option(command)
    add_release_options(command)
    add_rule_options(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(**NO_SCENARIO)


@contextmanager
def asked_cluster(options: argparse.Namespace) -> Iterator[Asked]:
    """Read the cluster; what the scheduler refuses of the configuration fails the command.

    Raises CommandFailed.
    """
    with asked_of(options, read_cluster(options)) as asked:
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


@contextmanager
def transport_for(configuration: KubeSchedulerConfiguration) -> Iterator[Transport | None]:
    """A way to the configuration's extenders, if it has any, that may be called.

    Prints a warning for those that may not. Raises CommandFailed.
    """
    if not configuration.extenders:
        yield None
        return
    from kviz import environment
    from kviz.common.extender_http import HttpTransport, read_files  # both take long to load

    try:
        allowed = AllowedHosts.parse(environment.words("KVIZ_EXTENDER_HOSTS"))
    except ValueError as error:
        raise CommandFailed(f"KVIZ_EXTENDER_HOSTS: {error}") from error
    for extender in configuration.extenders:
        if refusal := allowed.refusal(extender.url_prefix):
            print(f"kviz: warning: {refusal} (docs/operation.md)", file=sys.stderr)
    with HttpTransport(allowed, read_files) as transport:
        yield transport


def read_cluster(options: argparse.Namespace) -> Ingested:
    """Read the files that the options name, with what samples among them bring (`samples.py`).

    Raises CommandFailed.
    """
    take_from_samples(options)
    return read_cluster_files(options.files)


def read_cluster_files(paths: list[Path]) -> Ingested:
    """Read the files; print what cannot be read, and fail the command if nothing is left.

    Raises CommandFailed.
    """
    try:
        cluster = read_files(paths)
    except OSError as error:
        raise CommandFailed(f"{error.filename}: {error.strerror}") from error
    for problem in cluster.errors:
        print(f"kviz: {problem}", file=sys.stderr)
    for said in cluster.said:
        about = f"{said.pod}: " if said.pod else ""
        print(f"kviz: {about}{_message_in_words(said.message)}", file=sys.stderr)
    for warning in cluster.warnings:
        print(f"kviz: note: {warning}", file=sys.stderr)
    if not cluster.counts:
        raise CommandFailed("there is nothing in these files that the scheduler reads")
    return cluster


def _message_in_words(message: str) -> str:
    from kviz.reference.plugin_texts import message_in_words  # its texts take long to load

    return message_in_words(message)


def pod_key(pod: str) -> str:
    """The `namespace/name` of a pod as it is named on the command line."""
    return pod if "/" in pod else f"default/{pod}"
