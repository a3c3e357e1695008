"""What becomes of a cluster when zones or nodes are gone."""

from kviz.questions import Command

COMMAND = Command("survive", "say what becomes of the cluster when a zone or a node is gone")
