"""The Markdown of lessons as HTML: raw HTML stays text, links go to pages only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import takewhile

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token


class _Renderer(RendererHTML):
    """A wide table scrolls by itself, is reached by keyboard, and is called by its columns."""

    def table_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        head = takewhile(lambda each: each.type != "thead_close", tokens[index:])
        columns = ", ".join(each.content for each in head if each.type == "inline")
        opening = '<div class="table-wrap" role="group" tabindex="0" aria-label="{}"><table>'
        return format_html(opening, columns)

    def table_close(self, *_: object) -> str:
        return "</table></div>"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    return parser.enable("table").disable("image")


def html_of(text: str) -> SafeString:
    """Markdown as HTML; what would be harmful in it is text."""
    html: str = _parser().render(text)
    return mark_safe(html)
