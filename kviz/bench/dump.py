"""A recorded cluster as a workload: its nodes as they are, its pods all waiting again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, Pod, PodStatus
from scheduler_core.api.ingest import ingest
from scheduler_core.trace.tables import TERMINAL_PHASES

RECORDED: Final = {"openb": "a production trace: 1,523 nodes, 2,000 pods"}
"""Workloads that are a recorded cluster, other people's data (docs/adr/0021)."""


class UnusableDump(ValueError):
    """The file cannot be read, or there is nothing to schedule in it."""


def objects_of_dump(
    path: Path, n_nodes: int | None = None, n_pods: int | None = None
) -> list[KubeObject]:
    """Read a dump and unbind its pods; of nodes and pods only the first so many, if said.

    Pods that have finished, or come from a file on their node, stay out. Raises UnusableDump.
    """
    with path.open("rb") as file:
        ingested = ingest([(path.name, file)])
    found = list(ingested.objects)
    nodes = list(islice((item for item in found if isinstance(item, Node)), n_nodes))
    pods = list(islice(_waiting(found), n_pods))
    if not nodes or not pods:
        problems = "; ".join(str(error) for error in ingested.errors)
        raise UnusableDump(f"{path}: {problems or 'no nodes, or no pods to schedule'}")
    others = (item for item in found if not isinstance(item, (Node, Pod)))
    return [*others, *nodes, *pods]


def _waiting(objects: list[KubeObject]) -> Iterator[Pod]:
    for item in objects:
        if not isinstance(item, Pod) or item.status.phase in TERMINAL_PHASES:
            continue
        if not any(owner.kind == "Node" for owner in item.metadata.owner_references):
            spec = replace(item.spec, node_name="")
            metadata = replace(item.metadata, deletion_timestamp=None)
            yield replace(item, metadata=metadata, spec=spec, status=PodStatus(phase="Pending"))


def recorded(name: str) -> Path:
    """Return the dump of a recorded workload: below `KVIZ_DUMPS`, or next to the repository.

    Raises UnusableDump.
    """
    beside = Path(__file__).resolve().parents[3] / "shared" / "snapshots"
    path = Path(os.environ.get("KVIZ_DUMPS", beside)) / f"{name}.json.gz"
    if not path.is_file():
        raise UnusableDump(
            f"{name} is not part of kviz and not at {path}: say with KVIZ_DUMPS which folder "
            "it is in, or give the file itself with --dump"
        )
    return path


def name_of_dump(path: Path) -> str:
    """Return the file's name up to its first dot."""
    return path.name.partition(".")[0]
