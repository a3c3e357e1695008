"""Where the English texts come from: one catalogue of them for each kind of source."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Final, TypeAlias

import django
from babel.messages import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation.template import templatize

from kviz import document_text
from kviz.companion.reading import CONTEXT as READING
from kviz.companion.reading import bundled_readings
from kviz.drawing_text import labels
from kviz.lessons.texts import TEXTS
from kviz.reference.events import CONTEXT as EVENT
from kviz.reference.events import event_texts
from kviz.reference.fidelity import difference_texts
from kviz.reference.form import prose_of
from kviz.reference.glossary import drawings, english_glossary
from kviz.reference.plugin_texts import plugin_texts
from kviz.samples import sample_texts
from kviz.sentences import stored
from scheduler_core import yaml_text
from scheduler_core.wording import LISTS

CHECKOUT: Final = Path(__file__).resolve().parents[2]
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
_PYTHON_FORMAT: Final = re.compile(r"%(\(\w+\))?[sd]")

LESSON_PARTS: Final = frozenset({"steps", "question", "options", "wrong", "reveal", "task"})

Message: TypeAlias = "tuple[str | tuple[str, str], str | None]"
"""A text with its plural, if it has one, and its context."""


def pages() -> Iterator[Message]:
    """Yield what templates and Python modules have marked for translation."""
    _configure()
    folders = (CHECKOUT / "templates", CHECKOUT / "kviz" / "questions")
    for path in sorted(path for folder in folders for path in folder.rglob("*.html")):
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        yield from _marked("\n".join(line.strip() for line in code.splitlines()).encode())
    for path in sorted((CHECKOUT / "kviz").rglob("*.py")):
        yield from _marked(path.read_bytes())


def _configure() -> None:
    """Let Django translate without the settings of a server."""
    if not settings.configured:
        settings.configure(USE_I18N=True)
        django.setup()


def _marked(code: bytes) -> Iterator[Message]:
    for _, message, _, context in extract("python", BytesIO(code), keywords=KEYWORDS):
        texts = message if isinstance(message, tuple) else (message,)
        if texts[0]:
            yield (texts[0] if len(texts) == 1 else (texts[0], texts[-1])), context


def engine() -> Iterator[Message]:
    """Yield the sentences that the engine and the services make of values; the context is the id.

    With them come those that are no longer said, but may be stored.
    """
    for id, template in (*sentences().items(), *stored()["retired"].items()):
        yield template, id


def sentences() -> dict[str, str]:
    """Return the English of all sentences by their ids, in the order of the modules.

    Raises ValueError for an id that has two.
    """
    found = dict[str, str](LISTS)
    for package in ("scheduler_core", "kviz"):
        for path in sorted((CHECKOUT / package).rglob("*.py")):
            for id, template in said(path.read_text(encoding="utf-8")):
                if found.setdefault(id, template) != template:
                    raise ValueError(f"{path}: {id} is {found[id]!r} elsewhere")
    return found


def said(code: str) -> Iterator[tuple[str, str]]:
    """Yield the ids and templates that a module's calls of `say` have.

    Raises ValueError for one that is not written out, or whose placeholders are not what is given.
    """
    for call in ast.walk(ast.parse(code)):
        if not isinstance(call, ast.Call) or not _is_say(call.func):
            continue
        match call.args:
            case [ast.Constant(value=str(id)), ast.Constant(value=str(template))]:
                yield id, template
            case _:
                raise ValueError(f"line {call.lineno}: say() has no id and template written out")
        given = {str(each.arg) for each in call.keywords}
        if given ^ placeholders(template):
            raise ValueError(f"line {call.lineno}: {sorted(given)} given to {template!r}")


def placeholders(template: str) -> set[str]:
    """Return the names of the values that a template has places for."""
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def _is_say(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "say"


def explorer() -> Iterator[Message]:
    """Yield the texts of the front end; the context of each is its key."""
    command = ("node", "english.js")
    frontend = CHECKOUT / "frontend"
    printed = subprocess.run(command, cwd=frontend, check=True, capture_output=True)
    for key, entry in json.loads(printed.stdout).items():
        yield (entry if isinstance(entry, str) else (entry["one"], entry["other"])), key


def reference() -> Iterator[Message]:
    """Yield what YAML files say of plugins, differences and samples, and of events."""
    texts = [*prose_of(plugin_texts()), *prose_of(difference_texts()), *prose_of(sample_texts())]
    for text in dict.fromkeys(texts):
        yield text, None
    for text in dict.fromkeys(prose_of(event_texts())):
        yield text, EVENT


def glossary() -> Iterator[Message]:
    """Yield the terms of the glossary and the labels of its diagrams.

    The context of a text says whose it is.
    """
    found = english_glossary()
    for group in found.groups:
        yield group.title, f"group.{group.id}"
    for key, term in found.terms.items():
        for field, text in (("name", term.name), ("text", term.text), ("example", term.example)):
            if text:
                yield text, f"{key}.{field}"
    for label in dict.fromkeys(label for svg in drawings() for label in labels(svg)):
        yield label, f"diagram.{label}"


def then_and_now() -> Iterator[Message]:
    """Yield what is there today in place of old words."""
    _configure()
    from kviz.reference.then_and_now import NAMES_TITLE, english_rows

    found = english_rows()
    texts = [
        NAMES_TITLE,
        *(group.title for group in found.groups),
        *(text for r in found.rows for text in (r.now, *r.later.values())),
    ]
    for text in dict.fromkeys(texts):
        yield text, "then and now"


def companion() -> Iterator[Message]:
    """Yield the texts of the pages that accompany texts from elsewhere."""
    texts = [text for each in bundled_readings() for text in prose_of(each)]
    for text in dict.fromkeys(texts):
        yield text, READING


def lessons() -> Iterator[Message]:
    """Yield the texts of the lessons that come with kviz."""
    texts: dict[str, None] = {}
    for path in sorted((CHECKOUT / "kviz/lessons/bundled").glob("*.yaml")):
        lesson = yaml_text.value(path.read_text(encoding="utf-8"))
        texts |= dict.fromkeys(_texts_of(lesson))
    for text in texts:
        yield text, "lesson"


def _texts_of(part: object) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _texts_of(each)
    if isinstance(part, dict):
        for field, value in part.items():
            if field in TEXTS and isinstance(value, str):
                yield value.strip()
            elif field in LESSON_PARTS:
                yield from _texts_of(value)


def documents() -> Iterator[Message]:
    """Yield the pieces of the documents that are translated; each once, in their order."""
    texts: dict[str, None] = {}
    for name in document_text.TRANSLATED:
        markdown = (CHECKOUT / f"docs/{name}.md").read_text(encoding="utf-8")
        texts |= dict.fromkeys(document_text.pieces(markdown))
    for text in texts:
        yield text, document_text.CONTEXT


SOURCES: Final[dict[str, Callable[[], Iterator[Message]]]] = {
    "pages": pages,
    "engine": engine,
    "explorer": explorer,
    "reference": reference,
    "glossary": glossary,
    "then-and-now": then_and_now,
    "lessons": lessons,
    "companion": companion,
    "documents": documents,
}
"""By the name of their catalogue."""

FOR_DJANGO: Final = tuple(name for name in SOURCES if name != "explorer")


def english(name: str) -> Catalog:
    """Return the English texts of one kind, in the order of their source."""
    catalog = Catalog(fuzzy=False)
    for text, context in SOURCES[name]():
        one = text if isinstance(text, str) else text[0]
        flags = ["python-format"] if _PYTHON_FORMAT.search(one) else []
        catalog.add(text, context=context, flags=flags)
    return catalog
