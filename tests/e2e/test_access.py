"""Everybody gets in: axe, keyboard, narrow screens, dark theme."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.api.test_simulator_export import JSON
from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_editor import editor, unfold
from tests.following.recorded import CHURN
from tests.page_list import addresses_of_pages

MAX_TABS = 60


@pytest.fixture
def addresses(page: Page, api: Api, clinic: str) -> list[str]:
    """Every page there is, with a session of a live scheduler."""
    page.goto("/extender/")
    page.get_by_label("Name").fill("Staging")
    page.get_by_role("button", name="Start a live session").click()
    session = page.url.rpartition("/")[2]
    page.goto("/follow/")
    page.get_by_label("Or a recording").set_input_files(CHURN)
    page.get_by_role("button", name="Follow", exact=True).click()
    page.get_by_role("button", name="Check kviz against it").click()
    followed = page.url.rpartition("/")[2]
    page.goto("/class/")
    page.get_by_role("button", name="Open a class: What is a node?").click()
    code = page.url.split("/")[-2]
    page.goto("/by-hand/")
    page.get_by_role("button", name="Place the pods: Size trap").click()
    game = page.url.rpartition("/")[2]
    gpus = api.sample("gpu-pool")
    experiment = api.finished_experiment(gpus, kind="survive", asked={"of": "nodes"})
    return addresses_of_pages(
        run=clinic,
        snapshot=gpus,
        game=game,
        experiment=experiment,
        session=session,
        code=code,
        followed=followed,
        export=api.upload(JSON.decode()),
    )


def findings_of(page: Page, addresses: list[str]) -> list[str]:
    found = []
    for address in addresses:
        page.goto(address)
        found += [f"{address} {finding}" for finding in serious_findings(page)]
    return found


def test_axe_can_find_something(page: Page) -> None:
    page.goto("/plugins/")
    page.evaluate("document.body.append(document.createElement('button'))")
    [finding] = serious_findings(page)
    assert finding.startswith("button-name")


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    page: Page, addresses: list[str], color_scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=color_scheme)
    assert findings_of(page, addresses) == []


@pytest.mark.browser_context_args(viewport={"width": 390, "height": 844})
def test_axe_finds_nothing_serious_on_a_phone(page: Page, addresses: list[str]) -> None:
    assert findings_of(page, addresses) == []


def test_axe_finds_nothing_serious_in_a_form_with_errors(page: Page) -> None:
    page.goto("/runs/new")
    unfold(page, "Scheduler configuration")
    editor(page, "Scheduler configuration").fill("kind: Nonsense")
    page.get_by_label("Cluster").select_option(index=1)
    page.get_by_role("button", name="Run the scheduler").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert serious_findings(page) == []


@pytest.mark.browser_context_args(viewport={"width": 320, "height": 640})
def test_no_page_scrolls_sideways_at_320_pixels(page: Page, addresses: list[str]) -> None:
    wide = []
    for address in addresses:
        page.goto(address)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(address)
    assert wide == []


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
    expect(page.get_by_text("finished", exact=True)).to_be_visible()
    tab_to(page, "clinic/sensor-0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Why sensor-0 is pending")).to_be_visible()


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
