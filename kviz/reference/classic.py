"""The classic switch: yesterday's names beside today's, off unless somebody wants them.

It is a cookie, for pages and the Explorer alike; `?classic=on` or `off` in an address goes first.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponseBase

from kviz.reference.then_and_now import NAMES, Row, table
from scheduler_core.config.old_names import OLD_NAMES, Former

COOKIE: Final = "kviz_classic"
YEAR_S: Final = 365 * 24 * 3600
ON: Final = "on"

_AT: Final[dict[str, Former]] = {
    "PreFilter": "predicate",
    "Filter": "predicate",
    "PreScore": "priority",
    "Score": "priority",
}


def is_classic(request: HttpRequest) -> bool:
    asked = request.GET.get("classic", "")
    return (asked if asked in (ON, "off") else request.COOKIES.get(COOKIE, "")) == ON


def classic_context(request: HttpRequest) -> dict[str, object]:
    """For templates: whether old names are shown."""
    return {"classic": is_classic(request)}


def remember(response: HttpResponseBase, *, wanted: str) -> None:
    """Set the cookie, or take it away."""
    if wanted == ON:
        response.set_cookie(COOKIE, ON, max_age=YEAR_S, samesite="Lax")
    else:
        response.delete_cookie(COOKIE)


def was(row: Row) -> str:
    """`predicate`, `priority` or `plugin` for a row of names; empty for others."""
    return OLD_NAMES[row.then[0]].was if row.group == NAMES else ""


def names_then(plugin: str, point: str) -> tuple[str, ...]:
    """What did at a point, in earlier releases, the work of a plugin; in the table's order."""
    kind = _AT.get(point)
    rows = (row for row in table().rows if plugin in row.plugins and kind and was(row) == kind)
    return tuple(name for row in rows for name in row.then)


def messages_then(plugin: str) -> tuple[str, ...]:
    """What messages said, in earlier releases, where a plugin rejects now."""
    rows = (row for row in table().rows if row.group == "messages" and plugin in row.plugins)
    return tuple(row.then[0] for row in rows)
