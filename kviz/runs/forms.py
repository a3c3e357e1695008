"""What the run form accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django import forms
from django.utils.translation import gettext_lazy as _

from kviz.common.problems import ErrorItem
from kviz.common.wording import translated
from kviz.runs.models import Run
from scheduler_core.config.features import SWITCHABLE, switchable
from scheduler_core.releases import RELEASES, UnknownRelease
from scheduler_core.releases.choosing import AUTO, release_asked
from scheduler_core.releases.table import Release
from scheduler_core.sim import ScenarioError, load_scenario

MAX_CONFIG_CHARS = 1_000_000
MAX_SEED = 2**63 - 1

GATE_PREFIX: Final = "gate_"
SETTINGS: Final = (("", _("default")), ("true", _("on")), ("false", _("off")))
RULES: Final = (
    ("heap", _("The root of the scheduler's heap of nodes, the same in every run")),
    ("draw", _("Draw among equals, as releases before v1.36, with the seed")),
)
ORDERS: Final = (
    ("listed", _("As the files list them")),
    ("name", _("By namespace and name, as after a restart of the scheduler")),
    ("created", _("By age, as seen by a scheduler that ran all along")),
)


def _gate_names() -> list[str]:
    """The gates that a run of any release may switch."""
    return sorted({name for release in RELEASES.values() for name in switchable(release)})


class ReleaseField(forms.CharField):
    """A release by name, or `AUTO`; a minor release is its newest patch."""

    def to_python(self, value: object) -> str:
        try:
            return release_asked(str(super().to_python(value) or ""))
        except UnknownRelease as unknown:
            raise forms.ValidationError(translated(unknown.text)) from None


class RunForm(forms.Form):
    """A run to be made. Texts and gates are checked by `runs.services.run_create`."""

    snapshot = forms.UUIDField(error_messages={"required": _("Choose a cluster.")})
    scheduler_config = forms.CharField(
        required=False, strip=False, max_length=MAX_CONFIG_CHARS, empty_value=""
    )
    scenario = forms.CharField(
        required=False, strip=False, max_length=MAX_CONFIG_CHARS, empty_value=""
    )
    sample = forms.CharField(required=False, max_length=100, empty_value="")
    """The sample scenario that is meant while the editor is empty."""
    seed = forms.IntegerField(required=False, min_value=0, max_value=MAX_SEED)
    release = ReleaseField(required=False)
    tie_break = forms.ChoiceField(required=False, choices=RULES)
    queue_order = forms.ChoiceField(required=False, choices=ORDERS)

    def __init__(self, data: Mapping[str, object]) -> None:
        super().__init__(data)
        for name in _gate_names():
            field = forms.ChoiceField(required=False, choices=SETTINGS)
            self.fields[GATE_PREFIX + name] = field

    @property
    def gates(self) -> dict[str, bool]:
        """The gates that the form switches; it must be valid."""
        settings = {name: self.cleaned_data[GATE_PREFIX + name] for name in _gate_names()}
        return {name: setting == "true" for name, setting in settings.items() if setting}


@dataclass(frozen=True)
class GateRow:
    """A gate as the form shows it: `value` is one of `SETTINGS`."""

    name: str
    field: str
    is_on: bool
    """By default."""
    about: str
    value: str
    needs: tuple[str, ...] = ()
    """Gates it cannot be on without, but for locked ones."""


def gate_rows(values: Mapping[str, str], release: Release) -> list[GateRow]:
    """The gates that a run of a release may switch, with what the form's `values` say of them."""
    rows = []
    for name, spec in switchable(release).items():
        needs = tuple(needed for needed in spec.requires if needed in switchable(release))
        field = GATE_PREFIX + name
        value = values.get(field, "")
        rows.append(GateRow(name, field, spec.default, SWITCHABLE[name], value, needs))
    return rows


def gate_fields(gates: Mapping[str, bool]) -> dict[str, str]:
    """The form's values for gates."""
    return {GATE_PREFIX + name: "true" if on else "false" for name, on in gates.items()}


def values_of(run: Run) -> dict[str, str]:
    """The form filled in as a run was made, but for gates that its scenario switches itself."""
    own = {
        name: on
        for name, on in run.feature_gates.items()
        if _gates_in(run.scenario).get(name) != on
    }
    return {
        "snapshot": str(run.snapshot_id or ""),
        "scheduler_config": run.scheduler_config,
        "scenario": run.scenario,
        "sample": "",
        "seed": str(run.seed),
        "release": AUTO if run.release_told else run.release_name,
        "tie_break": run.tie_break,
        "queue_order": run.queue_order,
        **gate_fields(own),
    }


def _gates_in(scenario: str) -> Mapping[str, bool]:
    try:
        return load_scenario(scenario).feature_gates if scenario.strip() else {}
    except ScenarioError:
        return {}


def errors_of(form: RunForm) -> Sequence[ErrorItem]:
    """What the form refuses, field by field."""
    return [
        {"field": field, "message": str(message)}
        for field, found in form.errors.items()
        for message in found
    ]
