"""`kviz import`: a real cluster becomes a snapshot, or a file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import IO

from kviz.cli.django_setup import start_django
from kviz.cli.real_cluster import add_target_options, check_mode, imported, target_of_options
from kviz.clusters.rbac import READER_ROLE
from kviz.command_line.arguments import Subparsers
from kviz.command_line.problems import CommandFailed
from scheduler_core.api.ingest import Ingested
from scheduler_core.changes import object_document


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "import",
        description="Read what scheduling looks at of a real cluster, as kubectl would, and store "
        "it among the clusters of the local workspace. Nothing is written to the cluster "
        "(docs/clusters.md).",
    )
    add_target_options(command)
    command.add_argument(
        "--rbac",
        action="store_true",
        help="print the ClusterRole that allows all of this, and end: kubectl apply -f -",
    )
    command.add_argument("--name", default="", help="of the cluster in kviz (default: the context)")
    command.add_argument(
        "--output", type=Path, metavar="F", help="write the objects to a JSON file instead"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.rbac:
        print(READER_ROLE, end="")
        return 0
    if options.output is None:
        check_mode()
    target = target_of_options(options)
    found = imported(target)
    if options.output is not None:
        try:
            with options.output.open("w") as file:
                _write(found.ingested, file)
        except OSError as error:
            raise CommandFailed(f"{options.output}: {error.strerror}") from error
        print(f"{target.name}: {_counted(found.ingested.counts)} written to {options.output}")
        return 0
    start_django(migrate=True)
    from kviz.accounts.services import local_workspace_ensure
    from kviz.snapshots.api import SnapshotSerializer
    from kviz.snapshots.services import snapshot_import

    snapshot = snapshot_import(
        workspace=local_workspace_ensure(),
        ingested=found.ingested,
        name=options.name or target.name,
    )
    if options.json:
        refused = {"refused": list(found.refused), "resourceVersion": found.resource_version}
        print(json.dumps({**SnapshotSerializer(snapshot).data, **refused}, default=str))
    else:
        print(f"{target.name}: {_counted(found.ingested.counts)}")
        print(f"Cluster {snapshot.pk} ({snapshot.name}); `kviz serve` shows it under Clusters.")
    return 0


def _write(ingested: Ingested, file: IO[str]) -> None:
    """The objects as kubectl prints a list of them, one a line, and which API server has them."""
    version = json.dumps({"gitVersion": ingested.server_version})
    server = f'"serverVersion":{version},' if ingested.server_version else ""
    file.write(f'{{"apiVersion":"v1","kind":"List",{server}"items":[\n')
    for number, item in enumerate(ingested.objects):
        file.write(",\n" if number else "")
        json.dump(object_document(item), file, ensure_ascii=False, separators=(",", ":"))
    file.write("\n]}\n")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
