"""The page of the optimum: watched while it is searched for, stopped, and compared on two maps."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import SIZES

FOUND = re.compile(r"placed at priority 0: found [\d,]+, at most [\d,]+; [\d.]+ s")


def tight(n_pods: int, n_nodes: int) -> str:
    """A cluster that is too small for its pods, so that it takes a while to say how many fit."""
    draw = random.Random(0)
    sizes = [draw.randrange(150, 900) for _ in range(12)]
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{i}"},
            "status": {"allocatable": {"cpu": f"{draw.randrange(1500, 2500)}m", "pods": "110"}},
        }
        for i in range(n_nodes)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{i}", "namespace": "shop"},
            "spec": {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": f"{draw.choice(sizes)}m"}}}
                ]
            },
        }
        for i in range(n_pods)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]})


@pytest.fixture(scope="module")
def tight_run(api: Api) -> str:
    return api.finished_run(api.upload(tight(300, 60)))


def ask(page: Page, run: str, limit_s: int) -> None:
    page.goto(f"/runs/{run}/optimum")
    page.get_by_label("Time limit in seconds").fill(str(limit_s))
    page.get_by_role("button", name="Find the best placement").click()


def test_a_search_is_watched_and_stopped(page: Page, tight_run: str) -> None:
    ask(page, tight_run, 60)
    expect(page.get_by_role("status")).to_have_text(FOUND)
    chart = page.get_by_role("img", name=re.compile("The best placement found"))
    expect(chart).to_be_visible()
    expect(chart.locator("[data-found]")).to_have_attribute("points", re.compile(r"\d+,\d+ \d+"))
    expect(chart.locator("[data-most]")).to_have_attribute("points", re.compile(r"\d+,\d+ \d+"))
    assert serious_findings(page) == []
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The search was stopped.")).to_be_visible()
    page.get_by_text("How the search went").click()
    expect(chart).to_be_visible()
    expect(page.get_by_role("button", name="Find the best placement")).to_be_visible()


def test_what_is_not_proven_in_time_has_bounds(page: Page, tight_run: str) -> None:
    ask(page, tight_run, 1)
    table = page.get_by_role("region", name="Pods placed").get_by_role("table")
    expect(table).to_contain_text("Nobody can place more than")
    expect(page.get_by_text("Not proven: time ran out.")).to_be_visible()
    placed, best, most = (
        int(cell.replace(",", "")) for cell in table.get_by_role("cell").all_inner_texts()
    )
    assert placed <= best <= most <= 300


def test_run_and_optimum_stand_side_by_side(page: Page, api: Api) -> None:
    run = api.finished_run(api.sample("regret"))
    ask(page, run, 10)
    expect(
        page.get_by_text("Its placement is worth 11; the best one, as is proven, 109.")
    ).to_be_visible()
    maps = page.get_by_role("application")
    expect(maps).to_have_count(2)
    names = page.get_by_role("figure").locator("strong")
    expect(names).to_have_text(["A", "B"])
    expect(page.get_by_text("2 pods are not on the same node in both")).to_be_visible()
    maps.first.press("ArrowRight")
    expect(page.locator(".pair .ring")).to_have_count(2)
    page.get_by_text("Pods that are elsewhere (2)").click()
    elsewhere = page.get_by_role("group", name="Pods that are elsewhere")
    expect(elsewhere.get_by_role("row").filter(has_text="p1")).to_contain_text("n1")
    maps.first.press("x")
    expect(names).to_have_text(["B", "A"])
    assert serious_findings(page) == []
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    page.get_by_role("link", name="Cycle 1 in the Explorer").click()
    expect(page.get_by_label("Go to cycle")).to_have_value("1")
