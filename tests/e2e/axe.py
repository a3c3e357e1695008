"""axe-core in the page under test."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from playwright.sync_api import Error, Page

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def serious_findings(page: Page) -> list[str]:
    """What axe holds against the page as it is now: rule, element, explanation.

    A page that loads itself again meanwhile, because there is news, is looked at as it is then.
    """
    try:
        return _findings(page)
    except Error as error:
        if "Execution context was destroyed" not in error.message:
            raise
        page.wait_for_load_state()
        return _findings(page)


def _findings(page: Page) -> list[str]:
    page.evaluate(_source())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary']})"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
