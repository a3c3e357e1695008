"""Catalogues as files: renewed from the English texts, compared with them, compiled for Django."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from markdown_it import MarkdownIt
from opencc import OpenCC

from kviz.catalogues.sources import CHECKOUT, FOR_DJANGO, SOURCES, english
from kviz.catalogues.terms import wrong_terms

# Traditional Chinese as Taiwan writes it, made of the simplified texts.
#
# OpenCC converts characters and the words of its own tables. What the field calls otherwise in
# Taiwan is in `locale/zh_Hant/phrases.tsv`, and single texts that no conversion makes in
# `overrides.po`.

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


LOCALES: Final = CHECKOUT / "locale"

WRITTEN: Final = "zh_Hans"
"""The language that is translated by people, as Django names its folder."""

MADE: Final = "zh_Hant"
"""The language whose catalogues are made of those."""

LANGUAGES: Final = (WRITTEN, MADE)

WIDTH: Final = 120

MARKDOWN: Final = frozenset({"document", "lesson"})
"""The contexts of texts that are Markdown."""

PLAIN: Final = frozenset({"text", "softbreak", "inline"})

_PLACEHOLDER: Final = re.compile(
    r"%\(\w+\)[sd]|(?<!%)%[sd]|(?<!\{)\{\w+(?::[^{}]*)?\}(?!\})|</?[a-z]+[^>]*>|`[^`]+`"
)
"""What a translation has to keep: parameters, markup, and names in backticks."""


def file_of(language: str, name: str) -> Path:
    return LOCALES / language / f"{name}.po"


def read(language: str, name: str) -> Catalog:
    """Return a catalogue, an empty one if there is none yet."""
    if language == MADE:
        return traditional(read(WRITTEN, name))
    path = file_of(language, name)
    if not path.is_file():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def write(language: str, name: str, catalog: Catalog) -> None:
    path = file_of(language, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=WIDTH, omit_header=True, ignore_obsolete=True)
    header = f"# {name} in {language}\n" + _HEADER.format(language=language)
    path.write_text(header + path.read_text(encoding="utf-8"), encoding="utf-8")


_HEADER: Final = """msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""


def update(name: str) -> None:
    """Bring the English texts of today into a catalogue; what is gone from them goes."""
    write(WRITTEN, name, updated(read(WRITTEN, name), english(name)))


def updated(catalog: Catalog, today: Catalog) -> Catalog:
    """Return a catalogue with the English texts of today, each where it stands already.

    A new one follows the one that it follows in `today`. A text that was re-worded under its id
    keeps its translation, which must be reviewed: fuzzy.
    """
    before, places = _by_context(catalog), _places(catalog)
    catalog.update(today, no_fuzzy_matching=True)
    for context, message in _by_context(catalog).items():
        if not any(_forms(message.string)) and context in before:
            message.string = before[context].string
            message.flags.add("fuzzy")
    found = _places(catalog)
    order, previous = [each for each in places if each in found], None
    for place in found:
        if place not in places:
            order.insert(order.index(previous) + 1 if previous else 0, place)
        previous = place
    ordered = Catalog(locale=catalog.locale)
    for each in map(found.__getitem__, order):
        ordered.add(each.id, each.string, flags=each.flags, context=each.context)
    return ordered


def _places(catalog: Catalog) -> dict[object, Message]:
    """Return the messages in order, by their context if it is their own."""
    own = _by_context(catalog)
    return {
        each.context if each.context in own else identity(each): each for each in catalog if each.id
    }


def make() -> None:
    """Write the catalogues that are made of the written ones."""
    for name in SOURCES:
        write(MADE, name, read(MADE, name))


def _by_context(catalog: Catalog) -> dict[str, Message]:
    """Return the messages that have a context of their own."""
    n = Counter(message.context for message in catalog)
    return {str(each.context): each for each in catalog if each.context and n[each.context] == 1}


def problems() -> Iterator[str]:
    """Yield what is missing, empty, stale, broken or misnamed in any catalogue, a line each.

    A catalogue that is made of another is looked at when nothing is wrong with that one.
    """
    for name in SOURCES:
        source = english(name)
        for language in LANGUAGES:
            translated = read(language, name)
            found = [*differences(source, translated), *misnamed(language, translated)]
            yield from (f"locale/{language}/{name}.po: {problem}" for problem in found)
            if found:
                break
    for problem in needless(read(WRITTEN, name) for name in SOURCES):
        yield f"locale/{MADE}/overrides.po: {problem}"


def differences(source: Catalog, translated: Catalog) -> Iterator[str]:
    """Yield likewise what is wrong with one catalogue for the English texts of `source`."""
    wanted = {identity(message): message for message in source if message.id}
    found = {identity(message): message for message in translated if message.id}
    for which, message in wanted.items():
        if which not in found:
            yield f"missing: {_title(message)}"
    for which, message in found.items():
        if which not in wanted:
            yield f"stale: {_title(message)}"
        else:
            yield from _faults(message)


def _faults(message: Message) -> Iterator[str]:
    if message.fuzzy:
        yield f"fuzzy: {_title(message)}"
    asked = set(_PLACEHOLDER.findall(_forms(message.id)[-1]))
    for text in _forms(message.string):
        if not text:
            yield f"empty: {_title(message)}"
        elif (given := set(_PLACEHOLDER.findall(text))) != asked:
            yield f"placeholders {sorted(asked ^ given)} differ: {_title(message)}"
        elif message.context in MARKDOWN and _marks(text) != _marks(str(message.id)):
            yield f"markup differs: {_title(message)}"


def _marks(text: str) -> Counter[tuple[str, object]]:
    """Return what of a Markdown text is more than words, and where its links lead.

    A mark that is written down need not be one: `**` between a bracket and a letter is text.
    """
    pieces = MarkdownIt().enable("table").parse(text)
    parts = (part for piece in pieces for part in (piece, *(piece.children or ())))
    return Counter((part.type, part.attrs.get("href")) for part in parts if part.type not in PLAIN)


def misnamed(language: str, translated: Catalog) -> Iterator[str]:
    """Yield the translations that do not call a thing by its term."""
    for message in translated:
        if message.id:
            for text in _forms(message.string):
                for wrong in wrong_terms(language, text):
                    yield f"{wrong}: {_title(message)}"


def _forms(text: str | Sequence[str] | None) -> Sequence[str]:
    """Return a text as its forms for one and for many; most have one form."""
    return text if isinstance(text, (list, tuple)) else (str(text or ""),)


def _title(message: Message) -> str:
    text = _forms(message.id)[0]
    return f"{message.context}: {text}" if message.context else text


def compile_for_django(language: str) -> Path:
    """Write what Django reads: all catalogues but the Explorer's, as one."""
    catalog = Catalog(locale=language)
    for name in FOR_DJANGO:
        for message in read(language, name):
            if message.id and message.string:
                catalog.add(message.id, message.string, context=message.context)
    path = LOCALES / language / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        write_mo(file, catalog)
    return path
