"""Whether a cluster keeps its rules (docs/rules.md)."""

from kviz.questions import Command

COMMAND = Command("check", "check rules that a cluster has to keep")
