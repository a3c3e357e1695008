"""Sentences as values: English that knows what it was made of.

The engine knows no language. What it says to people is a `Text`: a string, its English, which the
command line, REST and Markdown show as it is, and beside it the id of the sentence, its template
and the values it was made of. A page in another language translates the template and every value
that is a text itself (`kviz/common/wording.py`). What stays as it is in every language (names,
amounts, messages of kube-scheduler) is a plain string or a number among the values.

Id and template are literals where `say` is called, so that the catalogues find them. The template
is a whole clause: one put together from halves cannot be translated. The English may change, the id
and its placeholders may not: what is stored of a sentence is its id and its values (docs/adr/0044).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

Values: TypeAlias = "Mapping[str, object] | tuple[object, ...]"
"""What a template is filled with: by name, or in a row where it is that of a list."""


class Template(NamedTuple):
    """What a sentence is made with: its id, and its English with places for values."""

    id: str
    english: str


COMMA: Final = Template("list.comma", "{a}, {b}")
SEMICOLON: Final = Template("list.semicolon", "{a}; {b}")
AND: Final = Template("list.and", "{a} and {b}")
OR: Final = Template("list.or", "{a} or {b}")
THEN: Final = Template("list.then", "{a}, and {b}")
PLUS: Final = Template("list.plus", "{a} + {b}")
LISTS: Final = (COMMA, SEMICOLON, AND, OR, THEN, PLUS)
"""How a list and one more item are joined."""


class Text(str):
    """A text in English, with the id, the template and the values that it was made of."""

    __slots__ = ("id", "template", "values")

    id: str
    template: str
    values: Values

    def __new__(cls, id: str, template: str, values: Values) -> Text:
        """Return the text that a template makes with the values."""
        text = super().__new__(cls, cls.in_english(template, values))
        text.id = id
        text.template = template
        text.values = values
        return text

    @staticmethod
    def in_english(template: str, values: Values) -> str:
        return filled(template, values)

    def __reduce__(self) -> tuple[type[Text], tuple[str, str, Values]]:
        return type(self), (self.id, self.template, self.values)


class Capitalised(Text):
    """A text with a capital letter at its beginning, where the language has such letters."""

    __slots__ = ()

    @staticmethod
    def in_english(template: str, values: Values) -> str:
        text = filled(template, values)
        return f"{text[:1].upper()}{text[1:]}"


def say(id: str, template: str, /, **values: object) -> Text:
    """Return a text; `{name}` stands for a value, with a format as `str.format` has it."""
    return Text(id, template, values)


def capitalised(text: str) -> str:
    """Return a text as it stands at the beginning of a line."""
    if isinstance(text, Text):
        return Capitalised(text.id, text.template, text.values)
    return f"{text[:1].upper()}{text[1:]}"


def series(items: Iterable[object], joined: Template = COMMA) -> str:
    """Return things in a row, in the manner of one of `LISTS`; one alone as it is."""
    found = tuple(items)
    if len(found) == 1 and isinstance(found[0], str):
        return found[0]
    return Text(*joined, found) if found else ""


def some_of(names: Sequence[object], n: int | None = None, most: int = 3) -> str:
    """Return the first few of `n` names, and how many there are beyond: `a, b, c and 7 more`."""
    shown = series(names[:most])
    more = (len(names) if n is None else n) - len(names[:most])
    if more <= 0:
        return shown
    return say("list.more", "{names} and {more:,} more", names=shown, more=more)


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
    """Return what is stored of a document: its texts as their ids and values.

    A value that is neither text nor a number of 64 bits is stored as it is shown.
    """
    if isinstance(value, Text):
        say = _CAPITALISED if isinstance(value, Capitalised) else _SAY
        values = value.values
        in_order = dict(sorted(values.items())) if isinstance(values, Mapping) else values
        return {say: value.id, _WITH: packed(in_order)}
    if isinstance(value, Mapping):
        return {name: packed(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(each) for each in value]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return str(value)
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


def made_of(text: str) -> object:
    """Return what a sentence is made of, as it is stored beside its English; None if unknown."""
    return packed(text) if isinstance(text, Text) else None


def unpacked(value: object, text: Callable[[str, Values], str]) -> object:
    """Return a document of what was stored of it; `text` makes a sentence of its id and values."""
    if isinstance(value, dict):
        inner = {name: unpacked(each, text) for name, each in value.items()}
        for say in (_SAY, _CAPITALISED):
            if inner.keys() == {say, _WITH}:
                values = inner[_WITH]
                named = tuple(values) if isinstance(values, list) else cast("Values", values)
                found = text(str(inner[say]), named)
                return capitalised(found) if say == _CAPITALISED else found
        return inner
    if isinstance(value, list):
        return [unpacked(each, text) for each in value]
    return value


_SAY: Final = "say"
_CAPITALISED: Final = "Say"
_WITH: Final = "with"
