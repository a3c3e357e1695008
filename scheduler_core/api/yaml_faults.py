"""YAML text that cannot be read, as people have it: cut off, a chart's template, with tabs.

A file that was cut off has whole objects before the cut, which are worth keeping.
"""

import re
from typing import NamedTuple

from scheduler_core.api.errors import UnreadableError
from scheduler_core.wording import say

_TEMPLATE = re.compile(r"\{\{-?\s*(?:[.$\"/]|[a-z]+\s)")
_TAB_INDENT = re.compile(r"[ \-]*\t")
_ITEMS = re.compile(r"^items:[ \t]*\n(?P<indent> *)- ", re.MULTILINE)
_TOP_KIND = re.compile(r"^kind:", re.MULTILINE)
_OBJECT = re.compile(r"^(?:apiVersion|kind|items):", re.MULTILINE)


class WholePart(NamedTuple):
    """The text before a cut, and what to say about the rest."""

    text: str
    error: UnreadableError


def is_template(text: str) -> bool:
    """Whether the text is what a chart makes manifests of."""
    return bool(_TEMPLATE.search(text))


def explained(text: str, error: UnreadableError) -> UnreadableError:
    """The error in words that say what to do, where what is wrong is known."""
    if found := _TEMPLATE.search(text):
        return UnreadableError(
            say(
                "yaml.template",
                "is a template of a chart, not a manifest; `helm template` makes one of it",
            ),
            text.count("\n", 0, found.start()) + 1,
        )
    if error.line is None:
        return error
    lines = text.split("\n")
    for number in (error.line, error.line - 1):
        if 0 < number <= len(lines) and _TAB_INDENT.match(lines[number - 1]):
            return UnreadableError(
                say(
                    "yaml.tab",
                    "is indented with a tab, which YAML does not allow; put blanks in its place",
                ),
                number,
            )
    return error


def whole_part(text: str, error: UnreadableError) -> WholePart | None:
    """The objects before the cut, if the text ends in the middle of an object.

    It does if the error is at the end, or if a list has lost what comes after its items.
    """
    last_line = text.rstrip().count("\n") + 1
    if error.line is None or error.line < last_line + text.endswith("\n"):
        return None
    marks = list(re.finditer(r"^---(?=\s)", text, re.MULTILINE))
    start = marks[-1].start() if marks else 0
    if not _OBJECT.search(text, start):
        return None
    items = _ITEMS.search(text, start)
    cut = start
    if items is not None:
        dash = re.compile(rf"^{items['indent']}- ", re.MULTILINE)
        cut = [mark.start() for mark in dash.finditer(text, items.start("indent"))][-1]
    kept = text[:cut]
    if items is not None and cut == items.start("indent"):
        kept = text[:start]
    elif items is not None and not _TOP_KIND.search(kept, start):
        kept += "kind: List\n"
    first = text.count("\n", 0, cut) + 1
    return WholePart(
        kept,
        UnreadableError(
            say(
                "yaml.cut_off",
                "is cut off in line {line}: what begins in line {first} is lost, and all after it",
                line=last_line,
                first=first,
            ),
            last_line,
        ),
    )
