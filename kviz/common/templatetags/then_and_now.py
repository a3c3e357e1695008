"""Yesterday's words, on pages."""

from __future__ import annotations

from django import template

from kviz.common import then_and_now
from kviz.common.then_and_now import Row, Table

register = template.Library()


@register.filter
def rows_of(table: Table, group: str) -> list[Row]:
    return table.of_group(group)


@register.filter
def formerly(term: str) -> list[Row]:
    """The rows of old words that lead to a term of the glossary."""
    return then_and_now.rows_about(term)
