"""What the Explorer may weigh before anything is seen."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

BUILT = Path(__file__).parents[2] / "static" / "kviz"
JS_BYTES = 90_000
CSS_BYTES = 15_000


def weight(file: str) -> int:
    return len(gzip.compress((BUILT / file).read_bytes(), 9))


def test_the_first_load_stays_within_its_budget() -> None:
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    entry = manifest["src/main.ts"]
    scripts = [entry["file"], *(manifest[name]["file"] for name in entry.get("imports", []))]
    assert sum(map(weight, scripts)) <= JS_BYTES
    assert sum(map(weight, entry["css"])) <= CSS_BYTES
