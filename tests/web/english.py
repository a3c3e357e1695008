"""What of an answer or a page is still English where another language was asked for.

It is gone through in simplified Chinese: the traditional texts are made of these, and the tests of
the catalogues say that all are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final

SENTENCE: Final = re.compile(r"\b[A-Za-z]?[a-z']+,? [a-z']{2,},? [a-z']{2,}\b")
"""Three words in a row: names of plugins, points, fields and units are not that."""

QUOTED: Final = re.compile(
    r'kubectl [a-z]+ [a-z]+|"[^"]*"|^(\d+/\d+ nodes are available|node\(s\)).*'
    r"|^\d+ (node\(s\)|Insufficient) .*|cannot allocate all claims"
    r"|pod has unbound immediate PersistentVolumeClaims"
    r"|not eligible due to preemptionPolicy=Never\.|'no new claims to deallocate'"
)
"""Commands, what a plugin says in quotation marks, and messages of kube-scheduler."""

VERBATIM_FIELDS: Final = frozenset({"reasons", "reason", "message", "ineligible", "rejection"})
"""kube-scheduler's own messages."""
VERBATIM_ELEMENTS: Final = re.compile(
    r"<(samp|code|pre|script|style|textarea)\b.*?</\1>|<p class=\"message\">.*?</p>"
    r"|placeholder=\"[^\"]*\"|<tr hidden.*?</tr>"
    r"|<span( class=\"then-now__word\")? lang=\"en\">[^<]*</span>|“[^”<]*”",
    re.DOTALL,
)
"""Code, what is typed, what is quoted, messages of kube-scheduler, and words of older books."""


def english_in(document: Any, verbatim: frozenset[str] = VERBATIM_FIELDS) -> list[str]:
    """Return the texts of a document that have an English sentence, but kube-scheduler's."""
    return [text for text in _texts(document, verbatim) if _is_english(text)]


def _is_english(text: str) -> bool:
    return SENTENCE.search(QUOTED.sub("", text)) is not None


def _texts(document: Any, verbatim: frozenset[str]) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, list):
        for each in document:
            yield from _texts(each, verbatim)
    elif isinstance(document, dict):
        for name, each in document.items():
            if name not in verbatim:
                yield from _texts(each, verbatim)


def english_on(page: str) -> list[str]:
    """Return the same of a page, its title and what only screen readers and scripts read of it."""
    shown = VERBATIM_ELEMENTS.sub("", page)
    text = re.sub(r"<[^>]*>", "\n", shown)
    said = (words for tag in _TAG.findall(shown) for words in _ATTRIBUTE.findall(tag))
    lines = (unescape(line).strip() for line in (*text.splitlines(), *said))
    return [line for line in lines if _is_english(line)]


_TAG: Final = re.compile(r"<[a-z][^>]*>", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r' (?:aria-label|title|alt|data-[a-z-]+)="([^"\n]*)"')
"""What has several lines is what a button types into an editor."""
