"""A run as one page that opens from a disk: the Explorer, and the trace it reads, in one file.

Nothing in it has an address, and its content security policy lets it ask nobody: the scripts it
may run are named by their hashes. Chunks are text elements, base64 of what is stored; the script
brings the zstd that browsers lack (docs/adr/0020).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from kviz.common.wording import translated
from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.portable.saved import NOT_OVER, NotOver
from kviz.runs.reading import trace
from kviz.runs.titles import run_title
from scheduler_core.trace.codec import Chunk
from scheduler_core.wording import say

SUFFIX: Final = ".html"
MEDIA_TYPE: Final = "text/html; charset=utf-8"
STYLES: Final = (
    "css/tokens.css",
    "css/base.css",
    "css/components.css",
    "kviz-offline/explorer.css",
)
SCRIPTS: Final = ("kviz/theme.js", "kviz-offline/explorer.js")
MARK: Final = "<!--trace-->"


class TooLarge(Exception):
    """The page would be more than browsers open with comfort; the text says what else to do."""


class NotBuilt(Exception):
    """The Explorer for such pages was not built: `make setup` builds it."""


NOT_BUILT: Final = say("run.no_front_end", "The front end is not built yet: run `make setup`.")


@dataclass(frozen=True)
class Assets:
    """The styles and scripts of the page, as they may stand inside their elements."""

    style: str
    scripts: tuple[str, ...]

    @property
    def policy(self) -> str:
        """What the page may do: run these scripts, look like this, and nothing else."""
        scripts = " ".join(map(_hash_source, self.scripts))
        return (
            f"default-src 'none'; script-src {scripts}; style-src {_hash_source(self.style)}; "
            "style-src-attr 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
            "form-action 'none'"
        )

    @property
    def n_bytes(self) -> int:
        return sum(len(text) for text in (self.style, *self.scripts))


def assets() -> Assets:
    """What was built, read again when a build replaced it. Raises NotBuilt."""
    folder = settings.SHARE / "static"
    files = tuple(folder / name for name in (*STYLES, *SCRIPTS))
    try:
        return _assets(files, tuple(file.stat().st_mtime_ns for file in files))
    except FileNotFoundError as missing:
        raise NotBuilt(NOT_BUILT) from missing


@lru_cache(maxsize=1)
def _assets(files: tuple[Path, ...], modified_ns: tuple[int, ...]) -> Assets:
    texts = [file.read_text(encoding="utf-8") for file in files]
    styles, scripts = texts[: len(STYLES)], texts[len(STYLES) :]
    style = re.sub(r"</(?=style)", r"<\\/", "\n".join(styles), flags=re.IGNORECASE)
    return Assets(style, tuple(map(_inside_script, scripts)))


def _inside_script(text: str) -> str:
    """JavaScript that the end of its element cannot be mistaken in."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


# ---------------------------------------------------------------- the page


def expected_bytes(run: Run) -> int:
    """About how large the page will be. Raises NotBuilt."""
    stored = selectors.stored_bytes(run=run)
    return assets().n_bytes + (stored.headers + stored.details) * 4 // 3


def pieces(run: Run) -> Iterator[bytes]:
    """The page, piece by piece. Raises NotOver, TooLarge and NotBuilt."""
    if not run.is_over:
        raise NotOver(NOT_OVER)
    n_bytes = expected_bytes(run)
    if n_bytes > settings.MAX_OFFLINE_BYTES:
        raise TooLarge(too_large_text(n_bytes))
    start, _mark, end = _frame(run).partition(MARK)
    return _pieces(run, start, end)


def too_large_text(n_bytes: int) -> str:
    """Why there is no page, and what there is instead."""
    sizes = {
        "size": filesizeformat(n_bytes),
        "limit": filesizeformat(settings.MAX_OFFLINE_BYTES),
    }
    return (
        _(
            "As one page this run would have about %(size)s; the limit is %(limit)s, above which "
            "browsers get slow. Save it as a file instead, or run fewer pods."
        )
        % sizes
    )


def _pieces(run: Run, start: str, end: str) -> Iterator[bytes]:
    yield start.encode()
    for number, chunk in enumerate(trace.chunks(run=run)):
        yield _elements(number, chunk).encode()
    yield end.encode()


def _elements(number: int, chunk: Chunk) -> str:
    cycles = f'data-first="{chunk.first_cycle}" data-last="{chunk.last_cycle}"'
    return _element(f'data-headers="{number}" {cycles}', chunk.headers) + _element(
        f'data-details="{number}"', chunk.details
    )


def _element(attributes: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return f'<script type="text/plain" {attributes}>{text}</script>\n'


def _frame(run: Run) -> str:
    """Everything around the trace, with `MARK` where it belongs."""
    built = assets()
    status = msgspec.json.encode({"type": "status", **_progress(run)}).decode()
    context = {
        "run": run,
        "name": run_title(run),
        "policy": built.policy,
        "style": SafeString(built.style),
        "scripts": [SafeString(script) for script in built.scripts],
        "status": SafeString(status.replace("<", "\\u003c")),
        "catalogue": SafeString(_catalogue().replace("<", "\\u003c")),
        "mark": SafeString(MARK),
    }
    return render_to_string("runs/offline.html", context)


def _catalogue() -> str:
    """The Explorer's texts in the language of the reader, as JSON; English is in the script."""
    language = get_language()
    if language == "en":
        return "{}"
    file = settings.SHARE / "static" / "kviz-offline" / f"catalogue.{language}.json"
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as missing:
        raise NotBuilt(NOT_BUILT) from missing


def _progress(run: Run) -> dict[str, object]:
    names = ("status", "cycles", "bound", "pending", "last_seq")
    return {name: getattr(run, name) for name in names} | (
        {"error": translated(run.error)} if run.error else {}
    )
