"""Traditional Chinese as Taiwan writes it, made of the simplified texts.

OpenCC converts characters and the words of its own tables. What the field calls otherwise in Taiwan
is in `locale/zh_Hant/phrases.tsv`, and single texts that no conversion makes in `overrides.po`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from babel.messages import Catalog, Message
from babel.messages.pofile import read_po
from opencc import OpenCC

from kviz.catalogues.sources import CHECKOUT

FOLDER: Final = CHECKOUT / "locale/zh_Hant"

OPENCC_TABLES: Final = "s2twp"
"""From simplified Chinese to Taiwan's characters and words."""

_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final = re.compile("[A-Za-z]")

Convert: TypeAlias = Callable[[str], str]
Identity: TypeAlias = "tuple[str | None, object]"
Forms: TypeAlias = "str | tuple[str, ...] | list[str] | None"
"""A text, or its forms for one and for many, as Babel has them."""


def traditional(simplified: Catalog) -> Catalog:
    """Return a catalogue with the texts of a simplified one, converted or overridden."""
    convert, instead = conversion(), overrides()
    made = Catalog(locale="zh_Hant")
    for message in simplified:
        if message.id:
            text = instead.get(identity(message)) or _converted(message, convert)
            made.add(message.id, text, context=message.context, flags=message.flags)
    return made


def identity(message: Message) -> Identity:
    return message.context, message.id


def _converted(message: Message, convert: Convert) -> Forms:
    if isinstance(message.string, (list, tuple)):
        return [convert(form) for form in message.string]
    return convert(message.string or "")


@cache
def overrides() -> Mapping[Identity, Forms]:
    """Return the texts that are written by hand, by context and English text."""
    with (FOLDER / "overrides.po").open("rb") as file:
        found = read_po(file, locale="zh_Hant")
    return {identity(message): message.string for message in found if message.id}


def needless(catalogs: Iterator[Catalog]) -> Iterator[str]:
    """Yield the overrides that no text has, or that say what the conversion says anyway."""
    left = dict(overrides())
    for simplified in catalogs:
        for message in simplified:
            text = left.pop(identity(message), None) if message.id else None
            if text is not None and text == _converted(message, conversion()):
                yield f"says what is converted: {message.id}"
    yield from (f"stale: {text}" for _, text in left)


@cache
def conversion() -> Convert:
    return converting(phrases_of(FOLDER / "phrases.tsv"))


def phrases_of(path: Path) -> dict[str, str]:
    """Read phrases, on each line a simplified one, a tab, and its traditional one.

    Raises ValueError for a phrase that is there twice.
    """
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        simplified, converted = line.split("\t")
        if simplified in found:
            raise ValueError(f"{path.name}: {simplified} is there twice")
        found[simplified] = converted
    return found


def converting(phrases: Mapping[str, str]) -> Convert:
    """Return what converts a text: the longest phrases first, what is between them by OpenCC."""
    opencc = OpenCC(OPENCC_TABLES)
    longest_first = sorted(phrases, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, longest_first))})")

    def convert(text: str) -> str:
        converted = ""
        is_after_phrase = False
        for i, part in enumerate(pattern.split(text)):
            is_phrase = i % 2 == 1
            piece = phrases[part] if is_phrase else opencc.convert(part)
            if (is_phrase or is_after_phrase) and _is_border(converted, piece):
                converted += " "
            converted += piece
            is_after_phrase = is_phrase
        return converted

    return convert


def _is_border(before: str, after: str) -> bool:
    """Whether Chinese stands beside Latin letters, which texts separate by a space."""
    last, first = before[-1:], after[:1]
    return bool(
        (_CHINESE.match(last) and _LATIN.match(first))
        or (_LATIN.match(last) and _CHINESE.match(first))
    )
