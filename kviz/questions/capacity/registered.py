"""What lower packages have to know of this question."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Meta

from kviz.experiments.kinds import Kind, objects_at, refused, register
from kviz.questions.capacity import report
from kviz.questions.capacity.jobs import AskedTemplate, Filling, templates_of
from kviz.runs.asking import BUTTONS, Button, form_about_run
from kviz.runs.models import Run
from kviz.without_secrets import without_secrets
from scheduler_core.analysis.advice.capacity import MAX_COPIES
from scheduler_core.config.source import MAX_BYTES
from scheduler_core.wording import say

# What an experiment about capacity may be asked.

MAX_TEMPLATES: Final = 20


class Template(msgspec.Struct, forbid_unknown_fields=True):
    """A pod of the cluster, as `namespace/name`, or a manifest of pods as text."""

    pod: str = ""
    manifest: Annotated[str, Meta(max_length=MAX_BYTES)] = ""
    weight: Annotated[int, Meta(ge=0, le=1_000)] = 0


class Capacity(msgspec.Struct, forbid_unknown_fields=True):
    """Copies of pods, until the next one finds no node; with weights they are a mix."""

    templates: Annotated[list[Template], Meta(min_length=1, max_length=MAX_TEMPLATES)]
    max: Annotated[int, Meta(ge=1, le=MAX_COPIES)] = MAX_COPIES


def checked(asked: Capacity, beginning: Run) -> dict[str, Any]:
    """Raises InvalidInput."""
    return {"templates": _templates(asked.templates, beginning), "max": asked.max}


def expected(asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    return 1 + len(asked["templates"])


def _templates(asked: Sequence[Template], beginning: Run) -> list[AskedTemplate]:
    templates: list[AskedTemplate] = [
        {"pod": each.pod, "manifest": without_secrets(each.manifest), "weight": each.weight}
        for each in asked
    ]
    for each in templates:
        if bool(each["pod"]) == bool(each["manifest"].strip()):
            raise refused(
                "pod",
                say(
                    "question.pod_or_manifest",
                    "Give a pod of the cluster or a manifest, one of the two.",
                ),
            )
    found = templates_of(templates, objects_at(beginning))
    if len({bool(weight) for _, weight in found}) > 1:
        raise refused(
            "weight", say("question.weights", "Give each pod of a mix a weight, or none of them.")
        )
    if len(found) > MAX_TEMPLATES:
        text = say(
            "question.too_many_pods",
            "There are {n} pods; at most {most}.",
            n=len(found),
            most=MAX_TEMPLATES,
        )
        raise refused("manifest", text)
    return templates


register(
    Kind(
        name="capacity",
        asked=Capacity,
        checked=checked,
        expected=expected,
        question=lambda begun, what: Filling(begun, what["templates"], what["max"]),
        title=lambda _asked: _("How many more fit"),
        answered=lambda _experiment, results: report.read(results),
        template="questions/capacity/report.html",
        columns=report.COLUMNS,
        page="experiment-capacity",
    )
)
BUTTONS.append(
    Button(
        gettext_lazy("How many more copies fit?"),
        form_about_run("experiment-capacity"),
        gettext_lazy("Of a pod here, or of a manifest"),
        place=2,
    )
)
