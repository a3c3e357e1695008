"""The landing page: a recorded run plays on it, for those who want motion."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

STILL = "15 nodes, 6 can take the pod"
MEASURED = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
"""From the first moment on, how far what is seen was moved by what plays."""
MAX_SHIFT = 0.02


def test_a_recorded_run_plays_pauses_and_moves_nothing_else(page: Page) -> None:
    page.clock.install()
    page.add_init_script(MEASURED)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    player = page.locator("[data-player]")
    expect(player).to_contain_text("Filter: 5 of 15 nodes can take research/inference-0.")
    expect(player.get_by_text(STILL)).to_have_count(0)
    expect(player).to_contain_text("Score: gpu-6 comes first of 5 nodes, with 668.")
    player.get_by_role("button", name="Pause").click()
    said = player.locator("[data-said]")
    before = said.inner_text()
    page.clock.run_for(60_000)
    expect(said).to_have_text(before)
    player.get_by_role("button", name="Play").click()
    expect(said).not_to_have_text(before)
    assert page.evaluate("shift") < MAX_SHIFT


def test_the_still_picture_is_there_without_motion_and_without_scripts(
    browser: Browser, base_url: str
) -> None:
    asked: list[str] = []
    for context in (
        browser.new_context(base_url=base_url, reduced_motion="reduce"),
        browser.new_context(base_url=base_url, java_script_enabled=False),
    ):
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto("/")
        expect(page.get_by_text(STILL)).to_be_visible()
        expect(page.locator("[data-player]")).to_be_hidden()
        context.close()
    assert not [url for url in asked if re.search(r"home/run\b.*json", url)]
