"""Which release an API server says that it is."""

from __future__ import annotations

from typing import Protocol

import msgspec

from kviz.clusters.reading.problems import ClusterProblem


class Getter(Protocol):
    """What is asked of a connection."""

    def get(self, path: str) -> bytes: ...


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


def server_version(connection: Getter) -> str:
    """Return the `gitVersion` of `/version`; empty if the server does not say."""
    try:
        return msgspec.json.decode(connection.get("/version"), type=_Version).git_version
    except (ClusterProblem, msgspec.DecodeError, UnicodeDecodeError):
        return ""
