"""Which nodes to add so that pending pods bind, and which could be drained."""

from kviz.questions import Command

COMMAND = Command("nodes", "say which nodes to add, and which could be drained")
