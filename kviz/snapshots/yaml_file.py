"""A stored cluster as YAML: what kubectl reads, and kviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects_each
from scheduler_core.changes import object_document
from scheduler_core.yaml_text import written

MEDIA_TYPE: Final = "application/yaml"


def yaml_pieces(snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the objects of a snapshot, a document each, with the fields that kviz reads."""
    for item in snapshot_objects_each(snapshot=snapshot):
        yield f"---\n{written(object_document(item))}".encode()
