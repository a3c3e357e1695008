"""What lower packages have to know of this question."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Meta

from kviz.experiments.kinds import Choice, Kind, refused, register
from kviz.questions.luck import report
from kviz.questions.luck.jobs import MAX_RUNS, RUNS, Tosses, expected_tosses
from kviz.questions.luck.services import luck_begin
from kviz.runs.asking import BUTTONS, Button, page_of_run
from kviz.runs.models import Run
from kviz.runs.selectors import may_ask
from kviz.runs.signals import run_finished
from scheduler_core.analysis.advice.coins import COINS, Coin

# What an experiment about luck may be asked, and how the form asks it.


class Luck(msgspec.Struct, forbid_unknown_fields=True):
    """Runs with the coins tossed that kviz pins; without `coins` those that the release has."""

    runs: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = RUNS
    coins: list[Coin] = []


def checked(asked: Luck, _beginning: Run) -> dict[str, Any]:
    return {"runs": asked.runs, "coins": asked.coins}


def expected(asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    return expected_tosses(asked["runs"], len(asked["coins"] or COINS))


def asked_in(given: QueryDict) -> dict[str, object]:
    """What a sent form asks. Raises InvalidInput."""
    runs = given.get("runs", "").strip()
    if not runs:
        return {}
    if not runs.isdecimal():
        raise refused("runs", _('"%s" is no number of runs.') % runs)
    return {"runs": int(runs)}


register(
    Kind(
        name="luck",
        asked=Luck,
        checked=checked,
        expected=expected,
        question=lambda begun, what: Tosses(begun, what["runs"], what["coins"]),
        title=lambda _asked: _("How lucky the placements are"),
        answered=report.read,
        template="questions/luck/report.html",
        columns=report.COLUMNS,
        choice=Choice(
            "questions/luck/choice.html",
            {"luck": asked_in},
            lambda _given: {"n_runs": RUNS},
        ),
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("What was luck here?"),
        page_of_run("run-luck"),
        gettext_lazy("Which placements change when ties and order are random"),
        place=4,
        is_for=may_ask,
    )
)


def _begin(run: Run, **_more: object) -> None:
    luck_begin(run=run)


run_finished.connect(_begin)
