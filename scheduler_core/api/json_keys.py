"""Keys that stand twice in one JSON object: the parser that reads uploads keeps the last of them.

YAML refuses them, and of two values nobody knows which one was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from scheduler_core.wording import say

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)


MESSAGE: Final = say("json.key_twice", "this key stands twice in one object")


class Repeated(NamedTuple):
    """A key that stands twice: its path, and the line, from 1, of where it stands again."""

    path: str
    line: int


class _Found(Exception):
    """Some key stands twice."""


def _refuse(pairs: list[tuple[str, object]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _Found


# What it makes of a text is dropped: numbers stay text, and a mapping becomes None.
_CHECKER: Final = json.JSONDecoder(
    object_pairs_hook=_refuse, parse_int=str, parse_float=str, strict=False
)


def has_repeated_keys(text: str) -> bool:
    """Whether some key of a JSON value stands twice in its mapping."""
    try:
        _CHECKER.decode(text)
    except _Found:
        return True
    except (ValueError, RecursionError):  # other readers say what is wrong with it
        pass
    return False


class _Level:
    """A mapping or a list while it is read."""

    def __init__(self, path: str, is_list: bool) -> None:
        self.path, self.is_list = path, is_list
        self.keys: set[str] = set()
        self.key = ""
        self.n_items = 0

    def within(self) -> str:
        """The path of the value that is read now."""
        if self.is_list:
            return f"{self.path}[{self.n_items}]"
        return f"{self.path}.{self.key}" if self.path else self.key


def repeated_keys(text: str) -> Iterator[Repeated]:
    """The keys of a JSON value that stand twice, in the order of the text."""
    levels: list[_Level] = []
    last = ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "{[":
            levels.append(_Level(levels[-1].within() if levels else "", sign == "["))
        elif sign in "}]":
            levels.pop()
        elif sign == "," and levels[-1].is_list:
            levels[-1].n_items += 1
        elif sign == ":":
            level = levels[-1]
            level.key = json.loads(last, strict=False)
            if level.key in level.keys:
                yield Repeated(level.within(), text.count("\n", 0, token.start()) + 1)
            level.keys.add(level.key)
        last = sign
