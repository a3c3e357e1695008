"""Sentences as values: English that knows what it was made of.

The engine knows no language. What it says to people is a `Text`: a string, its English, which the
command line, REST and Markdown show as it is, and beside it the template and the values it was made
of. Who shows it in another language translates the template and every value that is a text itself
(`kviz/common/wording.py`). What stays as it is in every language (names, amounts, messages of
kube-scheduler) is a plain string or a number among the values.

A template is a literal where `say` is called, so that the catalogues find it, and a whole clause:
one put together from halves cannot be translated (docs/adr/0044).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias, cast

import msgspec

Values: TypeAlias = "Mapping[str, object] | tuple[object, ...]"
"""What a template is filled with: by name, or in a row where it is that of a list."""

COMMA: Final = "{a}, {b}"
SEMICOLON: Final = "{a}; {b}"
AND: Final = "{a} and {b}"
OR: Final = "{a} or {b}"
THEN: Final = "{a}, and {b}"
PLUS: Final = "{a} + {b}"
LISTS: Final = (COMMA, SEMICOLON, AND, OR, THEN)
"""How what is there and one more thing are put into a row; `PLUS` is the same everywhere."""


class Text(str):
    """A text in English, with the template and the values that it was made of."""

    __slots__ = ("template", "values")

    template: str
    values: Values

    def __new__(cls, template: str, values: Values) -> Text:
        """Return the text that a template makes with the values."""
        text = super().__new__(cls, cls.in_english(template, values))
        text.template = template
        text.values = values
        return text

    @staticmethod
    def in_english(template: str, values: Values) -> str:
        return filled(template, values)

    def __reduce__(self) -> tuple[type[Text], tuple[str, Values]]:
        return type(self), (self.template, self.values)


class Capitalised(Text):
    """A text with a capital letter at its beginning, where the language has such letters."""

    __slots__ = ()

    @staticmethod
    def in_english(template: str, values: Values) -> str:
        text = filled(template, values)
        return f"{text[:1].upper()}{text[1:]}"


def say(template: str, /, **values: object) -> Text:
    """Return a text; `{name}` stands for a value, with a format as `str.format` has it."""
    return Text(template, values)


def capitalised(text: str) -> str:
    """Return a text as it stands at the beginning of a line."""
    if isinstance(text, Text):
        return Capitalised(text.template, text.values)
    return f"{text[:1].upper()}{text[1:]}"


def series(items: Iterable[object], template: str = COMMA) -> str:
    """Return things in a row, in the manner of one of `LISTS`; one alone as it is."""
    found = tuple(items)
    if len(found) == 1 and isinstance(found[0], str):
        return found[0]
    return Text(template, found) if found else ""


def some_of(names: Sequence[object], n: int | None = None, most: int = 3) -> str:
    """Return the first few of `n` names, and how many there are beyond: `a, b, c and 7 more`."""
    shown = series(names[:most])
    more = (len(names) if n is None else n) - len(names[:most])
    return say("{names} and {more:,} more", names=shown, more=more) if more > 0 else shown


def filled(template: str, values: Values) -> str:
    """Return a template with its values in their places."""
    if isinstance(values, tuple):
        return str(reduce(lambda a, b: template.format(a=a, b=b), values))
    return template.format_map(values)


def told(error: BaseException) -> str:
    """Return what an exception was raised with, as the text that it is."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


# ---------------------------------------------------------------- as documents


def builtins(value: object) -> object:
    """Return a value as mappings, lists and texts: what becomes JSON."""
    return _lists(msgspec.to_builtins(value, str_keys=True, builtin_types=(Text, Capitalised)))


def _lists(value: object) -> object:
    if isinstance(value, dict):
        return {name: _lists(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lists(each) for each in value]
    return value


def packed(value: object) -> object:
    """Return what is stored of a document: its texts with what they were made of.

    A value that is neither text nor number is stored as it is shown.
    """
    if isinstance(value, Text):
        values = value.values
        return {_TEMPLATE: value.template, _VALUES: packed(values)}
    if isinstance(value, Mapping):
        return {name: packed(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(each) for each in value]
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


def unpacked(value: object) -> object:
    """Return a document of what was stored of it."""
    if isinstance(value, dict):
        inner = {name: unpacked(each) for name, each in value.items()}
        if inner.keys() == {_TEMPLATE, _VALUES}:
            values = inner[_VALUES]
            named = tuple(values) if isinstance(values, list) else cast("Values", values)
            return Text(str(inner[_TEMPLATE]), named)
        return inner
    if isinstance(value, list):
        return [unpacked(each) for each in value]
    return value


_TEMPLATE: Final = "say"
_VALUES: Final = "with"
