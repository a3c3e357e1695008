"""From a page beside a text to the screen that shows what a row promises."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from kviz.companion.reading import BUNDLED, Place, read_reading

PLACES = [
    pytest.param(file.stem, number, row.at, id=f"{file.stem}-{number}")
    for file in sorted(BUNDLED.glob("*.yaml"))
    for number, row in enumerate(read_reading(file.read_text()).rows, 1)
    if row.at
]


def test_a_row_opens_the_moment_that_shows_it(page: Page) -> None:
    page.goto("/learn/read/")
    page.get_by_role("link", name=re.compile("Preemption: how a pod makes room")).click()
    page.get_by_role("row", name=re.compile("A pod that fails waits")).get_by_role("button").click()
    page.wait_for_url(re.compile("/explore"))
    assert page.url.endswith("?c=1&p=PostFilter&tab=preempt")
    expect(page.get_by_role("tab", name="Preempt", selected=True)).to_be_visible()
    expect(page.get_by_text("node-5").first).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(("reading", "number", "place"), PLACES)
def test_the_screen_has_the_words_of_the_row(
    page: Page, reading: str, number: int, place: Place
) -> None:
    page.goto(f"/learn/read/{reading}")
    page.locator(f"#row-{number}").get_by_role("button").click()
    page.wait_for_url(re.compile("/runs/"))
    if place.view == "optimum":
        search = page.get_by_role("button", name="Find the best placement")
        while not search.is_visible():  # the run is still carried out
            page.reload()
        search.click()
    for words in place.words:
        expect(page.locator("body")).to_contain_text(words, use_inner_text=True)
