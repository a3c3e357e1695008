"""Two runs side by side: where they part, and two maps with one place in time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from kviz.runs.presets import PRESETS
from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.waiting import eventually

PACKING = next(preset.text for preset in PRESETS if preset.slug == "bin-packing")


@pytest.fixture(scope="module")
def cluster(api: Api) -> str:
    return api.sample("fit-and-balance")


@pytest.fixture(scope="module")
def two(api: Api, cluster: str) -> tuple[str, str]:
    """The default profile, and one that packs."""
    return api.finished_run(cluster), api.finished_run(cluster, scheduler_config=PACKING)


def maps(page: Page) -> Locator:
    return page.get_by_role("application")


def is_over(api: Api, run: str) -> bool:
    return bool(api.call("GET", f"runs/{run}/")["status"] == "finished")


def test_an_engineer_reads_where_packing_parts_from_the_default(
    page: Page, api: Api, cluster: str
) -> None:
    api.finished_run(cluster)
    page.goto(f"/runs/new?snapshot={cluster}&preset=bin-packing")
    page.get_by_role("button", name="Run the scheduler").click()
    expect(page).to_have_url(re.compile("/runs/[0-9a-f-]{36}$"))
    run = page.url.rsplit("/", 1)[1]
    assert eventually(lambda: is_over(api, run))
    page.goto(f"/runs/{run}")
    page.get_by_role("link", name=re.compile("^Compare with ")).click()

    before, after = re.findall("[0-9a-f-]{36}", page.url)
    parting = api.call("GET", f"runs/{before}/compare/{after}/")["first_divergence"]
    assert parting["point"] == "Score"
    expect(page.get_by_text("The runs diverge in cycle")).to_be_visible()
    place = page.get_by_role("region", name="First difference")
    for said in (parting["node"], str(parting["a"]), str(parting["b"])):
        expect(place).to_contain_text(said)
    expect(maps(page)).to_have_count(2)
    pair = page.get_by_role("region", name="Attempts of both runs")
    expect(pair).to_contain_text(parting["pod"])


def test_one_timeline_and_one_choice_move_both_maps(page: Page, two: tuple[str, str]) -> None:
    a, b = two
    page.goto(f"/runs/compare?a={a}&b={b}")
    slider = page.get_by_role("slider", name="Attempts of both runs, aligned")
    opened = slider.input_value()
    expect(page.get_by_role("button", name="First difference")).to_be_disabled()
    page.get_by_role("button", name="Next difference").click()
    expect(slider).not_to_have_value(opened)
    expect(page).to_have_url(re.compile("at=[0-9]+"))
    page.reload()
    expect(slider).not_to_have_value(opened)
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_text("At the end of both runs.")).to_be_visible()
    slider.press("f")
    expect(slider).to_have_value(opened)

    maps(page).first.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile("^Node "))).to_be_visible()
    expect(page.locator(".pair .ring")).to_have_count(2)
    page.get_by_label("Colour").select_option("cpu")
    expect(page.get_by_text("0-100%")).to_be_visible()
    page.get_by_text("Pods that are elsewhere").click()
    assert serious_findings(page) == []

    names = page.get_by_role("figure").locator("strong")
    expect(names).to_have_text(["A", "B"])
    maps(page).first.press("x")
    expect(names).to_have_text(["B", "A"])
    page.set_viewport_size({"width": 390, "height": 844})
    expect(names).to_have_text(["B"])
    page.get_by_role("button", name="Swap x").click()
    expect(names).to_have_text(["A"])
