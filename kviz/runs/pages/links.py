"""Share links: made for a run, listed, revoked one by one or all."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import person_of, workspace_of
from kviz.common.expiry import in_days
from kviz.runs import selectors, sharing
from kviz.runs.pages.access import own_run_of

SHOWN = 500


@require_GET
def link_list(request: HttpRequest) -> HttpResponse:
    """All links to the workspace's runs; who may not share is not shown their addresses."""
    links = list(selectors.links_of(workspace=workspace_of(request))[:SHOWN])
    context = {
        "section": "runs",
        "links": [(each, request.build_absolute_uri(each.get_absolute_url())) for each in links],
        "n_open": sum(each.is_open for each in links),
    }
    return render(request, "runs/links.html", context)


@require_POST
def run_share(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = own_run_of(request, run_id)
    days = request.POST.get("days", "")
    if days not in ("", *map(str, sharing.DAYS)):
        raise Http404  # the form offers no others
    link = sharing.run_share(
        run=run,
        made_by=person_of(request),
        expires_at=in_days(int(days) if days else None),
    )
    address = request.build_absolute_uri(link.get_absolute_url())
    text = _("Everyone with this link can read the run: %(link)s")
    messages.success(request, text % {"link": address})
    return redirect("run-detail", run.pk)


@require_POST
def run_unshare(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = own_run_of(request, run_id)
    sharing.run_unshare(run=run)
    messages.success(request, _("No link opens the run any more."))
    return redirect("run-detail", run.pk)


@require_POST
def link_revoke(request: HttpRequest, link_id: int) -> HttpResponse:
    found = selectors.links_of(workspace=workspace_of(request)).filter(pk=link_id).first()
    if found is None:
        raise Http404(link_id)
    sharing.link_revoke(link=found)
    messages.success(request, _("The link was revoked."))
    return redirect("link-list")


@require_POST
def links_revoke(request: HttpRequest) -> HttpResponse:
    n = sharing.links_revoke(workspace=workspace_of(request))
    text = ngettext("%(n)d link was revoked.", "%(n)d links were revoked.", n)
    messages.success(request, text % {"n": n})
    return redirect("link-list")
