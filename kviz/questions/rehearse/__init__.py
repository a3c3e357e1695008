"""What an upgrade of the scheduler changes, and why (docs/configuration.md)."""

from kviz.questions import Command

COMMAND = Command("rehearse", "say what another release of the scheduler would change")
