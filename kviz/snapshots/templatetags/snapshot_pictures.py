"""`{% mini_map snapshot %}`: a cluster's nodes as cells, by zone, the fuller the darker."""

from __future__ import annotations

from typing import Final

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from kviz.snapshots.models import Snapshot

register = template.Library()

PITCH: Final = 10
CELL: Final = 8
PER_ROW: Final = 12
GAP: Final = 6
"""Between zones, in the units of the drawing."""


@register.simple_tag
def mini_map(snapshot: Snapshot, scale: int = 1) -> SafeString:
    """The picture, without words: what it shows stands beside it. Empty where nothing is stored.

    A cell is 8 pixels wide, times `scale`.
    """
    zones = snapshot.overview.get("zones", [])
    cells: list[tuple[int, int, str]] = []
    top = 0
    for levels in zones:
        for i, level in enumerate(levels):
            x, y = i % PER_ROW * PITCH, top + i // PER_ROW * PITCH
            cells.append((x, y, "closed" if level < 0 else str(level)))
        top += -(-len(levels) // PER_ROW) * PITCH + GAP
    if not cells:
        return mark_safe("")
    width = max(x for x, _, _ in cells) + CELL
    rects = format_html_join(
        "",
        '<rect x="{}" y="{}" width="8" height="8" rx="1.5" class="minimap__{}"/>',
        cells,
    )
    height = top - GAP - PITCH + CELL
    return format_html(
        '<svg class="minimap" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true">'
        "{}</svg>",
        *(width, height, width * scale, height * scale, rects),
    )
