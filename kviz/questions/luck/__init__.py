"""Which placements hold whatever a real scheduler decides by chance (docs/luck.md)."""

from kviz.questions import Command

COMMAND = Command("luck", "say which placements hold and which are luck")
