"""Where the English texts come from: one catalogue of them for each kind of source."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias

import django
from babel.messages import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation.template import templatize

CHECKOUT: Final = Path(__file__).resolve().parents[2]
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
_PYTHON_FORMAT: Final = re.compile(r"%(\(\w+\))?[sd]")

Message: TypeAlias = "tuple[str | tuple[str, str], str | None]"
"""A text with its plural, if it has one, and its context."""


def pages() -> Iterator[Message]:
    """Yield what templates and Python modules have marked for translation."""
    if not settings.configured:
        settings.configure(USE_I18N=True)
        django.setup()
    for path in sorted((CHECKOUT / "templates").rglob("*.html")):
        code = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        yield from _marked("\n".join(line.strip() for line in code.splitlines()).encode())
    for path in sorted((CHECKOUT / "kviz").rglob("*.py")):
        yield from _marked(path.read_bytes())


def _marked(code: bytes) -> Iterator[Message]:
    for _, message, _, context in extract("python", BytesIO(code), keywords=KEYWORDS):
        texts = message if isinstance(message, tuple) else (message,)
        if texts[0]:
            yield (texts[0] if len(texts) == 1 else (texts[0], texts[-1])), context


def explorer() -> Iterator[Message]:
    """Yield the texts of the front end; the context of each is its key."""
    command = ("node", "english.js")
    frontend = CHECKOUT / "frontend"
    printed = subprocess.run(command, cwd=frontend, check=True, capture_output=True)
    for key, entry in json.loads(printed.stdout).items():
        yield (entry if isinstance(entry, str) else (entry["one"], entry["other"])), key


SOURCES: Final[dict[str, Callable[[], Iterator[Message]]]] = {
    "pages": pages,
    "explorer": explorer,
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
