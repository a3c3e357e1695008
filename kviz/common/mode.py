"""Whom kviz serves."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """`KVIZ_MODE`."""

    LOCAL = "local"
    """Whoever runs it, on this machine: one workspace."""
    SERVER = "server"
    """Many people: every browser session is a guest with a workspace of its own."""
