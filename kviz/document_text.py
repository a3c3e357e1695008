"""The texts of the documents below `docs/`: which are translated, and in what pieces.

A piece is what a reader takes in at once: a heading, a paragraph, an item of a list, a cell of a
table. Each is an entry of the catalogue, as Markdown on one line, and is put back where it was.
What is only code, in a block or a cell, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

CONTEXT: Final = "document"
"""Of these texts in the catalogues."""

TRANSLATED: Final = (
    "concepts",
    "lessons",
    "classes",
    "evidence",
    "luck",
    "then-and-now",
    "fidelity",
    "rules",
    "exporting",
    "scenarios",
    "experiments",
    "model",
    "clusters",
    "answers",
    "unblock",
    "comparing",
    "following",
    "optimum",
    "lab",
    "changes",
    "by-hand",
)
"""The documents that are there in every language; those for operators and developers are not."""

_WORD: Final = re.compile(r"[^\W\d_]{2}")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def pieces(markdown: str) -> Iterator[str]:
    """Yield the texts of a document, in its order."""
    for token in _parser().parse(markdown):
        if is_text(token):
            yield text_of(token)


def is_text(token: Token) -> bool:
    """Tell whether a token is a piece with words in it that are not code."""
    return any(
        part.type in ("text", "image") and _WORD.search(part.content)
        for part in token.children or ()
    )


def text_of(token: Token) -> str:
    """Return a piece as it stands in the catalogues: without the breaks of its lines."""
    return " ".join(token.content.split())


def parts_of(text: str) -> Sequence[Token]:
    """Return what a piece consists of: words, code, links."""
    (piece,) = _parser().parseInline(text)
    return piece.children or ()
