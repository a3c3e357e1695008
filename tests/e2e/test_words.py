"""Words of the pages are explained where they stand, on the glossary page, and in the documents."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings


@pytest.mark.browser_context_args(java_script_enabled=False)
def test_a_word_opens_its_note_without_javascript(page: Page, clinic: str) -> None:
    page.goto(f"/runs/{clinic}")
    page.get_by_role("button", name="Nearest miss").click()
    note = page.get_by_role("note")
    expect(note).to_be_visible()
    expect(note).to_contain_text("It is where to look first for a fix.")
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()


def test_a_note_can_be_read_and_leads_to_the_glossary_and_its_documents(
    page: Page, clinic: str
) -> None:
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"/runs/{clinic}/cycles")
        page.get_by_role("button", name="Attempt").click()
        expect(page.get_by_role("note")).to_be_in_viewport(ratio=1)
        assert serious_findings(page) == [], width
    page.get_by_role("link", name="In the glossary").click()
    expect(page).to_have_url(re.compile("/glossary/#attempt$"))
    expect(page.locator("#attempt")).to_be_in_viewport()
    page.get_by_role("link", name="The same as a text to read").click()
    expect(page.get_by_role("heading", name="Concepts", level=1)).to_be_visible()
    page.get_by_role("link", name="ADR 0002").click()
    expect(page).to_have_url(re.compile("/docs/adr/0002-"))
