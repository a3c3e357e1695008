"""What lower packages have to know of this question."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Meta

from kviz.experiments.kinds import Kind, objects_at, register
from kviz.questions.nodes import report
from kviz.questions.nodes.jobs import NodeSets, shapes_of
from kviz.runs.asking import BUTTONS, Button, form_about_run
from kviz.runs.models import Run
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES

# What an experiment about nodes may be asked.


class Nodes(msgspec.Struct, forbid_unknown_fields=True):
    """The cheapest nodes with which pending pods bind, and those that could be drained."""

    shapes: str = ""
    """Shapes that can be had, and prices, as YAML (docs/answers.md)."""
    max_runs: Annotated[int, Meta(ge=1, le=10_000)] = MAX_RUNS
    drain: Annotated[int, Meta(ge=0, le=5_000)] = MAX_CANDIDATES
    """So many nodes are tried, those with the fewest pods."""


def checked(asked: Nodes, beginning: Run) -> dict[str, Any]:
    """Raises InvalidInput."""
    shapes_of(asked.shapes, objects_at(beginning))
    return {"shapes": asked.shapes, "max_runs": asked.max_runs, "drain": asked.drain}


def expected(asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    """Drains of nodes that are tried again are not among them."""
    return 1 + int(asked["drain"])


register(
    Kind(
        name="nodes",
        asked=Nodes,
        checked=checked,
        expected=expected,
        question=lambda begun, what: NodeSets(
            begun, what["shapes"], what["max_runs"], what["drain"]
        ),
        title=lambda _asked: _("Which nodes to add or remove"),
        answered=lambda _experiment, results: report.read(results),
        template="questions/nodes/report.html",
        columns=report.COLUMNS,
        page="experiment-nodes",
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("Which nodes to add or remove?"),
        form_about_run("experiment-nodes"),
        gettext_lazy("Fewest nodes for all pods; nodes that can be drained"),
        place=1,
    )
)
