"""Which modules say a sort of sentence, and what stands in the places of their templates.

A place that is not named here holds a name or an amount: the same in every language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scheduler_core.api.counting import MORE_OBJECT, OBJECT, POD
from scheduler_core.api.findings import DEVICES_NOT_MODELLED
from scheduler_core.api.types import KINDS
from scheduler_core.changes.sentences import NOTHING
from scheduler_core.wording import COMMA, OR, SEMICOLON, Template


@dataclass(frozen=True)
class Said:
    """A place in which a sentence stands, or one of some words.

    Several stand in a `row` where its template says so. What is no sentence is taken as it is with
    `or_else`, some only if it is one word; without, the template around does not fit.
    """

    sorts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    row: Template | None = None
    or_else: Literal["", "a word", "anything"] = ""


@dataclass(frozen=True)
class Names:
    """A place in which names stand in a row; `sorts` are those of names that are sentences."""

    row: Template = COMMA
    sorts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Word:
    """A place in which one word stands, where more would be part of the sentence."""


Place: TypeAlias = Said | Names | Word


@dataclass(frozen=True)
class Sort:
    """Sentences of one kind: the modules that say them, and what stands in their places."""

    modules: tuple[str, ...]
    places: Mapping[str, Place]


SORTS: Final[Mapping[str, Sort]] = {
    "step": Sort(
        ("scheduler_core/sim/steps.py",),
        {
            "what": Said(("step", "change"), row=SEMICOLON),
            "why": Said(("refusal",)),
            "pods": Said(("count",)),
        },
    ),
    "change": Sort(
        ("scheduler_core/changes/sentences.py",),
        {
            "what": Said(("change",)),
            "node": Word(),
            "label": Word(),
            "taint": Word(),
            "objects": Names(sorts=("change",)),
            "fields": Names(),
            "old": Said(words=(NOTHING,), or_else="anything"),
            "new": Said(words=(NOTHING,), or_else="anything"),
            "kind": Said(words=tuple(kind.lower() for kind in KINDS)),
        },
    ),
    "refusal": Sort(
        (
            "scheduler_core/changes/refusals.py",
            "scheduler_core/changes/editing.py",
            "scheduler_core/changes/node_changes.py",
        ),
        {
            "why": Said(("refusal", "problem"), or_else="anything"),
            "field": Word(),
            "message": Said(("problem",)),
            "names": Names(OR),
            "taints": Names(),
            "labels": Names(),
        },
    ),
    "problem": Sort(
        (
            "kviz/clusters/importing.py",
            "scheduler_core/api/archives.py",
            "scheduler_core/api/coerce.py",
            "scheduler_core/api/file_reading.py",
            "scheduler_core/api/ingest.py",
            "scheduler_core/api/json_documents.py",
            "scheduler_core/api/json_keys.py",
            "scheduler_core/api/limits.py",
            "scheduler_core/api/nul.py",
            "scheduler_core/api/parse.py",
            "scheduler_core/api/pod_templates.py",
            "scheduler_core/api/priority.py",
            "scheduler_core/api/quantity.py",
            "scheduler_core/api/timestamps.py",
            "scheduler_core/api/validate.py",
            "scheduler_core/api/yaml_documents.py",
            "scheduler_core/changes/field_paths.py",
        ),
        {
            "what": Said(("problem",), or_else="anything"),
            "field": Word(),
            "problem": Said(("problem",)),
            "hint": Said(("problem",), or_else="anything"),
            "names": Names(),
        },
    ),
    "note": Sort(
        (
            "kviz/clusters/importing.py",
            "scheduler_core/api/findings.py",
            "scheduler_core/api/ingest.py",
            "scheduler_core/sim/not_modelled.py",
            "scheduler_core/sim/run.py",
        ),
        {
            "what": Said(
                ("note", "count"),
                (POD, OBJECT, MORE_OBJECT, *DEVICES_NOT_MODELLED),
                row=COMMA,
                or_else="anything",
            ),
            "objects": Said(("count",)),
            "slices": Said(("count",)),
            "pods": Names(sorts=("count",)),
            "names": Names(sorts=("note",)),
            "functions": Names(),
            "reason": Said(("note", "problem"), or_else="anything"),
            "field": Word(),
            "message": Said(("problem",)),
            "why": Said(("problem",), or_else="anything"),
        },
    ),
    "count": Sort(
        ("scheduler_core/api/counting.py",),
        {"what": Said(words=(POD, OBJECT, MORE_OBJECT), or_else="a word")},
    ),
    "more": Sort(("scheduler_core/wording.py",), {"names": Names(sorts=("note",))}),
    "eviction": Sort(("scheduler_core/sim/eviction.py",), {"node": Word()}),
    "failure": Sort(
        (
            "kviz/common/time_limits.py",
            "kviz/experiments/execution/carry_out.py",
            "kviz/questions/optimum/comparison.py",
            "kviz/questions/optimum/solver/search.py",
            "kviz/runs/execution/engine.py",
            "kviz/questions/optimum/jobs.py",
            "kviz/runs/execution/record.py",
            "scheduler_core/analysis/model/building.py",
        ),
        {"of": Said(("failure",))},
    ),
    "stop": Sort(
        (
            "kviz/clusters/followed/live.py",
            "kviz/extenders/observer.py",
            "scheduler_core/sim/run.py",
        ),
        {},
    ),
}

EVICTION: Final = Said(("eviction",))
FAILURE: Final = Said(("failure",))
STEP: Final = Said(("step", "change"), row=SEMICOLON)
STOP: Final = Said(("stop",))
NOTE: Final = Said(("note", "count"), row=COMMA)
PROBLEM: Final = Said(("problem",))

MODULES: Final = tuple(sorted({module for sort in SORTS.values() for module in sort.modules}))
"""Those of which the templates are written down."""
