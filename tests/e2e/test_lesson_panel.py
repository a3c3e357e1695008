"""A lesson beside the map: predicted on it, revealed there, on a phone, with the keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import serious_findings

PHONE = (390, 800)


@pytest.fixture
def panel(page: Page) -> Locator:
    """The first lesson from its beginning, at the step that asks for a node, in the Explorer."""
    page.goto("/learn/what-is-a-node")
    page.get_by_role("button", name=re.compile("Begin")).first.click()
    page.get_by_role("button", name="Next step").click()
    page.get_by_role("link", name="Look in the Explorer").click()
    found = page.get_by_role("region", name="Lesson", exact=True)
    expect(found.get_by_role("heading", name="A pod asks")).to_be_visible()
    return found


def choose_second_on_map(page: Page, panel: Locator) -> None:
    """Choose a node with the keys of the map, as who cannot point at it does."""
    cluster = page.locator("#cluster-map")
    expect(cluster).to_have_attribute("aria-label", re.compile("3"))
    cluster.focus()
    for key, node in (("Home", "attic"), ("ArrowRight", "cellar")):
        page.keyboard.press(key)
        expect(panel.get_by_text(f"{node}, chosen on the map")).to_be_visible()


def test_a_node_is_chosen_on_the_map_and_what_happens_arrives_there(
    page: Page, panel: Locator
) -> None:
    answer = panel.get_by_role("button", name="Answer")
    expect(answer).to_be_disabled()
    choose_second_on_map(page, panel)
    answer.click()
    expect(panel.get_by_text("Try once more")).to_be_visible()
    choose_second_on_map(page, panel)
    answer.click()
    expect(panel.get_by_role("status").first).to_contain_text("kitchen")
    expect(panel.get_by_text("3Gi of memory is not 8Gi")).to_be_visible()
    expect(page).to_have_url(re.compile("c=1.*p=Filter.*g=NodeResourcesFit"))
    panel.get_by_role("button", name="Next", exact=False).click()
    expect(panel.get_by_role("heading", name="Almost enough")).to_be_focused()
    expect(page).to_have_url(re.compile("step=3"))
    page.reload()
    expect(panel.get_by_role("heading", name="Almost enough")).to_be_visible()
    assert serious_findings(page) == []


def test_on_a_phone_the_panel_leaves_most_of_the_screen_to_the_map(
    page: Page, panel: Locator
) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    box = panel.bounding_box()
    assert box is not None
    assert box["height"] < PHONE[1] / 2
    assert box["width"] <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    panel.get_by_role("button", name="Fold").click()
    expect(panel.get_by_role("heading", name="A pod asks")).to_be_hidden()
    folded = panel.bounding_box()
    assert folded is not None
    assert folded["height"] < PHONE[1] / 8
    expect(page.locator("#cluster-map canvas")).to_be_in_viewport()
    panel.get_by_role("button", name="Unfold").click()
    expect(panel.get_by_role("heading", name="A pod asks")).to_be_visible()
    assert serious_findings(page) == []
