"""axe-core in the page under test."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from playwright.sync_api import Error, Page

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
# A colour on its way to another is nobody's choice: what ends by itself is waited for.
LOOK = """async (options) => {
  const ends = (each) => each.effect.getComputedTiming().endTime < Infinity;
  const passing = document.getAnimations().filter(ends);
  await Promise.allSettled(passing.map((each) => each.finished));
  return axe.run(document, options);
}"""


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def serious_findings(page: Page, *rules: str) -> list[str]:
    """What axe holds against the page as it is now: rule, element, explanation.

    All rules, if none are named. A page that loads itself again meanwhile, because there is news,
    is looked at as it is then.
    """
    try:
        return _findings(page, rules)
    except Error as error:
        if "Execution context was destroyed" not in error.message:
            raise
        page.wait_for_load_state()
        return _findings(page, rules)


def findings_in_both_schemes(page: Page) -> list[str]:
    """What axe holds against the page in the light, and against its colours in the dark."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = serious_findings(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {each}" for each in serious_findings(page, "color-contrast")]
    page.emulate_media(color_scheme="light")
    return found


def _findings(page: Page, rules: tuple[str, ...]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = rules
    result = page.evaluate(LOOK, options)
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary']})"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]
