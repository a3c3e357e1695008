"""What lower packages have to know of this question."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from kviz.experiments.kinds import Choice, Kind, register
from kviz.questions.survive import asked, report
from kviz.questions.survive.jobs import Losses


def _title(what: Mapping[str, Any]) -> str:
    match what.get("of"):
        case "zones":
            return _("What survives the loss of a zone")
        case "sets":
            return _("What survives the loss of chosen nodes")
        case _other:
            return _("What survives the loss of a node")


register(
    Kind(
        name="survive",
        asked=asked.Survive,
        checked=asked.checked,
        expected=asked.expected,
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
                "sets": asked.sets_in,
            },
        ),
    )
)
