"""Where a page stands: the entries of the menu, and the pages inside the one that is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django import template
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

register = template.Library()


@dataclass(frozen=True)
class Place:
    """A page that menus name: its `section` as views give it, and its address by name."""

    section: str
    text: StrOrPromise
    address: str


@dataclass(frozen=True)
class Entry:
    """An entry of the menu; the first of its pages is the one that it opens."""

    text: StrOrPromise
    pages: tuple[Place, ...]

    @property
    def address(self) -> str:
        return self.pages[0].address

    def has(self, section: str) -> bool:
        return any(page.section == section for page in self.pages)


ENTRIES: Final = (
    Entry(
        _("Clusters"),
        (
            Place("snapshots", _("Clusters"), "snapshot-list"),
            Place("real", _("Real clusters"), "cluster-list"),
        ),
    ),
    Entry(
        _("Runs"),
        (
            Place("runs", _("Runs"), "run-list"),
            Place("compare", _("Compare"), "run-compare"),
            Place("experiments", _("Experiments"), "experiment-list"),
        ),
    ),
    Entry(
        _("Learn"),
        (
            Place("learn", _("Lessons"), "lesson-list"),
            Place("read", _("Read along"), "reading-list"),
            Place("by-hand", _("Beat the scheduler"), "by-hand"),
        ),
    ),
    Entry(_("Teach"), (Place("teach", _("Teach"), "teach"),)),
    Entry(
        _("Docs"),
        (
            Place("docs", _("Guides"), "document-list"),
            Place("plugins", _("Plugins"), "plugin-list"),
            Place("glossary", _("Glossary"), "glossary"),
            Place("then", _("Then and now"), "then-and-now"),
            Place("fidelity", _("Fidelity"), "fidelity"),
            Place("rest", _("REST"), "rest"),
        ),
    ),
)


@register.inclusion_tag("parts/main_menu.html")
def main_menu(section: str) -> dict[str, object]:
    """The menu, with the entry marked that a page's `section` belongs to."""
    return {"entries": [(entry, entry.has(section)) for entry in ENTRIES]}


@register.inclusion_tag("parts/places.html")
def places_inside(section: str) -> dict[str, object]:
    """The pages inside the open entry, unless it is one page only."""
    entry = next((entry for entry in ENTRIES if entry.has(section)), None)
    inside = entry is not None and len(entry.pages) > 1
    return {"entry": entry if inside else None, "section": section}
