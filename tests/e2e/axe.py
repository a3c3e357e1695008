"""axe-core in the page under test."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def serious_findings(page: Page) -> list[str]:
    """What axe holds against the page as it is now: rule, element, explanation."""
    page.evaluate(_source())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary']})"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
