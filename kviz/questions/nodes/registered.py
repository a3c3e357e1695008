"""What lower packages have to know of this question."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kviz.experiments.kinds import Kind, register
from kviz.questions.nodes import asked, report
from kviz.questions.nodes.jobs import NodeSets
from kviz.runs.asking import BUTTONS, Button, form_about_run

register(
    Kind(
        name="nodes",
        asked=asked.Nodes,
        checked=asked.checked,
        expected=asked.expected,
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
    Button(gettext_lazy("Which nodes to add or remove"), form_about_run("experiment-nodes"))
)
