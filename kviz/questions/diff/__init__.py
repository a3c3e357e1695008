"""What is different between two runs (docs/comparing.md)."""

from kviz.questions import Command

COMMAND = Command("diff", "compare two runs: where they part, and what is different in the end")
