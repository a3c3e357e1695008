"""Buttons of a run's page: pause, resume, cancel, rename, delete."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from kviz.runs import services
from kviz.runs.pages.access import own_run_of


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
def run_delete(request: HttpRequest, run_id: UUID) -> HttpResponse:
    services.run_delete(run=own_run_of(request, run_id))
    messages.info(request, _("The run was deleted."))
    return redirect("run-list")
