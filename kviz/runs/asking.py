"""What questions have on the pages of a run; each registers its own when kviz starts.

Pages of a run know that there are questions, not which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from kviz.runs.models import Run

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Shown = tuple[str, Mapping[str, object]]
"""A template, and what it reads as `part`."""


@dataclass(frozen=True)
class Part:
    """A part of a page: what the template reads; None where it has nothing to say.

    `pod` is the pod that the page is about, empty on the page of the run.
    """

    template: str
    read: Callable[[HttpRequest, Run, str], Mapping[str, object] | None]

    def shown(self, request: HttpRequest, run: Run, pod: str = "") -> list[Shown]:
        found = self.read(request, run, pod)
        return [] if found is None else [(self.template, found)]


@dataclass(frozen=True)
class Button:
    """A question about a run that is over, and what one learns from its answer."""

    label: _StrPromise
    address: Callable[[Run, str], str]
    """For a run and the token that shares it, which may be empty."""
    hint: _StrPromise
    place: int
    """Among the questions, the smallest first."""
    is_for: Callable[[Run], bool] = lambda _run: True


OF_POD: Final[list[Part]] = []
"""Under why a pod is pending."""
BUTTONS: Final[list[Button]] = []


def parts_of(parts: list[Part], request: HttpRequest, run: Run, pod: str = "") -> list[Shown]:
    return [shown for part in parts for shown in part.shown(request, run, pod)]


def page_of_run(name: str) -> Callable[[Run, str], str]:
    """The address `name` of a run."""
    return lambda run, share: _with(reverse(name, args=[run.pk]), share=share)


def form_about_run(name: str, **query: str) -> Callable[[Run, str], str]:
    """The address `name` of a form, with the run in its query."""
    return lambda run, share: _with(reverse(name), run=str(run.pk), **query, share=share)


def _with(address: str, **query: str) -> str:
    filled = {name: value for name, value in query.items() if value}
    return f"{address}?{urlencode(filled)}" if filled else address
