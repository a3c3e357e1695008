"""The formal model of a cycle: sets, predicates and their values (docs/model.md).

`cycle_model` computes it once from a re-enacted cycle; `tla_module` and `model_text` write it down.
"""

from scheduler_core.analysis.model.cycle.decided import Decided
from scheduler_core.analysis.model.cycle.model import CycleModel, cycle_model, recorded_model
from scheduler_core.analysis.model.cycle.text import model_text, statement
from scheduler_core.analysis.model.cycle.tla import tla_module, tla_name

__all__ = [
    "CycleModel",
    "Decided",
    "cycle_model",
    "model_text",
    "recorded_model",
    "statement",
    "tla_module",
    "tla_name",
]
