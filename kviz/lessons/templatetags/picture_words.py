"""The words that the script of a picture needs, for a page to carry along."""

from __future__ import annotations

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from kviz.lessons.picture_words import WORDS

register = template.Library()


@register.simple_tag
def picture_words() -> SafeString:
    return json_script({name: str(text) for name, text in WORDS.items()}, "page-words")
