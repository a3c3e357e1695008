"""Why pods are pending: from files, and of a stored run."""

from kviz.questions import Command

COMMAND = Command("explain", "say why pods are pending")
