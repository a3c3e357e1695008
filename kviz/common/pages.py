"""Pages that need no data of anybody's: the plugin reference and the fidelity report."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from kviz.common import fidelity
from kviz.common.plugin_guide import GUIDES, guide_of


def plugin_list(request: HttpRequest) -> HttpResponse:
    return render(request, "plugins/list.html", {"section": "plugins", "guides": GUIDES})


def plugin_detail(request: HttpRequest, name: str) -> HttpResponse:
    guide = guide_of(name)
    if guide is None:
        raise Http404(name)
    report = fidelity.report()
    parity = report.by_plugin.get(name) if report else None
    context = {"section": "plugins", "guide": guide, "parity": parity}
    return render(request, "plugins/detail.html", context)


def about_fidelity(request: HttpRequest) -> HttpResponse:
    context = {
        "section": "fidelity",
        "report": fidelity.report(),
        "differences": fidelity.DIFFERENCES,
    }
    return render(request, "about/fidelity.html", context)
