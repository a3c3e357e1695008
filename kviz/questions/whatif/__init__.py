"""What follows from changes, and how variants compare with the cluster as it is."""

from kviz.questions import Command

COMMAND = Command("whatif", "say what follows from a change, for a pod and for all others")
