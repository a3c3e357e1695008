"""What the Explorer may weigh before anything is seen, and the editor of forms."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BUILT = Path(__file__).parents[2] / "static" / "kviz"
JS_BYTES = 90_000
CSS_BYTES = 15_000
EDITOR_BYTES = 152_000


def weight(file: str) -> int:
    return len(gzip.compress((BUILT / file).read_bytes(), 9))


def files_of(manifest: dict[str, dict[str, Any]], name: str, seen: set[str]) -> Iterator[str]:
    """A source's script and stylesheets, with those of its static imports."""
    if name not in seen:
        seen.add(name)
        entry = manifest[name]
        yield entry["file"]
        yield from entry.get("css", [])
        for imported in entry.get("imports", []):
            yield from files_of(manifest, imported, seen)


def test_the_first_load_stays_within_its_budget() -> None:
    """The entry, and the tab of the Inspector that is open at first."""
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    seen: set[str] = set()
    sources = ("src/main.ts", "src/views/inspector/WhyTab.svelte")
    files = [file for source in sources for file in files_of(manifest, source, seen)]
    assert sum(weight(file) for file in files if file.endswith(".js")) <= JS_BYTES
    assert sum(weight(file) for file in files if file.endswith(".css")) <= CSS_BYTES


def test_the_editor_stays_within_its_budget() -> None:
    """The entry, the island, and what it shares with others."""
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    seen: set[str] = set()
    sources = ("src/pages/editor.ts", "src/views/editor/Editor.svelte")
    files = {file for source in sources for file in files_of(manifest, source, seen)}
    assert sum(map(weight, files)) <= EDITOR_BYTES
