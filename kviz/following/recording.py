"""Recordings of a cluster: what its watches sent, one JSON object a line, in order of arrival.

The format is that of `tests/following/data/README.md`: first a `LIST` of every kind, then `SYNCED`,
then `ADDED`, `MODIFIED`, `DELETED` and `BOOKMARK` as they came, with `t` in seconds. The object of
`SYNCED` may say which release the API server is (`gitVersion`).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import msgspec

from kviz.following.changes import (
    EVENTS,
    RESOURCES,
    Change,
    Listed,
    UnreadableChange,
    change_of,
    document_of,
    listed,
    version_of,
)
from kviz.following.decisions import Decision
from kviz.following.follower import Follower, Journal, Told
from scheduler_core.api.errors import UNREADABLE
from scheduler_core.trace.events import AnyEvent
from scheduler_core.wording import say, told

GZIP: Final = b"\x1f\x8b"


class Line(msgspec.Struct):
    """One line; `object` is what came, as it came."""

    type: Literal["LIST", "SYNCED", "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "END"]
    t: float = 0.0
    resource: str = ""
    object: msgspec.Raw = msgspec.Raw(b"null")


class _ListMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


_LINE: Final = msgspec.json.Decoder(Line)
_LIST: Final = msgspec.json.Decoder(_List)


class BadRecording(ValueError):
    """The file is no recording; the message says where."""


def read_lines(path: Path) -> Iterator[Line]:
    """Read a recording, plain or compressed. Raises BadRecording and OSError."""
    with path.open("rb") as start:
        compressed = start.read(2) == GZIP
    with gzip.open(path) if compressed else path.open("rb") as lines:
        yield from parse_lines(lines, str(path))


def parse_lines(lines: Iterable[bytes], name: str = "journal") -> Iterator[Line]:
    """Read the lines of a recording. Raises BadRecording."""
    for number, text in enumerate(lines, 1):
        try:
            yield _LINE.decode(text)
        except UNREADABLE as error:
            raise BadRecording(
                say(
                    "recording.line",
                    "{name}, line {n}: {why}",
                    name=name,
                    n=number,
                    why=told(error),
                )
            ) from None


def followed(resource: str) -> bool:
    return resource in RESOURCES or resource == EVENTS


def list_of(line: Line) -> Listed:
    """Read a `LIST` line. Raises UnreadableChange."""
    try:
        whole = _LIST.decode(line.object)
    except UNREADABLE as error:
        raise UnreadableChange(f"{line.resource}: {error}") from None
    raws = [bytes(item) for item in whole.items or ()]
    return listed(line.resource, whole.metadata.resource_version, raws)


def items_of(page: bytes) -> list[bytes]:
    """Return the objects of a list. Raises UnreadableChange."""
    try:
        return [bytes(item) for item in _LIST.decode(page).items or ()]
    except UNREADABLE as error:
        raise UnreadableChange(str(error)) from None


def line_of_watch(resource: str, raw: bytes) -> Line:
    """Read a line of a watch. Raises UnreadableChange."""
    try:
        line = _LINE.decode(raw)
    except UNREADABLE as error:
        raise UnreadableChange(f"{resource}: {error}") from None
    return msgspec.structs.replace(line, resource=resource)


def version_in(line: Line) -> int:
    """Return the resourceVersion of a line's object. Raises UnreadableChange."""
    return _version(bytes(line.object))


class _Server(msgspec.Struct, rename="camel"):
    git_version: str = ""


_SERVER: Final = msgspec.json.Decoder(_Server | None)


def server_version_in(line: Line) -> str:
    """Read what a `SYNCED` line says of the API server; empty where it says nothing.

    Raises UnreadableChange.
    """
    try:
        said = _SERVER.decode(line.object)
    except UNREADABLE as error:
        raise UnreadableChange(f"SYNCED: {error}") from None
    return said.git_version if said is not None else ""


def take_line(follower: Follower, line: Line) -> None:
    """Let a follower hear a line that is no list. Raises UnreadableChange."""
    if not followed(line.resource):
        return
    raw = bytes(line.object)
    match line.type:
        case "ADDED" | "MODIFIED" | "DELETED":
            change = change_of(line.resource, line.type, raw)
            if change is not None:
                follower.take(change, line.t)
            else:
                follower.passed(line.resource, _version(raw))
        case "BOOKMARK":
            follower.passed(line.resource, _version(raw))
        case _:
            pass


# ---------------------------------------------------------------- journals as recordings


def journal_lines(journal: Journal) -> Iterator[bytes]:
    """Write a journal as a recording: it holds what kviz reads of objects, in the order told."""
    for found in journal.lists:
        changes = [Change(found.resource, "ADDED", 0, found.at_ns, item) for item in found.items]
        whole = {
            "metadata": {"resourceVersion": str(found.version)},
            "items": [document_of(change) for change in changes],
        }
        yield _line("LIST", found.resource, whole)
    said = {"gitVersion": journal.server_version} if journal.server_version else None
    yield _line("SYNCED", "", said)
    yield from change_lines(journal.changes)


def change_lines(changes: Iterable[Change]) -> Iterator[bytes]:
    """Write changes as lines of a recording."""
    for change in changes:
        yield _line(change.what, change.resource, document_of(change))


def _line(what: str, resource: str, document: object) -> bytes:
    return msgspec.json.encode({"type": what, "resource": resource, "object": document}) + b"\n"


def journal_of(lines: Iterable[Line]) -> Journal:
    """Read a journal back, changes in the order of the lines. Raises UnreadableChange."""
    journal = Journal()
    for line in lines:
        match line.type:
            case "LIST":
                journal.lists.append(list_of(line))
            case "SYNCED":
                journal.server_version = server_version_in(line)
            case "ADDED" | "MODIFIED" | "DELETED":
                change = change_of(line.resource, line.type, bytes(line.object))
                if change is not None:
                    journal.changes.append(change)
            case _:
                pass
    return journal


class _Versioned(msgspec.Struct):
    metadata: _ListMetadata


_VERSIONED: Final = msgspec.json.Decoder(_Versioned)


def _version(raw: bytes) -> int:
    return version_of(_VERSIONED.decode(raw).metadata.resource_version)


@dataclass
class Replayed:
    """A recording, followed to its end."""

    journal: Journal
    events: list[AnyEvent] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    n_late: int = 0

    def take(self, told: Told) -> None:
        self.journal.changes += told.changes
        self.events += told.events
        self.decisions += told.decisions


def replay(lines: Iterable[Line]) -> Replayed:
    """Follow a recording. Raises UnreadableChange, and BadRecording where it has no lists."""
    lists: list[Listed] = []
    server_version = ""
    rest = iter(lines)
    for line in rest:
        if line.type == "SYNCED":
            server_version = server_version_in(line)
            break
        if line.type == "LIST" and followed(line.resource):
            lists.append(list_of(line))
    if not lists:
        raise BadRecording(
            say("recording.no_lists", "a recording begins with a list of every kind, then SYNCED")
        )
    follower = Follower(lists)
    journal = Journal(lists, server_version=server_version)
    told = Replayed(journal, list(follower.beginning))
    for line in rest:
        told.take(follower.tell(line.t))
        take_line(follower, line)
    told.take(follower.tell_all())
    told.n_late = follower.ordering.n_late
    return told
