"""What the reference says about plugins, their reasons and their events, on pages."""

from __future__ import annotations

from django import template
from django.utils.translation import pgettext

from kviz.common.wording import without_gaps
from kviz.reference.events import CONTEXT, event_text
from kviz.reference.plugin_guide import PluginGuide, guide_of, reason_guide
from kviz.reference.plugin_texts import Reason

register = template.Library()


@register.filter
def guide(plugin: str) -> PluginGuide | None:
    """What kviz knows about a plugin; None for a user's own."""
    return guide_of(plugin)


@register.filter
def meaning(reason: str) -> Reason | None:
    """What a failure reason means, if it is one of the in-tree plugins'."""
    found = reason_guide(reason)
    return found[1] if found else None


@register.filter
def event_in_words(label: str) -> str:
    """A cluster event such as `NodeAdd`, as a person says it."""
    return without_gaps(event_text(label, lambda text: pgettext(CONTEXT, text)))
