"""What a workspace may have at once, and the refusal above that (server mode)."""

from __future__ import annotations

from typing import Final

RETRY_AFTER_S: Final = 60
"""When to come back after 429, where nothing better is known."""


class TooManyAtOnce(Exception):
    """A workspace has as much of something at once as it may; the text says what to do about it."""
