"""How many more pods of a kind fit."""

from kviz.questions import Command

COMMAND = Command("capacity", "say how many more pods of a kind fit")
