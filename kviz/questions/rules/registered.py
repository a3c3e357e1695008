"""What lower packages have to know of this question."""

from django.utils.translation import gettext_lazy

from kviz.runs.asking import BUTTONS, Button, page_of_run

BUTTONS.append(
    Button(
        gettext_lazy("Does it keep our rules?"),
        page_of_run("run-rules"),
        gettext_lazy("Check rules that the cluster must keep"),
        place=6,
    )
)
