"""What lower packages have to know of this question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, cast

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Meta

from kviz.common.problems import ErrorItem
from kviz.experiments.kinds import Choice, Kind, refused, register
from kviz.questions.whatif import report
from kviz.questions.whatif.jobs import AskedVariant, Trials
from kviz.runs.asking import BUTTONS, Button, form_about_run
from kviz.runs.execution.engine import check
from kviz.runs.inputs import InvalidInput, changes_given, gates_of_stored
from kviz.runs.models import Run
from kviz.runs.presets import PRESETS
from scheduler_core.changes import document_of, line_of
from scheduler_core.changes.vocabulary import UseConfiguration
from scheduler_core.config import JsonValue

# What an experiment about variants may be asked, and how the form asks it.

Name = Annotated[str, Meta(max_length=200)]


class ChangedVariant(msgspec.Struct, forbid_unknown_fields=True):
    changes: list[str | dict[str, Any]]
    name: Name = ""


class Changes(msgspec.Struct, forbid_unknown_fields=True):
    """Each variant begins with changes of its own (docs/changes.md)."""

    variants: Annotated[list[ChangedVariant], Meta(min_length=1)]


class Configuration(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=200)]
    scheduler_config: str = ""
    """Empty: the default profile."""


class Configurations(msgspec.Struct, forbid_unknown_fields=True):
    """The same cluster by other configurations, side by side."""

    configurations: Annotated[list[Configuration], Meta(min_length=1)]


def checked_changes(asked: Changes, _beginning: Run) -> dict[str, Any]:
    """Raises InvalidInput."""
    return {"variants": [_variant(i, each) for i, each in enumerate(asked.variants)]}


def checked_configurations(asked: Configurations, beginning: Run) -> dict[str, Any]:
    """Raises InvalidInput."""
    return {"variants": _configurations(asked.configurations, beginning)}


def expected(asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    return len(asked["variants"])


def _variant(index: int, asked: ChangedVariant) -> AskedVariant:
    try:
        changes = changes_given(cast("list[JsonValue]", asked.changes))
    except InvalidInput as invalid:
        raise InvalidInput(_within(invalid.errors, f"asked.variants[{index}]")) from invalid
    name = asked.name or "; ".join(line_of(each) for each in changes) or "no change"
    return {"name": name[:500], "changes": [document_of(each) for each in changes]}


def _configurations(asked: Sequence[Configuration], beginning: Run) -> list[AskedVariant]:
    gates = gates_of_stored(beginning)
    variants: list[AskedVariant] = []
    for i, each in enumerate(asked):
        try:
            check(scheduler_config=each.scheduler_config, gates=gates)
        except InvalidInput as invalid:
            place = f"asked.configurations[{i}]"
            raise InvalidInput(_within(invalid.errors, place)) from invalid
        change = document_of(UseConfiguration(each.scheduler_config))
        variants.append({"name": each.name, "changes": [change]})
    return variants


def _within(errors: Sequence[ErrorItem], place: str) -> list[ErrorItem]:
    return [{**each, "field": place} for each in errors]


def configurations_in(given: QueryDict) -> dict[str, object]:
    """What a sent form compares. Raises InvalidInput."""
    chosen = set(given.getlist("preset"))
    found = [
        {"name": str(each.title), "scheduler_config": each.text}
        for each in PRESETS
        if each.slug in chosen
    ]
    if (own := given.get("own", "")).strip():
        found.append({"name": _("Your own"), "scheduler_config": own})
    if not found:
        raise refused("preset", _("Choose at least one configuration to compare with."))
    return {"configurations": found}


def variants_in(given: QueryDict) -> dict[str, object]:
    """Paragraphs of a sent form, each a variant: a change per line, a name after a #."""
    variants: list[dict[str, object]] = []
    for paragraph in given.get("variants", "").replace("\r\n", "\n").split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        names = [line.lstrip("# ") for line in lines if line.startswith("#")]
        changes = [line for line in lines if not line.startswith("#")]
        if changes:
            variants.append({"name": " ".join(names), "changes": changes})
    if not variants:
        raise refused("variants", _("Write at least one change."))
    return {"variants": variants}


CHANGES = Kind(
    name="changes",
    asked=Changes,
    checked=checked_changes,
    expected=expected,
    question=lambda begun, what: Trials(begun, what["variants"]),
    title=lambda _asked: _("What follows from changes"),
    answered=lambda _experiment, results: report.read(results),
    template="questions/whatif/report.html",
    columns=report.COLUMNS,
    choice=Choice(
        "questions/whatif/changes.html",
        {"changes": variants_in},
    ),
)
CONFIGURATIONS = replace(
    CHANGES,
    name="configurations",
    asked=Configurations,
    checked=checked_configurations,
    title=lambda _asked: _("How configurations compare"),
    choice=Choice(
        "questions/whatif/configurations.html",
        {"configurations": configurations_in},
        lambda given: {"presets": PRESETS, "chosen": given.getlist("preset")},
    ),
)
register(CHANGES)
register(CONFIGURATIONS)
BUTTONS.append(
    Button(
        gettext_lazy("What would other configurations do?"),
        form_about_run("experiment-new", question="configurations"),
        gettext_lazy("The same pods by several configurations, side by side"),
        place=7,
    )
)
