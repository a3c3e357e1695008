"""Pages that need no data of anybody's: plugins, glossary, documents, the fidelity report."""

from __future__ import annotations

from typing import Final

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from msgspec.structs import asdict

from kviz.common.wording import translated
from kviz.reference import classic, documents, fidelity, rest, search, then_and_now
from kviz.reference.glossary import glossary
from kviz.reference.plugin_guide import guide_of, guides, teaching_guides
from scheduler_core.config.features import NOT_MODELLED
from scheduler_core.releases import LATEST, RELEASES, UnknownRelease, release_named
from scheduler_core.releases.switches import SWITCHES, Switch

MAX_ASKED: Final = 200
"""Characters of what is searched for."""


def _release(request: HttpRequest) -> str:
    """The release that the address asks for, the newest if it asks for none.

    Raises Http404 for one that kviz does not know.
    """
    try:
        return release_named(request.GET.get("release") or LATEST.name)
    except UnknownRelease as unknown:
        raise Http404(translated(unknown.text)) from None


@require_safe
def plugin_list(request: HttpRequest) -> HttpResponse:
    release = _release(request)
    context = {
        "section": "plugins",
        "guides": guides(release),
        "teaching": teaching_guides(),
        "release": release,
        "releases": RELEASES,
    }
    return render(request, "plugins/list.html", context)


@require_safe
def plugin_detail(request: HttpRequest, name: str) -> HttpResponse:
    release = _release(request)
    guide = guide_of(name, release)
    if guide is None:
        raise Http404(name)
    report = fidelity.report()
    parity = report.by_plugin.get(name) if report else None
    context = {
        "section": "plugins",
        "guide": guide,
        "parity": parity,
        "release": release,
        "minor": RELEASES[release].minor,
        "releases": RELEASES,
    }
    return render(request, "plugins/detail.html", context)


@require_safe
def glossary_page(request: HttpRequest) -> HttpResponse:
    return render(request, "about/glossary.html", {"section": "glossary", "glossary": glossary()})


@require_safe
def then_and_now_page(request: HttpRequest) -> HttpResponse:
    """Yesterday's words and what is there today; `q` asks for one of them."""
    q = request.GET.get("q", "").strip()
    context = {
        "section": "then",
        "q": q,
        "table": then_and_now.table().matching(q),
        "minors": then_and_now.MINORS,
        "switches": [] if q else switch_rows(),
        "releases": RELEASES,
    }
    return render(request, "about/then_and_now.html", context)


def switch_rows() -> list[tuple[Switch, list[bool]]]:
    """What releases do otherwise than v1.36.2: each switch, and in which of them it is on."""
    tables = [asdict(release.switches) for release in RELEASES.values()]
    return [(switch, [table[name] for table in tables]) for name, switch in SWITCHES.items()]


@require_safe
def old_words(request: HttpRequest) -> JsonResponse:
    """The same for the Explorer, where one finds things by typing."""
    page = reverse("then-and-now")
    words = [
        {
            "then": row.then,
            "now": row.latest,
            "href": f"{page}#{row.id}",
            "group": row.group,
            "was": classic.was(row),
            "plugins": row.plugins,
            "terms": row.terms,
        }
        for row in then_and_now.table().rows
    ]
    functions = {
        point: {"then": each.then, "now": each.now}
        for point, each in then_and_now.english_rows().functions.items()
    }
    return JsonResponse(
        {"words": words, "functions": functions},
        headers={"Cache-Control": "private, max-age=3600", "Vary": "Cookie"},
    )


@require_POST
def classic_switch(request: HttpRequest) -> HttpResponse:
    """Show yesterday's names beside today's from now on, or no longer."""
    response = redirect("then-and-now")
    classic.remember(response, wanted=request.POST.get("classic", ""))
    return response


@require_safe
def rest_page(request: HttpRequest) -> HttpResponse:
    """The REST interface for people: every operation, its documents, and how to call it."""
    site = request.build_absolute_uri("/").rstrip("/")
    context = {"section": "rest", "interface": rest.interface(), "site": site}
    return render(request, "about/rest.html", context)


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    """The documents; `q` asks for words in them, the glossary, the plugins and the old words."""
    q = request.GET.get("q", "").strip()[:MAX_ASKED]
    context = {
        "section": "docs",
        "q": q,
        "kinds": search.found(q) if q else (),
        "groups": () if q else documents.groups(),
    }
    return render(request, "about/documents.html", context)


@require_safe
def document_page(request: HttpRequest, name: str) -> HttpResponse:
    found = documents.document(name)
    if found is None:
        raise Http404(name)
    return render(request, "about/document.html", {"section": "docs", "document": found})


@require_safe
def document_image(request: HttpRequest, name: str) -> HttpResponse:
    path = documents.image(name)
    if path is None:
        raise Http404(name)
    return HttpResponse(path.read_bytes(), content_type=documents.IMAGE_TYPES[path.suffix])


@require_safe
def about_fidelity(request: HttpRequest) -> HttpResponse:
    report = fidelity.report()
    compared = report.by_plugin if report else {}
    context = {
        "section": "fidelity",
        "report": report,
        "silent": [guide.name for guide in guides() if guide.name not in compared],
        "verified": fidelity.verified(),
        "bugs": fidelity.known_bugs(),
        "differences": fidelity.differences(),
        "not_modelled": sorted(NOT_MODELLED.items()),
        "own": [guide.name for guide in teaching_guides()],
    }
    return render(request, "about/fidelity.html", context)
