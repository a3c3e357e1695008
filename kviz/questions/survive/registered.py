"""What lower packages have to know of this question."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Meta

from kviz.experiments.kinds import Choice, Kind, objects_at, refused, register
from kviz.questions.survive import report
from kviz.questions.survive.jobs import Losses
from kviz.runs.asking import BUTTONS, Button, form_about_run
from kviz.runs.models import Run
from scheduler_core.api import Node
from scheduler_core.wording import say

# What an experiment about losses may be asked, and how the form asks it.


class Survive(msgspec.Struct, forbid_unknown_fields=True):
    """Every zone, every node, or each of some sets of nodes is lost in turn."""

    of: Literal["zones", "nodes", "sets"]
    sets: list[Annotated[list[str], Meta(min_length=1)]] = []
    """The names of nodes that are gone together."""


def checked(asked: Survive, beginning: Run) -> dict[str, Any]:
    """What is to be lost; sets of nodes that are there. Raises InvalidInput."""
    if asked.of != "sets":
        return {"of": asked.of}
    if not asked.sets:
        raise refused(
            "asked.sets", say("question.name_nodes", "Name the nodes that are lost together.")
        )
    known = {item.name for item in objects_at(beginning) if isinstance(item, Node)}
    for i, names in enumerate(asked.sets):
        if absent := [name for name in names if name not in known]:
            where = f"asked.sets[{i}]"
            raise refused(
                where, say("question.no_node", "There is no node {node}.", node=absent[0])
            )
    return {"of": "sets", "sets": [list(dict.fromkeys(names)) for names in asked.sets]}


def expected(asked: Mapping[str, Any], counts: Mapping[str, int]) -> int:
    return len(asked.get("sets", ())) or counts.get("Node", 0)


def sets_in(given: QueryDict) -> dict[str, object]:
    """Lines of a sent form, each the names of nodes that are lost together."""
    lines = (line.replace(",", " ").split() for line in given.get("sets", "").splitlines())
    return {"of": "sets", "sets": [names for names in lines if names]}


def _title(what: Mapping[str, Any]) -> str:
    match what.get("of"):
        case "zones":
            return _("What survives the loss of a zone")
        case "sets":
            return _("What survives the loss of chosen nodes")
        case None:
            return _("What survives a loss")
        case _other:
            return _("What survives the loss of a node")


register(
    Kind(
        name="survive",
        asked=Survive,
        checked=checked,
        expected=expected,
        question=lambda begun, what: Losses(begun, what["of"], what.get("sets", ())),
        title=_title,
        answered=lambda _experiment, results: report.read(results),
        template="questions/survive/report.html",
        columns=report.COLUMNS,
        choice=Choice(
            "questions/survive/choice.html",
            {
                "zones": lambda _given: {"of": "zones"},
                "nodes": lambda _given: {"of": "nodes"},
                "sets": sets_in,
            },
        ),
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("What survives the loss of a zone or a node?"),
        form_about_run("experiment-new", question="survive"),
        gettext_lazy("Every zone and node in turn"),
        place=3,
    )
)
