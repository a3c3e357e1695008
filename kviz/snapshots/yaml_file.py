"""A stored cluster as YAML: what kubectl reads, and kviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.changes import object_document

MEDIA_TYPE: Final = "application/yaml"

_Dumper: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def yaml_pieces(snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the objects of a snapshot, a document each, as far as kviz reads them."""
    for item in snapshot_objects(snapshot=snapshot):
        text = yaml.dump(object_document(item), Dumper=_Dumper, sort_keys=False, allow_unicode=True)
        yield f"---\n{text}".encode()
