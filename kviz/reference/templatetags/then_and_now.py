"""Yesterday's words, on pages."""

from __future__ import annotations

from django import template

from kviz.reference import then_and_now
from kviz.reference.classic import messages_then, names_then
from kviz.reference.then_and_now import Row, Table

register = template.Library()

NAMES_SHOWN = 2


@register.inclusion_tag("parts/then.html", takes_context=True)
def then_called(context: template.Context, plugin: str, point: str) -> dict[str, object]:
    """What a plugin was called at a point, while old names are wanted."""
    names = names_then(plugin, point) if context.get("classic") else ()
    return {"names": names[:NAMES_SHOWN], "more": len(names) > NAMES_SHOWN}


@register.inclusion_tag("parts/then.html", takes_context=True)
def then_said(context: template.Context, plugin: str) -> dict[str, object]:
    """What messages said where a plugin rejects, while old names are wanted."""
    return {"names": messages_then(plugin) if context.get("classic") else (), "more": False}


@register.filter
def rows_of(table: Table, group: str) -> list[Row]:
    return table.of_group(group)


@register.filter
def formerly(term: str) -> list[Row]:
    """The rows of old words that lead to a term of the glossary."""
    return then_and_now.rows_about(term)
