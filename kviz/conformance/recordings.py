"""Finding recordings: cases of one cycle or one sequence, and dumps with what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kviz.conformance.cases import Case, CaseError, read_cases
from kviz.conformance.dump import Dump, read_dump

EXPECTED = ".expected.json"
INDEX = "index.json"
CASE_SUFFIXES = (".json", ".jsonl", ".jsonl.gz")
SNAPSHOT_SUFFIXES = (".yaml", ".json", ".yml", ".yaml.gz", ".json.gz", ".yml.gz")


def find_recordings(paths: Iterable[Path]) -> Iterator[Case | Dump]:
    """Yield the recordings under the paths, files in order of their names. Raises CaseError.

    A path is a folder, a file of cases, a snapshot or its `NAME.expected.json`.
    """
    for path in paths:
        if path.is_dir():
            yield from _in_folder(path)
        elif not path.exists():
            raise CaseError(f"{path} does not exist")
        elif _expected_name(path):
            yield _dump(path)
        elif expected := _expected_beside(path):
            yield read_dump(expected, path)
        else:
            yield from read_cases(path)


def _in_folder(folder: Path) -> Iterator[Case | Dump]:
    """Yield what is recorded in a folder; other snapshots in it are passed over."""
    n_found = 0
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name == INDEX:
            continue
        if _expected_name(file):
            n_found += 1
            yield _dump(file)
        elif file.name.endswith(CASE_SUFFIXES) and not _expected_beside(file):
            for case in read_cases(file, snapshots_too=True):
                n_found += 1
                yield case
    if not n_found:
        raise CaseError(f"{folder} holds no recordings")


def _expected_name(file: Path) -> str:
    """Return NAME of a `NAME.expected.json` (or `.json.gz`), empty for any other file."""
    plain = file.name.removesuffix(".gz")
    return plain.removesuffix(EXPECTED) if plain.endswith(EXPECTED) else ""


def _dump(expected: Path) -> Dump:
    name = _expected_name(expected)
    for suffix in SNAPSHOT_SUFFIXES:
        snapshot = expected.with_name(name + suffix)
        if snapshot.exists():
            return read_dump(expected, snapshot)
    raise CaseError(f"{expected} has no snapshot {name}.yaml or {name}.json beside it")


def _expected_beside(snapshot: Path) -> Path | None:
    for suffix in SNAPSHOT_SUFFIXES:
        if snapshot.name.endswith(suffix):
            name = snapshot.name.removesuffix(suffix)
            for expected in (f"{name}{EXPECTED}", f"{name}{EXPECTED}.gz"):
                if (file := snapshot.with_name(expected)).exists():
                    return file
    return None
