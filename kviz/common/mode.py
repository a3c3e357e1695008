"""The users that kviz serves."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """`KVIZ_MODE`."""

    LOCAL = "local"
    """The user of this machine: one workspace."""
    SERVER = "server"
    """Many people: every browser session is a guest with its own workspace."""
