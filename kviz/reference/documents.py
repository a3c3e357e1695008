"""The documents below `docs/`, rendered as pages: own Markdown, whose raw HTML stays text.

Those that are translated are there in each language, with the anchors that they have in English.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import get_language, override, pgettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from kviz.document_text import CONTEXT, TRANSLATED, is_text, parts_of, text_of

INDEX: Final = (
    "concepts",
    "evidence",
    "configuration",
    "scenarios",
    "changes",
    "lab",
    "lessons",
    "classes",
    "by-hand",
    "experiments",
    "unblock",
    "answers",
    "luck",
    "rules",
    "model",
    "optimum",
    "then-and-now",
    "advice",
    "comparing",
    "exporting",
    "clusters",
    "following",
    "extenders",
    "mcp",
    "plugins-out-of-tree",
    "installing",
    "accounts",
    "operation",
    "fidelity",
    "performance",
    "architecture",
    "adr/README",
)
"""In the order of the page that lists them."""

ENGLISH: Final = "en"

IMAGE_TYPES: Final = {".svg": "image/svg+xml", ".png": "image/png"}

NAME = re.compile(r"(?:[A-Za-z0-9-]+/)*[A-Za-z0-9-]+")
IMAGE_NAME = re.compile(r"[a-z0-9-]+\.(?:svg|png)")
OUTSIDE = re.compile(r"[a-z]+:|#")


@dataclass(frozen=True)
class Document:
    """`name` is the path below `docs/` without its ending; `lead` the first sentence.

    `language` is that of its text, which need not be the reader's.
    """

    name: str
    language: str
    title: str
    lead: str
    html: SafeString

    @property
    def url(self) -> str:
        return reverse("document", args=[self.name])


def _file(name: str) -> Path:
    return Path(settings.DOCS_DIR) / name


def image(name: str) -> Path | None:
    """The file of a picture in the documents."""
    path = _file(f"img/{name}")
    return path if IMAGE_NAME.fullmatch(name) and path.is_file() else None


def document(name: str) -> Document | None:
    """The document of this name in the reader's language, in English if it is not translated."""
    return _document(name, get_language() or ENGLISH if name in TRANSLATED else ENGLISH)


@cache
def _document(name: str, language: str) -> Document | None:
    path = _file(f"{name}.md")
    if not NAME.fullmatch(name) or not path.is_file():
        return None
    tokens = _parser().parse(path.read_text(encoding="utf-8"))
    anchors = _anchors(tokens)
    with override(language):
        _translate(tokens)
    _prepare(tokens, anchors, posixpath.dirname(name))
    inline = [token for token in tokens if token.type == "inline"]
    html = _parser().renderer.render(tokens, _parser().options, {})
    title, lead = (_plain(token) for token in inline[:2])
    return Document(name, language, title, _first_sentence(lead), mark_safe(html))


def documents() -> list[Document]:
    found = [document(name) for name in INDEX]
    return [each for each in found if each is not None]


# ---------------------------------------------------------------- Markdown


class _Renderer(RendererHTML):
    """Wide parts scroll by themselves and can be reached with the keyboard."""

    def table_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        label = tokens[index].meta.get("label", "")
        opening = '<div class="table-wrap" role="region" tabindex="0" aria-label="{}"><table>'
        return format_html(opening, label)

    def table_close(self, *_: object) -> str:
        return "</table></div>"

    def fence(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        return format_html('<pre tabindex="0"><code>{}</code></pre>', tokens[index].content)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")


def _anchors(tokens: list[Token]) -> list[str]:
    """The anchor of each heading, in order: from the English words, so that links hold."""
    taken: set[str] = set()
    return [
        _unused(slugify(_plain(following)), taken)
        for token, following in pairwise(tokens)
        if token.type == "heading_open"
    ]


def _translate(tokens: list[Token]) -> None:
    """Put the pieces of a document into the active language."""
    for token in tokens:
        if is_text(token) and (text := pgettext(CONTEXT, text_of(token))) != text_of(token):
            token.children = list(parts_of(text))


def _prepare(tokens: list[Token], anchors: list[str], folder: str) -> None:
    """Give headings anchors, tables names, and links the addresses of the pages."""
    heading = ""
    unused = iter(anchors)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            heading = _plain(following)
            token.attrSet("id", next(unused))
        elif token.type == "table_open":
            token.meta["label"] = heading
        for part in token.children or ():
            if part.type == "image":
                name = posixpath.basename(str(part.attrs["src"]))
                part.attrSet("src", reverse("document-image", args=[name]))
        _lead_links(token.children or [], folder)


def _unused(anchor: str, taken: set[str]) -> str:
    """The anchor as GitHub forms it: the second of a name gets -1."""
    n = sum(1 for each in taken if re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", each))
    taken.add(found := f"{anchor}-{n}" if n else anchor)
    return found


def _lead_links(parts: list[Token], folder: str) -> None:
    """Point links at pages; one to a file that is no page becomes plain text."""
    opened: list[Token] = []
    for part in parts:
        if part.type == "link_open":
            opened.append(part)
            address = _address(str(part.attrs["href"]), folder)
            if address is None:
                part.tag, part.attrs = "span", {}
            else:
                part.attrSet("href", address)
        elif part.type == "link_close":
            part.tag = opened.pop().tag


def _address(link: str, folder: str) -> str | None:
    if OUTSIDE.match(link):
        return link
    path, _, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(folder, path))
    name = f"{target}/README" if _file(target).is_dir() else target.removesuffix(".md")
    if not NAME.fullmatch(name) or not _file(f"{name}.md").is_file():
        return None
    return reverse("document", args=[name]) + (f"#{anchor}" if anchor else "")


def _plain(token: Token) -> str:
    """The words of an inline token."""
    words = (part.content if part.content else " " for part in token.children or ())
    return " ".join("".join(words).split())


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:])\s|(?<=[。\uff1a])", text, maxsplit=1)[0].rstrip(":\uff1a")
