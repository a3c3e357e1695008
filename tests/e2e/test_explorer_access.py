"""axe-core in the Explorer: every tab, dialog and table, in both schemes, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.e2e.axe import findings_in_both_schemes, serious_findings
from tests.e2e.test_explorer import SIZES, explore, inspector


def tabs(page: Page) -> Iterator[str]:
    """Open each tab of the Inspector, whatever tabs there are."""
    every = inspector(page).get_by_role("tab")
    expect(every.first).to_be_visible()
    for tab in every.all():
        tab.click()
        expect(inspector(page).get_by_role("tabpanel")).to_have_attribute("aria-busy", "false")
        yield tab.inner_text()


def findings_in_tabs(page: Page) -> list[str]:
    return [f"{tab}: {finding}" for tab in tabs(page) for finding in findings_in_both_schemes(page)]


def test_tabs_of_a_run(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&p=Filter&g=TaintToleration&n=worker-2")
    assert findings_in_tabs(page) == []


def test_tabs_of_a_preemption(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1&p=PostFilter")
    assert [tab for tab in tabs(page) if serious_findings(page)] == []


def test_regions_on_a_phone(page: Page, clinic: str) -> None:
    width, height = SIZES["phone"]
    page.set_viewport_size({"width": width, "height": height})
    explore(page, clinic, "?c=6&p=Filter")
    for region in ("Queues", "Map", "Inspector"):
        page.get_by_role("button", name=region, exact=True).click()
        assert serious_findings(page) == [], region


def test_tables_and_dialogs(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    found = []
    for key in ("?", "Control+k", "m"):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        found += [f"{key}: {finding}" for finding in findings_in_both_schemes(page)]
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Show as a table").click()
    page.get_by_role("button", name="List of cycles").click()
    expect(page.get_by_role("table", name="Nodes")).to_be_visible()
    expect(page.get_by_role("table", name="Cycles of the run")).to_be_visible()
    assert found + findings_in_both_schemes(page) == []


def test_explanations_for_pointer_and_keyboard(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&p=Filter&tab=picture")
    picture = inspector(page).get_by_role("img", name=re.compile("all extension points"))
    expect(picture.locator(".lit")).to_be_in_viewport()
    pipeline = page.get_by_role("region", name="Pipeline")
    pipeline.get_by_role("button", name=re.compile("^Filter")).hover()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("Calls its plugins in order on every node.")
    expect(tip.get_by_role("img", name=re.compile("all extension points"))).to_be_visible()
    assert serious_findings(page) == []

    page.get_by_role("button", name="Show as a table").focus()
    page.keyboard.press("Tab")
    word = page.get_by_text("active", exact=True)
    word.focus()
    expect(tip).to_contain_text("highest priority first")
    expect(word).to_have_attribute("aria-description", re.compile("ready to be scheduled"))
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
