"""Pages that a row names and that are no runs: whether they are there, and what leads to them."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from django.utils.translation import get_language, gettext

from kviz.companion.reading import See
from kviz.lessons.library import Library
from kviz.reference.documents import GROUPS, document
from kviz.reference.glossary import Glossary, english_glossary, glossary
from kviz.reference.plugin_facts import plugin_facts
from kviz.reference.then_and_now import english_table


def is_there(see: See, lessons: Library) -> bool:
    """Whether there is what a row names."""
    kind, name = see.named
    match kind:
        case "glossary":
            return bool(_glossary_name(english_glossary(), name))
        case "plugin":
            return name in plugin_facts()
        case "old_word":
            return name in {row.id for row in english_table().rows}
        case "document":
            return any(name.partition("#")[0] in group for _title, group in GROUPS)
        case _:
            return lessons.get(name) is not None


def link(see: See, lessons: Library) -> tuple[str, str, str]:
    """What the page is called, its address, and in which language it is called so."""
    kind, name = see.named
    name, _, anchor = name.partition("#")
    language = get_language() or settings.LANGUAGE_CODE
    match kind:
        case "glossary":
            text, address = _glossary_name(glossary(), name), f"{reverse('glossary')}#{name}"
        case "old_word":
            text, address = gettext("Then and now"), f"{reverse('then-and-now')}#{name}"
        case "document":
            found = document(name)
            text, language = (found.title, found.language) if found else (name, language)
            address = reverse("document", args=[name]) + (f"#{anchor}" if anchor else "")
        case "lesson":
            stored_lesson = lessons.get(name)
            text = stored_lesson.lesson.title if stored_lesson else name
            address = reverse("lesson-detail", args=[name])
        case _:
            text, address = name, reverse("plugin-detail", args=[name])
    return text, address, language


def _glossary_name(found: Glossary, anchor: str) -> str:
    """The name of the term or group that an anchor of the glossary is of; empty for none."""
    term = found.terms.get(anchor)
    groups = {group.id: group.title for group in found.groups}
    return term.name if term else groups.get(anchor, "")
