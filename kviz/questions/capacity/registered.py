"""What lower packages have to know of this question."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kviz.experiments.kinds import Kind, register
from kviz.questions.capacity import asked, report
from kviz.questions.capacity.jobs import Filling
from kviz.runs.asking import BUTTONS, Button, form_about_run

register(
    Kind(
        name="capacity",
        asked=asked.Capacity,
        checked=asked.checked,
        expected=asked.expected,
        question=lambda begun, what: Filling(begun, what["templates"], what["max"]),
        title=lambda _asked: _("How many more fit"),
        answered=lambda _experiment, results: report.read(results),
        template="questions/capacity/report.html",
        columns=report.COLUMNS,
        page="experiment-capacity",
    )
)
BUTTONS.append(Button(gettext_lazy("How many more fit"), form_about_run("experiment-capacity")))
