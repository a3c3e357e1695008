"""What lower packages have to know of this question."""

from django.utils.translation import gettext as _

from kviz.experiments.kinds import Kind, register
from kviz.questions.unblock import asked, page, report
from kviz.questions.unblock.jobs import Unblocking
from kviz.runs.asking import OF_POD, Part

register(
    Kind(
        name="unblock",
        asked=asked.Unblock,
        checked=asked.checked,
        expected=asked.expected,
        question=lambda begun, what: Unblocking(begun, what["pod"], what["owner"]),
        title=lambda what: (
            _("What would let %s bind") % str(what["pod"])
            if what
            else _("What would let a pod bind")
        ),
        answered=report.read,
        template="questions/unblock/report.html",
        columns=report.COLUMNS,
    )
)
OF_POD.append(Part("questions/unblock/on_pod.html", page.on_pod))
