"""Recorded cases: single cycles and sequences of events.

The format is described in tests/conformance/data/README.md.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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
from scheduler_core.releases import RELEASES, UNNAMED
from scheduler_core.releases.table import Release

Json = Mapping[str, object]

GROUPS = "groups of pods (gate GenericWorkload)"


class CaseError(ValueError):
    """A file that is not a recorded case; the message names it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case. `mode` is `cycle` or `sequence`."""

    name: str
    mode: str
    given: Json
    expected: Json
    release: Release = UNNAMED

    @property
    def not_modelled(self) -> str:
        """Return what of the case kviz does not model, empty if it can be replayed."""
        switched = self.given.get("featureGates") or {}
        assert isinstance(switched, Mapping)
        return GROUPS if switched.get("GenericWorkload") else ""

    @property
    def objects(self) -> list[KubeObject]:
        return [read_object(raw) for raw in list_of(self.given, "objects")]

    @property
    def gates(self) -> FeatureGates:
        overrides = self.given.get("featureGates") or {}
        assert isinstance(overrides, Mapping)
        return feature_gates({"OpportunisticBatching": False, **overrides}, self.release)

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


def read_cases(file: Path, *, snapshots_too: bool = False) -> Iterator[Case]:
    """Yield the cases of a `.json` or `.jsonl.gz` file in order.

    `snapshots_too` passes over Kubernetes objects. Raises CaseError for anything else.
    """
    for document in read_documents(file):
        if not (snapshots_too and isinstance(document, Mapping) and "apiVersion" in document):
            yield _case(file, document)


def read_documents(file: Path) -> Iterator[object]:
    """Yield the JSON documents of a file: one, or one per line of a `.jsonl` one.

    `.gz` at the end of the name means compressed. Raises CaseError.
    """
    plain = file.name.removesuffix(".gz")
    try:
        data = gzip.decompress(file.read_bytes()) if plain != file.name else file.read_bytes()
        for text in data.splitlines() if plain.endswith(".jsonl") else [data]:
            yield json.loads(text)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise CaseError(f"{file} cannot be read: {error}") from error


def _case(file: Path, document: object) -> Case:
    try:
        return msgspec.convert(document, _Document).case()
    except msgspec.ValidationError as error:
        raise CaseError(f"{file} is not a recorded case: {error}") from error


class _Document(msgspec.Struct, frozen=True):
    name: str
    mode: Literal["cycle", "sequence"]
    input: dict[str, object]
    expected: dict[str, object]
    recordedFrom: str = ""

    def case(self) -> Case:
        return Case(
            self.name, self.mode, self.input, self.expected, release_recorded(self.recordedFrom)
        )


def release_recorded(text: str) -> Release:
    """Return the release of `kube-scheduler v1.37.2`; none named is that of the first recordings.

    Raises CaseError for one that kviz has no table of.
    """
    name = text.rpartition(" v")[2]
    if name and name not in RELEASES:
        raise CaseError(f"recorded from {text}, which kviz has no table of")
    return RELEASES[name] if name else UNNAMED
