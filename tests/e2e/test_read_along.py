"""From a page beside a text to the screen that shows what a row promises."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def test_a_row_opens_the_moment_that_shows_it(page: Page) -> None:
    page.goto("/learn/read/")
    page.get_by_role("link", name=re.compile("Preemption: how a pod makes room")).click()
    page.get_by_role("row", name=re.compile("A pod that fails waits")).get_by_role("button").click()
    page.wait_for_url(re.compile("/explore"))
    assert page.url.endswith("?c=1&p=PostFilter&tab=preempt")
    expect(page.get_by_role("tab", name="Preempt", selected=True)).to_be_visible()
    expect(page.get_by_text("node-5").first).to_be_visible()
