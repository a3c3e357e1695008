"""Everybody gets in: axe, keyboard, narrow screens, dark theme."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.test_simulator_export import JSON
from tests.e2e.axe import findings_in_both_schemes, serious_findings
from tests.e2e.conftest import Api
from tests.e2e.people import people_at
from tests.following.recorded import CHURN
from tests.page_list import addresses_of_pages

MAX_TABS = 60
OF_LAYOUT = ("scrollable-region-focusable", "button-name", "link-name", "aria-hidden-focus")
"""Rules of axe that a narrow screen may break where a wide one does not."""
IS_TOO_WIDE = """new Promise((done) => {
  const look = () => done(document.documentElement.scrollWidth > innerWidth);
  requestAnimationFrame(() => requestAnimationFrame(look));
})"""
"""Asked once what was drawn for another width has been drawn for this one."""


@pytest.fixture(scope="module")
def addresses(browser: Browser, base_url: str, api: Api, clinic: str) -> Iterator[list[str]]:
    """Every page there is, with a session of a live scheduler."""
    with people_at(browser, base_url) as open_browser:
        page = open_browser((1280, 720))
        page.goto("/extender/")
        page.get_by_label("Name").fill("Staging")
        page.get_by_role("button", name="Start a live session").click()
        session = page.url.rpartition("/")[2]
        page.goto("/follow/")
        page.get_by_label("Or a recording").set_input_files(CHURN)
        page.get_by_role("button", name="Follow", exact=True).click()
        page.get_by_role("button", name="Check kviz against it").click()
        followed = page.url.rpartition("/")[2]
        page.goto("/learn/what-is-a-node")
        page.get_by_role("button", name="Give as homework").click()
        homework = page.url.rpartition("/")[2]
        link = page.get_by_label("The link for your students").input_value()
        page.goto("/class/open/")
        page.get_by_role("button", name="Open a class: What is a node?").click()
        code = page.url.split("/")[-2]
        page.goto("/by-hand/")
        page.get_by_role("button", name="Place the pods: Size trap").click()
        game = page.url.rpartition("/")[2]
        gpus = api.sample("gpu-pool")
        experiment = api.finished_experiment(gpus, kind="survive", asked={"of": "nodes"})
        yield addresses_of_pages(
            run=clinic,
            snapshot=gpus,
            game=game,
            experiment=experiment,
            session=session,
            code=code,
            homework=homework,
            homework_code=link.split("/")[-2],
            followed=followed,
            export=api.upload(JSON.decode()),
        )


def test_axe_can_find_something(page: Page) -> None:
    page.goto("/plugins/")
    page.evaluate("document.body.append(document.createElement('button'))")
    [finding] = serious_findings(page)
    assert finding.startswith("button-name")


@pytest.mark.slow("axe looks at every page there is")
def test_axe_finds_nothing_serious_and_nothing_scrolls_sideways(
    page: Page, addresses: list[str]
) -> None:
    """In both schemes on a desk, then on a phone."""
    found = []
    for address in addresses:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(address)
        found += [f"{address} {finding}" for finding in findings_in_both_schemes(page)]
        page.set_viewport_size({"width": 320, "height": 640})
        if page.evaluate(IS_TOO_WIDE):
            found.append(f"{address} is wider than 320 pixels")
        found += [f"{address} {finding}" for finding in serious_findings(page, *OF_LAYOUT)]
    assert found == []


def focused_name(page: Page) -> str:
    """What a screen reader would call the focused element, roughly."""
    return str(
        page.evaluate(
            "document.activeElement.getAttribute('aria-label')"
            " ?? document.activeElement.textContent.trim()"
        )
    )


def tab_to(page: Page, name: str) -> None:
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        if focused_name(page) == name:
            return
    raise AssertionError(f"{name!r} cannot be reached with the Tab key")


def test_from_landing_page_to_findings_by_keyboard(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert focused_name(page) == "Skip to the content"
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "The pending clinic")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The pending clinic", level=1)).to_be_visible()
    tab_to(page, "Answer")
    page.keyboard.press("Space")
    expect(page.get_by_text("Only analytics-0")).to_be_visible()
    tab_to(page, "Configure first")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="New run")).to_be_visible()
    tab_to(page, "Run the scheduler")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("waiting pods? "))).to_be_visible()
    tab_to(page, "clinic/sensor-0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("^sensor-0 "))).to_be_visible()


def test_the_theme_can_be_chosen_and_is_kept(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    button = page.get_by_role("button", name="Theme: system")
    button.click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    page.goto("/plugins/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert re.fullmatch(r"rgb\(2\d, 2\d, 2\d\)", background)
