"""Reading recorded cases: folders, `.json` files and `.jsonl.gz` files.

The format is described in tests/conformance/data/README.md.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from scheduler_core.api import KINDS, KubeObject
from scheduler_core.api.coerce import coerce_struct
from scheduler_core.api.parse import decode_timestamp
from scheduler_core.config import (
    FeatureGates,
    KubeSchedulerConfiguration,
    default_configuration,
    feature_gates,
    load_configuration,
)

Json = Mapping[str, object]


class CaseError(ValueError):
    """A file that is not a recorded case; the message names it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case. `mode` is `cycle` or `sequence`."""

    name: str
    mode: str
    given: Json
    expected: Json

    @property
    def objects(self) -> list[KubeObject]:
        return [read_object(raw) for raw in list_of(self.given, "objects")]

    @property
    def gates(self) -> FeatureGates:
        overrides = self.given.get("featureGates") or {}
        assert isinstance(overrides, Mapping)
        return feature_gates({"OpportunisticBatching": False, **overrides})

    def configuration(self) -> KubeSchedulerConfiguration:
        """Return the scheduler configuration. Raises ConfigError."""
        text = self.given.get("config")
        if text is None:
            return default_configuration(self.gates)
        return load_configuration(json.dumps(text), self.gates)


def list_of(data: Json, key: str) -> Sequence[Json]:
    found = data.get(key) or ()
    assert isinstance(found, Sequence)
    return found


def read_object(raw: Json) -> KubeObject:
    """Convert a recorded object as it stands, without filling in what a manifest leaves out."""
    kind = KINDS[str(raw["kind"])]
    return msgspec.convert(coerce_struct(raw, kind), kind, dec_hook=decode_timestamp)


def load_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """Yield the cases under the paths in order of their files. Raises CaseError."""
    for path in paths:
        if not path.exists():
            raise CaseError(f"{path} does not exist")
        files = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
        for file in files:
            if file.name != "index.json":
                yield from _load(file)


def _load(file: Path) -> Iterator[Case]:
    try:
        if file.name.endswith(".jsonl.gz"):
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                documents = [json.loads(line) for line in lines]
        else:
            documents = [json.loads(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError) as error:
        raise CaseError(f"{file} cannot be read: {error}") from error
    for document in documents:
        if not isinstance(document, Mapping) or "expected" not in document:
            raise CaseError(f"{file} is not a recorded case")
        yield Case(document["name"], document["mode"], document["input"], document["expected"])
