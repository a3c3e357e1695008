"""Formulas as MathML, which browsers draw and screen readers read.

A formula is written with blanks between its symbols: `Unbound = { p in Pods : not Bound ( p ) }`.
The names of sets can be lit on the map: they carry `data-set` and can be focused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

SETS: Final = ("Possible", "Feasible", "Viable", "chosen", "Preemptable", "Least")
"""Sets of nodes, which the map can light."""

_OPERATORS: Final = {
    "in": "∈",
    "not": "¬",
    "and": "∧",
    "all": "∀",
    "exists": "∃",
    ">=": "≥",
    "<=": "≤",
    "superset": "⊇",
    "has": "∋",
    "->": "→",
    "minus": "\u2216",
    "times": "·",
    "sum": "∑",
    "subset-of": "⊆",
}
_MARKS: Final = frozenset("=:(){}[],|+-∅<>/")
_UPRIGHT: Final = frozenset({"CASE", "OTHER", "UNCHANGED", "SUBSET", "EXCEPT", "TRUE", "FALSE"})


def formula(text: str) -> SafeString:
    """Return a formula on a line of its own, to be read as one."""
    symbols = format_html_join("", "{}", ((each,) for each in _symbols(text)))
    return format_html('<p><math displaystyle="true"><mrow>{}</mrow></math></p>', symbols)


def _symbols(text: str) -> Iterator[SafeString]:
    for word in text.split():
        if word in _OPERATORS:
            yield format_html("<mo>{}</mo>", _OPERATORS[word])
        elif all(each in _MARKS for each in word):
            # Brackets as high as the words in them; by themselves they grow with the sum sign.
            yield format_html('<mo stretchy="false">{}</mo>', word)
        elif word.lstrip("-").isdigit():
            yield format_html("<mn>{}</mn>", word)
        elif word in SETS:
            yield format_html('<mi class="sym" tabindex="0" data-set="{0}">{0}</mi>', word)
        elif word in _UPRIGHT:
            yield format_html("<mtext>{}&nbsp;</mtext>", word)
        elif word[0] == word[-1] == '"' and len(word) > 1:
            yield format_html("<mtext>{}</mtext>", word)
        elif "_" in word:
            base, _mark, index = word.partition("_")
            yield format_html("<msub><mi>{}</mi><mi>{}</mi></msub>", base, index)
        else:
            yield format_html("<mi>{}</mi>", word)
