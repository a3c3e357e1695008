"""What lower packages have to know of this question."""

from django.utils.translation import gettext_lazy

from kviz.live.tasks import Task, register
from kviz.questions.optimum.jobs import QUEUE, optima_fail, optima_release, optimum_task
from kviz.runs.asking import BUTTONS, Button, page_of_run

register(
    Task(
        "optimum",
        QUEUE.waiting,
        optimum_task,
        QUEUE.state,
        fail=optima_fail,
        release=optima_release,
        is_asked_for=True,
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("How large is the gap to the optimum?"),
        page_of_run("run-optimum"),
        gettext_lazy("Against the best placement there is"),
        place=5,
    )
)
