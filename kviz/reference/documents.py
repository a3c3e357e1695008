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
from django.utils.translation import gettext_lazy as _
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from kviz.document_text import CONTEXT, TRANSLATED, is_text, parts_of, text_of

GROUPS: Final = (
    (_("Understand a decision"), {
        "concepts": _("The terms on the screens, in the order in which a pod meets them."),
        "evidence": _("Every verdict and score opens to the values that it came from."),
        "unblock": _("kviz looks for the smallest changes after which a pending pod binds."),
        "lab": _("Change something in a cycle and see what follows."),
        "changes": _("A change is one line, a JSON object, or a gesture in the Lab."),
        "comparing": _("Two runs side by side, from where they diverged first."),
        "luck": _("Some placements always hold, and some depend on random choices."),
        "optimum": _("kviz finds how far a run is from the best placement of all pods together."),
        "model": _("A cycle can be written as sets and predicates, or as a TLA+ module."),
        "fidelity": _("kviz is compared with decisions recorded from the real kube-scheduler."),
    }),
    (_("Plan and check a cluster"), {
        "answers": _("kviz says how many more pods fit, and which nodes to add or drain."),
        "advice": _("This is how such questions are answered."),
        "experiments": _("An experiment runs many variants of one cluster as one job."),
        "rules": _("A file of rules says what a cluster must keep, and a CI job checks it."),
        "configuration": _("A run can read the KubeSchedulerConfiguration of your scheduler."),
        "scenarios": _("A scenario changes the cluster during a run."),
        "clusters": _("kviz reads a real cluster with your kubeconfig, and changes nothing in it."),
        "following": _("kviz follows a real scheduler and checks itself against it."),
        "extenders": _("kviz calls scheduler extenders, and can be one."),
        "plugins-out-of-tree": _("Your own scheduler plugin runs in kviz after ten minutes."),
        "exporting": _("Runs, images and tables can be saved as files."),
        "mcp": _("An assistant can ask kviz over the Model Context Protocol."),
    }),
    (_("Teach and learn"), {
        "classes": _("A teacher holds a live class in which everybody predicts first."),
        "lessons": _("A lesson is a file, and you can write your own."),
        "by-hand": _("You place the pods of a small cluster yourself, against the scheduler."),
        "then-and-now": _("Old scheduler terms have other names today."),
    }),
    (_("Operate and develop"), {
        "installing": _("kviz runs on a laptop, in a container, and on Kubernetes."),
        "operation": _("Settings and limits of a server are environment variables."),
        "accounts": _("People sign in to a server, and share workspaces."),
        "performance": _("These are the times that kviz takes as a cluster grows."),
        "architecture": _("This is how kviz is built, in one page."),
        "adr/README": _("Each decision record gives the reason for one decision."),
    }),
)  # fmt: skip
"""What the page of documents lists, in the order of the README: a sentence on each."""

ENGLISH: Final = "en"

IMAGE_TYPES: Final = {".svg": "image/svg+xml", ".png": "image/png"}

NAME = re.compile(r"(?:[A-Za-z0-9-]+/)*[A-Za-z0-9-]+")
IMAGE_NAME = re.compile(r"[a-z0-9-]+\.(?:svg|png)")
OUTSIDE = re.compile(r"[a-z]+:|#")


@dataclass(frozen=True)
class Document:
    """`name` is the path below `docs/` without its ending.

    `language` is that of its text, which need not be the reader's.
    """

    name: str
    language: str
    title: str
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
    title = next(_plain(token) for token in tokens if token.type == "inline")
    html = _parser().renderer.render(tokens, _parser().options, {})
    return Document(name, language, title, mark_safe(html))


@dataclass(frozen=True)
class Group:
    """Documents for one purpose, each with a sentence on what it is about."""

    title: str
    documents: list[tuple[Document, str]]


def groups() -> list[Group]:
    return [
        Group(
            str(title),
            [(found, str(about)) for name, about in each.items() if (found := document(name))],
        )
        for title, each in GROUPS
    ]


# ---------------------------------------------------------------- Markdown


class _Renderer(RendererHTML):
    """Wide parts scroll by themselves and can be reached with the keyboard."""

    def table_open(self, tokens: Sequence[Token], index: int, *_: object) -> str:
        label = tokens[index].meta.get("label", "")
        opening = '<div class="table-wrap" role="group" tabindex="0" aria-label="{}"><table>'
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
        elif token.type == "th_open" and following is not None and not following.content:
            token.tag = "td"  # a head without words is none
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
