"""What lower packages have to know of this question."""

from django.utils.translation import gettext as _

from kviz.experiments.kinds import Choice, Kind, register
from kviz.questions.luck import asked, page, report
from kviz.questions.luck.jobs import RUNS, Tosses
from kviz.questions.luck.services import luck_begin
from kviz.runs.asking import OF_RUN, Part
from kviz.runs.models import Run
from kviz.runs.signals import run_finished

register(
    Kind(
        name="luck",
        asked=asked.Luck,
        checked=asked.checked,
        expected=asked.expected,
        question=lambda begun, what: Tosses(begun, what["runs"], what["coins"]),
        title=lambda _asked: _("How lucky the placements are"),
        answered=report.read,
        template="questions/luck/report.html",
        columns=report.COLUMNS,
        choice=Choice(
            "questions/luck/choice.html",
            {"luck": asked.asked_in},
            lambda _given: {"n_runs": RUNS},
        ),
    )
)
OF_RUN.append(Part("questions/luck/line.html", page.line_of_run))


def _begin(run: Run, **_more: object) -> None:
    luck_begin(run=run)


run_finished.connect(_begin)
