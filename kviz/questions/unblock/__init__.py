"""What would let a pending pod bind (docs/unblock.md)."""

from kviz.questions import Command

COMMAND = Command("unblock", "say what would let a pending pod bind")
