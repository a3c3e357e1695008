"""What lower packages have to know of this question."""

from dataclasses import replace

from django.utils.translation import gettext as _

from kviz.experiments.kinds import Choice, Kind, register
from kviz.questions.whatif import asked, report
from kviz.questions.whatif.jobs import Trials
from kviz.runs.presets import PRESETS

CHANGES = Kind(
    name="changes",
    asked=asked.Changes,
    checked=asked.checked_changes,
    expected=asked.expected,
    question=lambda begun, what: Trials(begun, what["variants"]),
    title=lambda _asked: _("What follows from changes"),
    answered=lambda _experiment, results: report.read(results),
    template="questions/whatif/report.html",
    columns=report.COLUMNS,
    choice=Choice(
        "questions/whatif/changes.html",
        {"changes": asked.variants_in},
    ),
)
CONFIGURATIONS = replace(
    CHANGES,
    name="configurations",
    asked=asked.Configurations,
    checked=asked.checked_configurations,
    title=lambda _asked: _("How configurations compare"),
    choice=Choice(
        "questions/whatif/configurations.html",
        {"configurations": asked.configurations_in},
        lambda given: {"presets": PRESETS, "chosen": given.getlist("preset")},
    ),
)
register(CHANGES)
register(CONFIGURATIONS)
