"""Pages to read beside a text: the list, one text, and the opening of what a row shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language, override, pgettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.limits import TooManyAtOnce
from kviz.common.problems import ErrorItem
from kviz.companion.library import shelf
from kviz.companion.pages_named import link
from kviz.companion.reading import CONTEXT, Place, Reading, Row
from kviz.companion.services import run_of_place
from kviz.companion.staging import NoSuchLesson, staged
from kviz.lessons import selectors
from kviz.reference.form import with_prose
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from scheduler_core.config.problems import ConfigError

KINDS: Final = {
    "same": _("as in the text"),
    "renamed": _("renamed"),
    "different": _("different today"),
    "gone": _("gone"),
    "elsewhere": _("not the scheduler"),
}

VIEWS: Final = {
    "model": "run-model",
    "optimum": "run-optimum",
    "luck": "run-luck",
    "run": "run-detail",
    "why": "run-why",
}
"""By the view of a place the name of its address, but for the Explorer."""


@dataclass(frozen=True)
class ShownRow:
    """A row of a page with its links; `number` is its place, from 1."""

    number: int
    row: Row
    kind: object
    links: tuple[tuple[str, str, str], ...]
    where: str


def readings() -> dict[str, Reading]:
    """The pages by their names, in the reader's language."""
    return _in(get_language() or settings.LANGUAGE_CODE, settings.LESSONS_DIR)


def _named(name: str) -> Reading:
    """Raise Http404 for a page that there is not."""
    found = readings().get(name)
    if found is None:
        raise Http404(name)
    return found


@cache
def _in(language: str, folder: str) -> dict[str, Reading]:
    """The pages with their texts in a language; English where there is no translation."""
    with override(language):
        return {
            name: with_prose(reading, lambda text: pgettext(CONTEXT, text) if text else text)
            for name, reading in shelf(folder).readings.items()
        }


@require_GET
def reading_list(request: HttpRequest) -> HttpResponse:
    broken = shelf(settings.LESSONS_DIR).broken
    context = {
        "section": "read",
        "readings": readings().items(),
        "broken": [(path.name, each) for path, problems in broken.items() for each in problems],
    }
    return render(request, "companion/list.html", context)


@require_GET
def reading_detail(request: HttpRequest, name: str) -> HttpResponse:
    return _page(request, name, _named(name))


@require_POST
def reading_open(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Open what a row shows; its run is made if the workspace has none."""
    reading = _named(name)
    place = reading.rows[number - 1].at if 1 <= number <= len(reading.rows) else None
    if place is None:
        raise Http404(number)
    if refused := too_often(request, "run"):
        return _page(request, name, reading, [refused])
    try:
        stage = staged(place, reading, selectors.lessons())
        run = run_of_place(workspace=workspace_of(request), stage=stage)
    except NoSuchLesson:
        raise Http404(place.lesson) from None
    except ConfigError as error:
        return _page(request, name, reading, [{"message": str(each)} for each in error.problems])
    except InvalidInput as invalid:
        return _page(request, name, reading, invalid.errors)
    except TooManyAtOnce as many:
        return _page(request, name, reading, [{"message": str(many)}])
    return redirect(address_of(place, run))


def address_of(place: Place, run: Run) -> str:
    """Where in a run a place is."""
    match place.view:
        case "explorer":
            wanted: dict[str, str | int | None] = {
                "c": place.cycle,
                "p": place.point,
                "g": place.plugin,
                "pod": place.pod,
                "n": place.node,
                "tab": place.tab,
            }
            query = urlencode([(key, value) for key, value in wanted.items() if value])
            return f"{reverse('run-explore', args=[run.pk])}?{query}"
        case "model":
            return reverse("run-model", args=[run.pk, place.cycle])
        case "why":
            return reverse("run-why", args=[run.pk, *place.pod.split("/", 1)])
        case view:
            return reverse(VIEWS[view], args=[run.pk])


def _page(
    request: HttpRequest, name: str, reading: Reading, errors: Sequence[ErrorItem] = ()
) -> HttpResponse:
    lessons = selectors.lessons()
    rows = [
        ShownRow(
            number=i,
            row=row,
            kind=KINDS[row.kind],
            links=tuple(link(see, lessons) for see in row.see),
            where=_where(row.at) if row.at else "",
        )
        for i, row in enumerate(reading.rows, 1)
    ]
    context = {"section": "read", "name": name, "reading": reading, "rows": rows, "errors": errors}
    status = HTTPStatus.BAD_REQUEST if errors else HTTPStatus.OK
    return render(request, "companion/detail.html", context, status=status)


def _where(place: Place) -> str:
    """The moment in short: cycle, point and plugin."""
    names = (place.point, place.plugin, place.node)
    return " · ".join(each for each in names if each)
