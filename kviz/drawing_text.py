"""The labels of a drawing: which are translated, and how they are put back.

A label is what stands in one `<text>`, in one line or, with a `<tspan>`, in two, and what a screen
reader says of the whole. Each is an entry of the catalogue, in one line; a translation breaks its
lines itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Final

_LABEL: Final = re.compile(r'((?<=aria-label=")|<text [^>]*>)([^<>"\n]+(?:<tspan.*</tspan>)?)')
_LINE: Final = re.compile(r"(?:^|(?<=>))[^<]+")
_NAME: Final = re.compile(r"[A-Z]\w+|[a-z]+Q")
"""Extension points and queues, which have one name in all languages."""


def labels(svg: str) -> list[str]:
    """Return the labels that have a translation, in English."""
    found = (_words(shown) for _, shown in _LABEL.findall(svg))
    return [words for words in found if not _NAME.fullmatch(words)]


def labelled(svg: str, translate: Callable[[str], str]) -> str:
    """Return the drawing with other words; what `translate` returns as it was stays."""

    def put(label: re.Match[str]) -> str:
        before, shown = label.groups()
        words = _words(shown)
        text = translate(words)
        if text == words:
            return label[0]
        lines = iter(text.split("\n"))
        return before + _LINE.sub(lambda _: escape(next(lines, "")), shown)

    return _LABEL.sub(put, svg)


def _words(shown: str) -> str:
    return " ".join(_LINE.findall(shown))
