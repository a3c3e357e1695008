"""A lesson in its reader's language: what it says changes, what the engine is asked does not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final, TypeVar

import msgspec
from django.utils.translation import override, pgettext

from kviz.lessons.library import Library, StoredLesson, library
from kviz.lessons.texts import TEXTS
from kviz.reference.form import Part

CONTEXT: Final = "lesson"
"""Of a lesson's texts in the catalogues."""

AnyPart = TypeVar("AnyPart", bound=Part)


@cache
def library_in(language: str, folder: str) -> Library:
    """The lessons in a language: by texts of their own, else by the catalogues, as far as known."""
    found = library(folder)
    with override(language):
        return Library(
            tuple(_translated_stored(each, language) for each in found.lessons), found.broken
        )


def _translated_stored(stored_lesson: StoredLesson, language: str) -> StoredLesson:
    own = dict(stored_lesson.languages).get(language)
    return replace(stored_lesson, lesson=own or translated(stored_lesson.lesson))


def translated(part: AnyPart) -> AnyPart:
    """A part of a lesson with its texts in the active language."""
    changed = {name: _in_language(name, getattr(part, name)) for name in part.__struct_fields__}
    return msgspec.structs.replace(part, **changed)


def _in_language(name: str, value: object) -> object:
    if isinstance(value, Part):
        return translated(value)
    if isinstance(value, tuple):
        return tuple(_in_language("", each) for each in value)
    if name in TEXTS and isinstance(value, str) and value.strip():
        return pgettext(CONTEXT, value.strip())
    return value
