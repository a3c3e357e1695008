"""What is different: one vocabulary for scenarios, variants of runs and the command line.

    mapping, line, file --reading, lines, texts--> Change --applying--> objects
                                                   Change --sentences--> words
                                                   Change --limits--> what is not known of it
                   Change --inverse--> Changes that undo it
                                                   Change --documents, lines--> JSON, a line

Changes of objects and changes of rules (`rules`) are one list. `sim.steps` carries out the same
changes while a simulation runs. docs/changes.md is the contract.
"""

from scheduler_core.changes.applying import apply, carried_out
from scheduler_core.changes.documents import document_of, object_document
from scheduler_core.changes.inverse import inverse
from scheduler_core.changes.limits import limits
from scheduler_core.changes.lines import ChangeError, is_line, line_of, read_line
from scheduler_core.changes.plan import ChangeAt, Plan, in_words, later_steps, plan
from scheduler_core.changes.rules import Rules, changed_rules
from scheduler_core.changes.sentences import sentence
from scheduler_core.changes.texts import (
    lines_of_changes,
    read_changes,
    read_file_of_changes,
    read_lines,
)
from scheduler_core.changes.vocabulary import Change, RuleChange

__all__ = [
    "Change",
    "ChangeAt",
    "ChangeError",
    "Plan",
    "RuleChange",
    "Rules",
    "apply",
    "carried_out",
    "changed_rules",
    "document_of",
    "in_words",
    "inverse",
    "is_line",
    "later_steps",
    "limits",
    "line_of",
    "lines_of_changes",
    "object_document",
    "plan",
    "read_changes",
    "read_file_of_changes",
    "read_line",
    "read_lines",
    "sentence",
]
