"""How far a run is from the best placement of all waiting pods together (docs/optimum.md).

The problem comes from the engine (`scheduler_core.analysis.model`); HiGHS solves it here.
"""

from kviz.questions import Command

COMMAND = Command("optimum", "hold the scheduler's placement against the best one")
