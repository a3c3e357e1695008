"""The words that scripts of a class need, for a page to carry along."""

from __future__ import annotations

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from kviz.by_hand.words import WORDS as BOARD
from kviz.classroom.words import WORDS

register = template.Library()


@register.simple_tag
def class_words() -> SafeString:
    return json_script({name: str(text) for name, text in {**BOARD, **WORDS}.items()}, "page-words")
