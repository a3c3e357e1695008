"""The form of a new run."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.limits import TooManyAtOnce
from kviz.common.listing import uuid_of
from kviz.common.problems import ErrorItem
from kviz.common.templatetags.punctuation import comma
from kviz.common.wording import translated
from kviz.runs import services
from kviz.runs.execution.engine import warnings_of
from kviz.runs.forms import (
    ORDERS,
    RULES,
    SETTINGS,
    RunForm,
    errors_of,
    gate_rows,
    values_of,
)
from kviz.runs.inputs import InvalidInput, check_fit, release_for
from kviz.runs.marked_text import MarkedLine, marked_lines
from kviz.runs.pages.access import about, run_of
from kviz.runs.presets import (
    EXAMPLE_SCENARIO,
    PRESETS,
    SAMPLE_SCENARIOS,
    STEP_PRESETS,
    configuration_named,
    preset_text,
    sample_text,
    scenario_meant,
    scenario_named,
)
from kviz.snapshots import selectors as snapshot_selectors
from scheduler_core.releases import RELEASES
from scheduler_core.releases.choosing import AUTO, Chosen
from scheduler_core.sim import recreates, recreating

USUAL: Final = {
    "queue_order": (gettext_lazy("Order of pending pods"), "listed"),
    "tie_break": (gettext_lazy("Among equal nodes"), "heap"),
    "seed": (gettext_lazy("Seed"), "0"),
}
"""Settings besides the gates, by field: what the form calls them, and their defaults."""


@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _run_create(request)
    return _run_form(request, _start_values(request), (), HTTPStatus.OK)


def _start_values(request: HttpRequest) -> dict[str, str]:
    """What the form holds at first: what the address asks for, else what a sample brings.

    With `from` it is how that run was made.
    """
    asked = request.GET
    if "from" in asked:
        return values_of(run_of(request, uuid_of(asked["from"])))
    snapshot = asked.get("snapshot", "")
    brings = snapshot_selectors.sample_identified(snapshot_id=snapshot)
    config, scenario = (brings.scheduler_config, brings.scenario) if brings else ("", "")
    config = config or _config_brought(request, snapshot)
    return {
        "snapshot": snapshot,
        "scheduler_config": preset_text(asked["preset"]) if "preset" in asked else config,
        "scenario": sample_text(asked["sample"]) if "sample" in asked else scenario,
        "sample": asked.get("sample", ""),
        "seed": "0",
    }


def _config_brought(request: HttpRequest, snapshot_id: str) -> str:
    """The configuration that came with the objects of a cluster, empty if there is none."""
    try:
        wanted = UUID(snapshot_id)
    except ValueError:
        return ""
    snapshot = snapshot_selectors.snapshot_get(
        snapshot_id=wanted,
        workspace=workspace_of(request),
        share=request.GET.get("share", ""),
    )
    return snapshot_selectors.snapshot_config(snapshot=snapshot) if snapshot else ""


def _run_create(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.POST)
    values = {name: request.POST.get(name, "") for name in form.fields}
    values["scenario"] = scenario_meant(values["scenario"], values["sample"])
    if request.POST.get("recreate"):
        values["scenario"] = recreating(values["scenario"])
    if not form.is_valid():
        return _run_form(request, values, errors_of(form), HTTPStatus.BAD_REQUEST)
    snapshot = snapshot_selectors.snapshot_get(
        snapshot_id=form.cleaned_data["snapshot"],
        workspace=workspace_of(request),
        share=request.POST.get("share", ""),
    )
    if snapshot is None:
        raise Http404(form.cleaned_data["snapshot"])
    chosen = form.cleaned_data
    release = chosen["release"]
    try:
        if values["sample"]:  # a scenario of one's own may act on what is not there
            check_fit(scenario=values["scenario"], snapshot=snapshot)
        if not request.POST.get("all_the_same"):
            warnings = warnings_of(
                scheduler_config=values["scheduler_config"],
                scenario=values["scenario"],
                asked=form.gates,
                chosen=release_for(release, snapshot),
                snapshot=snapshot,
            )
            if warnings:
                return _run_form(request, values, warnings, HTTPStatus.OK)
        if refused := too_often(request, "run"):
            return _run_form(request, values, [refused], HTTPStatus.TOO_MANY_REQUESTS)
        run = services.run_create(
            workspace=workspace_of(request),
            snapshot=snapshot,
            scheduler_config=chosen["scheduler_config"],
            scenario=values["scenario"],
            seed=chosen["seed"] or 0,
            release=release,
            feature_gates=form.gates,
            tie_break=chosen["tie_break"] or None,
            queue_order=chosen["queue_order"] or "listed",
        )
    except InvalidInput as invalid:
        return _run_form(request, values, invalid.errors, HTTPStatus.BAD_REQUEST)
    except TooManyAtOnce as many:
        errors: list[ErrorItem] = [{"message": str(many)}]
        return _run_form(request, values, errors, HTTPStatus.TOO_MANY_REQUESTS)
    if (cycle := request.POST.get("then", "")).isdecimal():
        return redirect(f"{reverse('run-explore', args=[run.pk])}?c={int(cycle)}")
    return redirect(about(run, request.POST.get("pod", "")))


def _run_form(
    request: HttpRequest, values: dict[str, str], errors: Sequence[ErrorItem], status: HTTPStatus
) -> HttpResponse:
    by_field: dict[str, list[ErrorItem]] = {}
    for error in errors:
        by_field.setdefault(str(error.get("field", "")), []).append(error)
    share = request.GET.get("share", "") or request.POST.get("share", "")
    context = {
        "section": "runs",
        "values": values,
        "recreates": recreates(values["scenario"]),
        "errors": by_field,
        "n_errors": len(errors),
        "may_go_on": status == HTTPStatus.OK,
        "too_often": status == HTTPStatus.TOO_MANY_REQUESTS,
        "marked": {
            name: _marked(values, by_field, name) for name in ("scheduler_config", "scenario")
        },
        **_folds(request, values, by_field),
        "gate_settings": SETTINGS,
        "rules": RULES,
        "orders": ORDERS,
        "releases": RELEASES.values(),
        "example_scenario": EXAMPLE_SCENARIO,
        "presets": PRESETS,
        "step_presets": STEP_PRESETS,
        "sample_scenarios": SAMPLE_SCENARIOS,
        "share": share,
        "pod": request.GET.get("pod", "") or request.POST.get("pod", ""),
        "snapshots": snapshot_selectors.snapshots_visible(
            workspace=workspace_of(request), share=share
        ),
    }
    return render(request, "runs/new.html", context, status=status)


def _folds(
    request: HttpRequest, values: dict[str, str], errors: dict[str, list[ErrorItem]]
) -> dict[str, object]:
    """What of the form is folded away: which part is open, and what each holds.

    A part is open where something in it is wrong, or where the address asks to fill it.
    """
    chosen, by_itself = _releases_of(request, values)
    gates = gate_rows(values, chosen.release)
    gates_differ = any(row.value for row in gates)
    changed = [
        *(label for name, (label, usual) in USUAL.items() if (values.get(name) or usual) != usual),
        *([_("Feature gates")] if gates_differ else []),
    ]
    text = _("changed: {settings}") if changed else ""
    auto_text = (
        _("auto: {release}").format(release=translated(by_itself.text))
        if values["snapshot"]
        else _("auto: as the cluster says")
    )
    return {
        "gates": gates,
        "gates_open": "feature_gates" in errors or gates_differ,
        "open": {
            "scheduler_config": "scheduler_config" in errors or "preset" in request.GET,
            "scenario": "scenario" in errors or "sample" in request.GET,
            "release": "release" in errors,
            "settings": not errors.keys()
            <= {"", "snapshot", "release", "scheduler_config", "scenario"},
        },
        "holds": {
            "release": f"v{chosen.release.name}" if not chosen.told else auto_text,
            "scheduler_config": configuration_named(values["scheduler_config"]),
            "scenario": scenario_named(values["scenario"]) or _("none"),
        },
        "settings_changed": text.format(settings=comma().join(map(str, changed)))
        if changed
        else "",
        "auto": AUTO,
        "auto_text": auto_text,
    }


def _releases_of(request: HttpRequest, values: dict[str, str]) -> tuple[Chosen, Chosen]:
    """The release that the form asks for, and what `AUTO` would be; so is that of unknown names."""
    name, snapshot = values.get("release", ""), None
    try:
        wanted = UUID(values.get("snapshot", ""))
    except ValueError:
        wanted = None
    share = request.GET.get("share", "") or request.POST.get("share", "")
    if wanted is not None:
        snapshot = snapshot_selectors.snapshot_get(
            snapshot_id=wanted, workspace=workspace_of(request), share=share
        )
    by_itself = release_for(AUTO, snapshot)
    return release_for(name, snapshot) if name in RELEASES else by_itself, by_itself


def _marked(
    values: dict[str, str], errors: dict[str, list[ErrorItem]], field: str
) -> list[MarkedLine]:
    bad = {int(error["line"]) for error in errors.get(field, ()) if "line" in error}
    return marked_lines(values.get(field, ""), bad)
