"""What lower packages have to know of this question."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kviz.experiments.kinds import Kind, refused, register
from kviz.questions.rehearse import report
from kviz.questions.rehearse.jobs import Rehearsing
from kviz.runs.asking import BUTTONS, Button, form_about_run
from kviz.runs.inputs import gates_of_stored
from kviz.runs.models import Run
from scheduler_core.releases import UnknownRelease, release_named
from scheduler_core.releases.switches import SWITCHES
from scheduler_core.wording import say

MOST_TRIALS: Final = 2 * len(SWITCHES)
"""About so many variants are run where it takes several changes to explain something."""


class Rehearse(msgspec.Struct, forbid_unknown_fields=True):
    """The release that the scheduler is upgraded to, such as `1.37`."""

    to: str


def checked(asked: Rehearse, beginning: Run) -> dict[str, Any]:
    """The name of the release. Raises InvalidInput."""
    try:
        to = release_named(asked.to)
    except UnknownRelease as unknown:
        raise refused("asked.to", unknown.text) from unknown
    gates = gates_of_stored(beginning)
    if to == gates.release.name:
        text = say(
            "rehearsal.same_release",
            "The cluster follows v{release} already.",
            release=gates.release_text,
        )
        raise refused("asked.to", text)
    return {"to": to}


def _title(asked: Mapping[str, Any]) -> str:
    if not asked:
        return _("Rehearse an upgrade")
    return _("What an upgrade to v%s changes") % str(asked["to"])


register(
    Kind(
        name="rehearse",
        asked=Rehearse,
        checked=checked,
        expected=lambda _asked, _counts: MOST_TRIALS,
        question=lambda begun, what: Rehearsing(begun, what["to"]),
        title=_title,
        answered=report.read,
        template="questions/rehearse/report.html",
        columns=report.COLUMNS,
        page="experiment-rehearse",
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("What would an upgrade change?"),
        form_about_run("experiment-rehearse"),
        gettext_lazy("The same pods under another release, and which change does what"),
        place=8,
    )
)
