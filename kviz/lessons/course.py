"""The lessons that come with kviz as a course: chapters in order, and what to know before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Item = TypeVar("Item")


@dataclass(frozen=True)
class Chapter:
    """Lessons, by their slugs, in the order in which they are taken."""

    title: str | Promise
    lessons: tuple[str, ...]


CHAPTERS: Final = (
    Chapter(
        _("Where a pod fits"),
        ("one-pods-way", "what-is-a-node", "requests", "taints", "affinity", "spread", "volumes",
         "devices"),
    ),
    Chapter(
        _("Which node is best"),
        ("scores", "normalisation", "default-spreading", "ties", "sampling"),
    ),
    Chapter(
        _("Waiting and making room"),
        ("queueing-hints", "backoff", "gates", "priority-classes", "preemption", "victims",
         "nominated", "outbid", "permit"),
    ),
    Chapter(
        _("All pods together"),
        ("the-optimum", "regret", "formal-model", "debug-this-cluster", "what-1-37-changed"),
    ),
)  # fmt: skip

BEFORE: Final[Mapping[str, tuple[str, ...]]] = {
    "requests": ("what-is-a-node",),
    "spread": ("affinity",),
    "devices": ("requests",),
    "scores": ("one-pods-way", "requests"),
    "normalisation": ("scores", "taints"),
    "default-spreading": ("spread", "scores"),
    "ties": ("scores",),
    "sampling": ("scores",),
    "backoff": ("queueing-hints",),
    "preemption": ("requests", "priority-classes"),
    "victims": ("preemption",),
    "nominated": ("preemption",),
    "outbid": ("nominated",),
    "permit": ("one-pods-way",),
    "the-optimum": ("scores",),
    "regret": ("the-optimum", "affinity"),
    "formal-model": ("victims", "the-optimum"),
    "debug-this-cluster": ("taints", "affinity", "gates"),
    "what-1-37-changed": ("affinity", "gates", "nominated"),
}
"""What to know before a lesson."""


def order() -> tuple[str, ...]:
    """All lessons of the course, in order."""
    return tuple(slug for chapter in CHAPTERS for slug in chapter.lessons)


def by_chapter(
    items: Sequence[Item], slug_of: Callable[[Item], str]
) -> Iterator[tuple[str | Promise, list[Item]]]:
    """Yield the titles of chapters and what belongs to them; what is in none comes last."""
    known = {slug_of(item): item for item in items}
    for chapter in CHAPTERS:
        yield chapter.title, _pick(known, chapter.lessons)
    others = [item for item in items if slug_of(item) not in order()]
    if others:
        yield _("Lessons of this server"), others


def _pick(known: Mapping[str, Item], slugs: Iterable[str]) -> list[Item]:
    return [known[slug] for slug in slugs if slug in known]


def after(slug: str) -> str | None:
    """The lesson that follows another in the course; None after the last, and for others."""
    slugs = order()
    place = slugs.index(slug) + 1 if slug in slugs else len(slugs)
    return slugs[place] if place < len(slugs) else None
