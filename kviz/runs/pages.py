"""Run pages: the list, the form, the findings, the cycles. Reads and writes are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import share_of, workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.csv_file import MEDIA_TYPE as CSV
from kviz.common.csv_file import csv_pieces
from kviz.common.front_end import explorer_is_built
from kviz.common.problems import ErrorItem
from kviz.common.streaming import attachment
from kviz.run_file import RunFileError
from kviz.runs import selectors, services
from kviz.runs.execution.engine import check
from kviz.runs.forms import (
    ORDERS,
    RULES,
    SETTINGS,
    RunForm,
    errors_of,
    gate_rows,
    values_of,
)
from kviz.runs.inputs import (
    InvalidInput,
    at_lines,
    changes_typed,
    check_fit,
    cycle_typed,
    extender_warnings,
    gates_of,
)
from kviz.runs.marked_text import MarkedLine, marked_lines
from kviz.runs.models import Run
from kviz.runs.portable import offline
from kviz.runs.portable.saved import file_name
from kviz.runs.presets import (
    EXAMPLE_SCENARIO,
    PRESETS,
    SAMPLE_SCENARIOS,
    STEP_PRESETS,
    preset_text,
    sample_text,
    scenario_meant,
)
from kviz.runs.reading import tables, trace
from kviz.runs.reading.findings import findings
from kviz.runs.reading.preemption_table import preemption_table
from kviz.runs.reading.score_table import score_table
from kviz.runs.selectors import CycleKind, cycles_filtered
from kviz.snapshots import selectors as snapshot_selectors
from kviz.snapshots.api import stream_of
from kviz.snapshots.policies import policies_of
from scheduler_core.releases import LATEST, RELEASES

RUNS_SHOWN = 200
CYCLES_SHOWN = 100
TABLE_ROWS_SHOWN = 200


def run_of(request: HttpRequest, run_id: UUID) -> Run:
    """The run this request may see. Raises Http404."""
    run = selectors.run_get(run_id=run_id, workspace=workspace_of(request), share=share_of(request))
    if run is None:
        raise Http404(run_id)
    return run


def own_run_of(request: HttpRequest, run_id: UUID) -> Run:
    """The run if it belongs to this workspace: sharing opens reading only. Raises Http404."""
    run = selectors.run_get(run_id=run_id, workspace=workspace_of(request))
    if run is None:
        raise Http404(run_id)
    return run


def run_context(request: HttpRequest, run: Run) -> dict[str, object]:
    """What every page of a run needs."""
    return {
        "section": "runs",
        "run": run,
        "is_own": run.workspace_id == workspace_of(request).pk,
        "share": share_of(request),
    }


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    return _run_list(request)


def _run_list(
    request: HttpRequest, problems: Sequence[ErrorItem] = (), status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "section": "runs",
        "runs": selectors.runs_visible(workspace=workspace_of(request))[:RUNS_SHOWN],
        "problems": problems,
        "problems_title": _("This could not be opened"),
    }
    return render(request, "runs/list.html", context, status=status)


@require_POST
def run_open(request: HttpRequest) -> HttpResponse:
    """Open a run that was saved as a file, here or on another machine."""
    file = request.FILES.get("file") or request.FILES.get("files")
    if file is None:
        nothing: ErrorItem = {"message": _("Choose a file that ends in .kviz.")}
        return _run_list(request, [nothing], HTTPStatus.BAD_REQUEST)
    if refused := too_often(request, "upload"):
        return _run_list(request, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        run = services.run_open(workspace=workspace_of(request), file=stream_of(file))
    except RunFileError as error:
        problem: ErrorItem = {"file": file.name or "", "message": str(error)}
        return _run_list(request, [problem], HTTPStatus.BAD_REQUEST)
    messages.success(request, _("The run was opened from the file and is now one of your runs."))
    return redirect("run-detail", run.pk)


# ---------------------------------------------------------------- the form


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
    brings = snapshot_selectors.sample_of(snapshot_id=snapshot)
    config, scenario = (brings.scheduler_config, brings.scenario) if brings else ("", "")
    return {
        "snapshot": snapshot,
        "scheduler_config": preset_text(asked["preset"]) if "preset" in asked else config,
        "scenario": sample_text(asked["sample"]) if "sample" in asked else scenario,
        "sample": asked.get("sample", ""),
        "seed": "0",
    }


def uuid_of(text: str) -> UUID:
    """The id in an address. Raises Http404."""
    try:
        return UUID(text)
    except ValueError:
        raise Http404(text) from None


def _run_create(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.POST)
    values = {name: request.POST.get(name, "") for name in form.fields}
    values["scenario"] = scenario_meant(values["scenario"], values["sample"])
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
    release = chosen["release"] or LATEST.name
    try:
        if values["sample"]:  # a scenario of one's own may act on what is not there
            check_fit(scenario=values["scenario"], snapshot=snapshot)
        if not request.POST.get("all_the_same"):
            gates = gates_of(asked=form.gates, scenario=values["scenario"], release=release)
            check(scheduler_config=values["scheduler_config"], gates=gates)
            if warnings := extender_warnings(values["scheduler_config"], gates):
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
    if request.POST.get("then") == "explore":
        return redirect(f"{reverse('run-explore', args=[run.pk])}?c=1")
    return redirect("run-detail", run.pk)


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
        "errors": by_field,
        "n_errors": len(errors),
        "may_go_on": status == HTTPStatus.OK,
        "too_often": status == HTTPStatus.TOO_MANY_REQUESTS,
        "marked": {
            name: _marked(values, by_field, name) for name in ("scheduler_config", "scenario")
        },
        "gates": gate_rows(values),
        "gates_open": "feature_gates" in by_field or any(row.value for row in gate_rows(values)),
        "gate_settings": SETTINGS,
        "rules": RULES,
        "orders": ORDERS,
        "releases": RELEASES.values(),
        "example_scenario": EXAMPLE_SCENARIO,
        "presets": PRESETS,
        "step_presets": STEP_PRESETS,
        "sample_scenarios": SAMPLE_SCENARIOS,
        "share": share,
        "snapshots": snapshot_selectors.snapshots_visible(
            workspace=workspace_of(request), share=share
        ),
    }
    return render(request, "runs/new.html", context, status=status)


def _marked(
    values: dict[str, str], errors: dict[str, list[ErrorItem]], field: str
) -> list[MarkedLine]:
    bad = {int(error["line"]) for error in errors.get(field, ()) if "line" in error}
    return marked_lines(values.get(field, ""), bad)


# ---------------------------------------------------------------- variants


@require_http_methods(["GET", "HEAD", "POST"])
def run_differently(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Make a variant of a run: a list of changes, one per line, and when they are made."""
    run = run_of(request, run_id)
    if run.is_observed or run.snapshot is None:
        raise Http404(run_id)
    asked = request.POST if request.method == "POST" else request.GET
    values = {name: asked.get(name, "") for name in ("changes", "cycle")}
    if request.method != "POST":
        return _vary_form(request, run, values, (), HTTPStatus.OK)
    if refused := too_often(request, "run"):
        return _vary_form(request, run, values, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        variant = services.run_vary(
            workspace=workspace_of(request),
            parent=run,
            changes=changes_typed(values["changes"]),
            cycle=cycle_typed(values["cycle"]),
        )
    except InvalidInput as invalid:
        errors = at_lines(invalid.errors, values["changes"])
        return _vary_form(request, run, values, errors, HTTPStatus.BAD_REQUEST)
    return redirect("run-detail", variant.pk)


def _vary_form(
    request: HttpRequest,
    run: Run,
    values: dict[str, str],
    errors: Sequence[ErrorItem],
    status: HTTPStatus,
) -> HttpResponse:
    bad = {int(error["line"]) for error in errors if "line" in error}
    context = run_context(request, run) | {
        "values": values,
        "errors": errors,
        "marked": marked_lines(values["changes"], bad) if bad else [],
        "found": [error for error in errors if "line" in error],
    }
    return render(request, "runs/differently.html", context, status=status)


# ---------------------------------------------------------------- one run


@require_GET
def run_detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    found = findings(run=run)
    context = run_context(request, run) | {
        "findings": found,
        "bound_before": max(0, run.bound - found.n_scheduled) if run.last_seq >= 0 else "",
        "steps_refused": trace.steps_refused(run=run),
        "parent": selectors.parent_of(run=run, workspace=workspace_of(request)),
        "own_changes": selectors.own_changes(run=run),
        "variants": selectors.variants_of(run=run, workspace=workspace_of(request)),
    }
    if run.is_over:
        context |= _exports(run)
        context["before"] = selectors.run_before(run=run, workspace=workspace_of(request))
    return render(request, "runs/detail.html", context)


def _exports(run: Run) -> dict[str, object]:
    """What the run can be saved as, and how large that will be."""
    context: dict[str, object] = {"run_file_bytes": selectors.stored_bytes(run=run).all}
    try:
        page_bytes = offline.expected_bytes(run)
    except offline.NotBuilt:
        return context
    refused = page_bytes > settings.MAX_OFFLINE_BYTES
    text = offline.too_large_text(page_bytes) if refused else ""
    return context | {"page_bytes": page_bytes, "page_refused": text}


@require_GET
def run_cycles(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    kind, pod = CycleKind.of(request.GET.get("kind", "")), request.GET.get("pod", "")
    after = _number(request.GET.get("after", ""))
    rows = list(cycles_filtered(run=run, kind=kind, pod=pod, after=after)[: CYCLES_SHOWN + 1])
    shown = rows[:CYCLES_SHOWN]
    query = {"kind": kind, "pod": pod, "share": share_of(request)}
    filled = {name: value for name, value in query.items() if value}
    context = run_context(request, run) | {
        "cycles": shown,
        "kind": kind,
        "pod": pod,
        "after": after,
        "filter": urlencode(filled),
        "next": urlencode(filled | {"after": shown[-1].number}) if len(rows) > len(shown) else "",
        "first": urlencode(filled) if after else "",
    }
    return render(request, "runs/cycles.html", context)


@require_GET
def run_policies(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Budgets and priority classes of the run's cluster, as uploaded."""
    run = run_of(request, run_id)
    if run.snapshot is None:
        raise Http404(run_id)
    context = run_context(request, run) | {"policies": policies_of(run.snapshot)}
    return render(request, "runs/policies.html", context)


@require_GET
def run_cycles_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """The cycles of the same filter as a file, all of them."""
    run = run_of(request, run_id)
    kind, pod = CycleKind.of(request.GET.get("kind", "")), request.GET.get("pod", "")
    rows = tables.cycle_rows(run, kind=kind, pod=pod)
    return _table(run, "cycles", csv_pieces(tables.CYCLE_COLUMNS, rows))


@require_GET
def run_pods_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Every pod of the run that was queued or evicted, as a file."""
    run = run_of(request, run_id)
    return _table(run, "pods", csv_pieces(tables.POD_COLUMNS, tables.pod_rows(run)))


def _table(run: Run, name: str, pieces: Iterator[bytes]) -> HttpResponseBase:
    return attachment(pieces, name=file_name(run, f"-{name}.csv"), media_type=CSV)


def _number(text: str) -> int:
    """A positive number from an address; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


@require_GET
def run_explore(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The Explorer's mount point, and the same cycle as tables for those who prefer them."""
    run = run_of(request, run_id)
    number = _number(request.GET.get("c", "")) or 1
    cycle = trace.cycle_get(run=run, cycle=number)
    shown = None if request.GET.get("rows") == "all" else TABLE_ROWS_SHOWN
    context = run_context(request, run) | {
        "cycle": cycle,
        "rejected": list(cycle["filter"].items())[:shown] if cycle else [],
        "scores": score_table(cycle, shown) if cycle else None,
        "candidates": preemption_table(cycle) if cycle else None,
        "number": number,
        "previous": number - 1,
        "next": number + 1 if number < run.cycles else 0,
        "view": request.GET.get("view", ""),
        "has_devices": selectors.has_devices(run=run),
        **(_exports(run) if run.is_over else {}),
        "as_tables": request.GET.get("view") == "tables" or not explorer_is_built(),
    }
    return render(request, "runs/explore.html", context)


@require_POST
def run_pause(request: HttpRequest, run_id: UUID) -> HttpResponse:
    services.run_pause(run=own_run_of(request, run_id))
    return redirect("run-detail", run_id)


@require_POST
def run_resume(request: HttpRequest, run_id: UUID) -> HttpResponse:
    services.run_resume(run=own_run_of(request, run_id))
    return redirect("run-detail", run_id)


@require_POST
def run_cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = own_run_of(request, run_id)
    if services.run_cancel(run=run):
        messages.info(request, _("The run was stopped. Its cycles so far are stored."))
    return redirect("run-detail", run.pk)


@require_POST
def run_rename(request: HttpRequest, run_id: UUID) -> HttpResponse:
    services.run_rename(run=own_run_of(request, run_id), name=request.POST.get("name", ""))
    return redirect("run-detail", run_id)


@require_POST
def run_share(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = own_run_of(request, run_id)
    token = services.run_share(run=run)
    link = request.build_absolute_uri(
        f"{reverse('run-detail', args=[run.pk])}?{urlencode({'share': token})}"
    )
    messages.success(
        request, _("Everyone with this link can read the run: %(link)s") % {"link": link}
    )
    return redirect("run-detail", run.pk)


@require_POST
def run_delete(request: HttpRequest, run_id: UUID) -> HttpResponse:
    services.run_delete(run=own_run_of(request, run_id))
    messages.info(request, _("The run was deleted."))
    return redirect("run-list")
