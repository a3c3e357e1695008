"""`{% vite "src/main.ts" %}`: the tags that load what Vite built from that source file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec
from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


class Built(msgspec.Struct, rename="camel"):
    """One entry of Vite's manifest."""

    file: str
    css: list[str] = []
    imports: list[str] = []


class NotBuilt(Exception):
    """The front end's assets are missing: `make setup` builds them."""


@lru_cache(maxsize=4)
def _manifest(path: Path, modified_ns: int) -> dict[str, Built]:
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Built])


def manifest() -> dict[str, Built]:
    """Vite's manifest, read again when a build replaced it."""
    path: Path = settings.VITE_MANIFEST
    try:
        return _manifest(path, path.stat().st_mtime_ns)
    except FileNotFoundError as missing:
        raise NotBuilt("The front end is not built yet: run `make setup`.") from missing


def _with_imports(entries: dict[str, Built], name: str, seen: dict[str, Built]) -> None:
    if name not in seen:
        seen[name] = entries[name]
        for imported in entries[name].imports:
            _with_imports(entries, imported, seen)


@register.simple_tag
def vite(source: str) -> SafeString:
    """Stylesheets, preloads of static imports, and the module script of one entry."""
    entries = manifest()
    chunks: dict[str, Built] = {}
    _with_imports(entries, source, chunks)
    tags = [
        ('<link rel="stylesheet" href="{}">', static(f"kviz/{css}"))
        for css in dict.fromkeys(css for chunk in chunks.values() for css in chunk.css)
    ]
    tags += [
        ('<link rel="modulepreload" href="{}">', static(f"kviz/{chunk.file}"))
        for name, chunk in chunks.items()
        if name != source
    ]
    script = static(f"kviz/{entries[source].file}")
    tags.append(('<script type="module" src="{}"></script>', script))
    return SafeString("".join(format_html_join("", form, [(url,)]) for form, url in tags))
