"""The Markdown of lessons as HTML: raw HTML stays text, links go to pages only."""

from __future__ import annotations

from functools import cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def html_of(text: str) -> SafeString:
    """Markdown as HTML; what would be harmful in it is text."""
    html: str = _parser().render(text)
    return mark_safe(html)
