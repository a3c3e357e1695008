"""Recorded dumps: a whole cluster, and what the real scheduler did when started against it.

The format of `NAME.expected.json` is described in tests/conformance/data/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kviz.conformance.cases import CaseError, read_documents, release_recorded
from scheduler_core.api import KubeObject
from scheduler_core.api.ingest import ingest
from scheduler_core.releases.table import Release

BOUND = "bound"
UNSCHEDULABLE = "unschedulable"
NOT_ATTEMPTED = "notAttempted"


class RecordedAttempt(msgspec.Struct, frozen=True, rename="camel"):
    """One attempt of the recorded run; scores are weighted, and of the best nodes only.

    Scores are missing when there was one feasible node or none, counts when there was none.
    """

    pod: str
    order: int
    result: str
    node: str = ""
    message: str = ""
    evaluated_nodes: int | None = None
    feasible_nodes: int | None = None
    nodes_with_top_score: int | None = None
    final_scores: dict[str, int] = {}
    plugin_scores: dict[str, dict[str, int]] = {}
    nominated_node: str = ""
    victims: list[str] = []


class Final(msgspec.Struct, frozen=True, rename="camel"):
    """What had become of a pod at the end; `outcome` is one of the three words above."""

    outcome: str
    node: str | None = None
    message: str | None = None
    nominated_node_name: str | None = None


class _PodRecord(msgspec.Struct, frozen=True):
    final: Final


class _Document(msgspec.Struct, frozen=True, rename="camel"):
    attempts: list[RecordedAttempt]
    pods: dict[str, _PodRecord]
    pods_deleted_during_run: list[str] = []
    recorded_from: str = ""


@dataclass(frozen=True, slots=True)
class Dump:
    """A snapshot and what became of it; `deleted` are the pods that were gone at the end."""

    name: str
    snapshot: Path
    attempts: Sequence[RecordedAttempt]
    final: Mapping[str, Final]
    deleted: Sequence[str]
    release: Release

    def objects(self) -> list[KubeObject]:
        """Read the snapshot. Raises CaseError."""
        try:
            with self.snapshot.open("rb") as stream:
                ingested = ingest([(self.snapshot.name, stream)])
        except OSError as error:
            raise CaseError(f"{self.snapshot} cannot be read: {error}") from error
        if ingested.errors:
            raise CaseError(f"{self.snapshot} cannot be read: {ingested.errors[0]}")
        return list(ingested.objects)


def read_dump(expected: Path, snapshot: Path) -> Dump:
    """Read what is recorded about a snapshot. Raises CaseError."""
    (document,) = read_documents(expected)
    try:
        recorded = msgspec.convert(document, _Document)
    except msgspec.ValidationError as error:
        raise CaseError(f"{expected} does not record a dump: {error}") from error
    return Dump(
        name=snapshot.name.split(".")[0],
        snapshot=snapshot,
        attempts=recorded.attempts,
        final={pod: record.final for pod, record in recorded.pods.items()},
        deleted=recorded.pods_deleted_during_run,
        release=release_recorded(recorded.recorded_from),
    )
