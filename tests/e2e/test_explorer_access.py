"""axe-core in the Explorer: every tab, dialog and table, light and dark, on a desk and a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.test_explorer import SIZES, explore, inspector

Scheme = Literal["light", "dark"]

pytestmark = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture
def in_scheme(page: Page, scheme: Scheme) -> Page:
    page.emulate_media(color_scheme=scheme)
    return page


def tabs(page: Page) -> Iterator[str]:
    """Open each tab of the Inspector, whatever tabs there are."""
    every = inspector(page).get_by_role("tab")
    expect(every.first).to_be_visible()
    for tab in every.all():
        tab.click()
        expect(inspector(page).get_by_role("tabpanel")).to_have_attribute("aria-busy", "false")
        yield tab.inner_text()


def findings_in_tabs(page: Page) -> list[str]:
    return [f"{tab}: {finding}" for tab in tabs(page) for finding in serious_findings(page)]


@pytest.mark.parametrize("query", ["?c=6&n=worker-2", "?c=6&p=Filter&g=TaintToleration", "?c=11"])
def test_tabs_of_a_run(in_scheme: Page, clinic: str, query: str) -> None:
    explore(in_scheme, clinic, query)
    assert findings_in_tabs(in_scheme) == []


def test_tabs_of_a_preemption(in_scheme: Page, preemption: str) -> None:
    explore(in_scheme, preemption, "?c=1&p=PostFilter")
    assert findings_in_tabs(in_scheme) == []


def test_pictures_are_lit_where_one_stands(in_scheme: Page, clinic: str) -> None:
    explore(in_scheme, clinic, "?c=6&p=Filter&tab=picture")
    panel = inspector(in_scheme).get_by_role("tabpanel", name="Picture")
    cycles = panel.get_by_role("img", name=re.compile("all extension points"))
    expect(cycles.locator(".lit")).to_have_text("Filter")
    expect(cycles.locator(".lit")).to_be_in_viewport()
    expect(panel).to_contain_text("Cycle 6 is at Filter.")
    in_scheme.get_by_role("button", name=re.compile("^Score")).click()
    expect(cycles.locator(".lit")).to_have_text(["Score", "NormalizeScore"])
    queue = panel.get_by_role("img", name=re.compile("scheduling queue"))
    expect(queue.locator(".lit")).to_contain_text("in flight")
    expect(queue.locator(".lit .count")).to_have_text("1")


def test_regions_on_a_phone(in_scheme: Page, clinic: str) -> None:
    width, height = SIZES["phone"]
    in_scheme.set_viewport_size({"width": width, "height": height})
    explore(in_scheme, clinic, "?c=6&p=Filter")
    found = []
    for region in ("Queues", "Map"):
        in_scheme.get_by_role("button", name=region, exact=True).click()
        found += serious_findings(in_scheme)
    in_scheme.get_by_role("button", name="Inspector", exact=True).click()
    assert found + findings_in_tabs(in_scheme) == []


def test_tables_in_place_of_pictures(in_scheme: Page, clinic: str) -> None:
    explore(in_scheme, clinic, "?c=6")
    in_scheme.get_by_role("button", name="Show as a table").click()
    in_scheme.get_by_role("button", name="List of cycles").click()
    expect(in_scheme.get_by_role("table", name="Nodes")).to_be_visible()
    expect(in_scheme.get_by_role("table", name="Cycles of the run")).to_be_visible()
    assert serious_findings(in_scheme) == []


@pytest.mark.parametrize("key", ["?", "Control+k", "m"])
def test_dialogs(in_scheme: Page, clinic: str, key: str) -> None:
    explore(in_scheme, clinic, "?c=6")
    in_scheme.keyboard.press(key)
    expect(in_scheme.get_by_role("dialog")).to_be_visible()
    assert serious_findings(in_scheme) == []


def test_an_explanation_in_place(in_scheme: Page, clinic: str) -> None:
    explore(in_scheme, clinic, "?c=6")
    in_scheme.get_by_role("button", name=re.compile("^Filter")).hover()
    tip = in_scheme.get_by_role("tooltip")
    expect(tip).to_contain_text("Calls its plugins in order on every node.")
    expect(tip.get_by_role("img", name=re.compile("all extension points"))).to_be_visible()
    assert serious_findings(in_scheme) == []


def test_a_term_is_explained_to_the_keyboard(in_scheme: Page, clinic: str) -> None:
    explore(in_scheme, clinic, "?c=6&tab=score")
    in_scheme.get_by_role("button", name="Show as a table").focus()
    in_scheme.keyboard.press("Tab")
    word = in_scheme.get_by_text("active", exact=True)
    word.focus()
    expect(in_scheme.get_by_role("tooltip")).to_contain_text("highest priority first")
    expect(word).to_have_attribute("aria-description", re.compile("ready to be scheduled"))
    in_scheme.keyboard.press("Escape")
    expect(in_scheme.get_by_role("tooltip")).to_be_hidden()
