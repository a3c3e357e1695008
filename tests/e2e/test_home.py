"""The landing page: a recorded run plays on it, for those who want motion."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect


def test_a_recorded_run_plays_and_pauses(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/")
    player = page.locator("[data-player]")
    expect(player).to_contain_text("Filter: 5 of 15 nodes can take research/inference-0.")
    expect(player.get_by_text("15 nodes, 6 can take the pod")).to_have_count(0)
    expect(player).to_contain_text("Score: gpu-6 comes first of 5 nodes, with 668.")
    player.get_by_role("button", name="Pause").click()
    said = player.locator("[data-said]")
    before = said.inner_text()
    page.wait_for_timeout(2_500)
    expect(said).to_have_text(before)
    player.get_by_role("button", name="Play").click()
    expect(said).not_to_have_text(before)


def test_nothing_moves_where_motion_is_not_wanted(browser: Browser, base_url: str) -> None:
    context = browser.new_context(base_url=base_url, reduced_motion="reduce")
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    expect(page.get_by_text("15 nodes, 6 can take the pod")).to_be_visible()
    expect(page.locator("[data-player]")).to_be_hidden()
    assert not [url for url in asked if re.search(r"home/run\b.*json", url)]
    context.close()


def test_without_scripts_the_still_picture_is_there(browser: Browser, base_url: str) -> None:
    context = browser.new_context(base_url=base_url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_text("15 nodes, 6 can take the pod")).to_be_visible()
    expect(page.locator("[data-player]")).to_be_hidden()
    context.close()


def test_what_plays_moves_nothing_else(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    expect(page.locator("[data-player]")).to_be_visible()
    shift = page.evaluate(
        """new Promise((done) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) sum += entry.value;
          }).observe({type: "layout-shift", buffered: true});
          setTimeout(() => done(sum), 2500);
        })"""
    )
    assert shift < 0.02
