"""What stands between the parts of a sentence that a template puts together."""

from __future__ import annotations

from django import template
from django.utils.translation import pgettext

register = template.Library()


@register.simple_tag
def comma() -> str:
    return pgettext("punctuation", ", ")


@register.simple_tag
def semicolon() -> str:
    return pgettext("punctuation", "; ")


@register.simple_tag
def colon() -> str:
    return pgettext("punctuation", ": ")


@register.simple_tag
def full_stop() -> str:
    return pgettext("punctuation", ".")
