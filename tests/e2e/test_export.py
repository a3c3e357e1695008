"""What leaves kviz as a file, and what it is good for elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .axe import serious_findings
from .conftest import Api
from .test_explorer import explore, inspector, queues, story


def saved(page: Page, name: str, folder: Path) -> Path:
    """The file that a link or button makes the browser save."""
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


# ---------------------------------------------------------------- the run as a file


def test_a_run_is_saved_and_opened_again(page: Page, clinic: str, api: Api, tmp_path: Path) -> None:
    page.goto(f"/runs/{clinic}")
    file = saved(page, "Run as a file", tmp_path)
    assert re.fullmatch(r"why-pending-[0-9a-f]{8}\.kviz", file.name)

    page.goto("/runs/")
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Open", exact=True).click()

    expect(page.get_by_text("This run was opened from a file")).to_be_visible()
    again = page.url.rsplit("/", 1)[1]
    assert again != clinic
    first, second = (api.call("GET", f"runs/{run}/")["trace_hash"] for run in (clinic, again))
    assert first == second
    address = "?c=6&p=Filter&g=TaintToleration&tab=filter"
    seen = []
    for run in (clinic, again):
        explore(page, run, address)
        expect(inspector(page).get_by_role("table")).to_be_visible()
        seen.append(
            (story(page).inner_text(), inspector(page).inner_text(), queues(page).inner_text())
        )
    assert seen[0] == seen[1]


def test_a_run_dropped_among_clusters_is_opened(page: Page, clinic: str, tmp_path: Path) -> None:
    page.goto(f"/runs/{clinic}")
    file = saved(page, "Run as a file", tmp_path)
    page.goto("/snapshots/new")
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("link", name="Step through it")).to_be_visible()


def test_a_file_that_is_no_run_is_told_so(page: Page, tmp_path: Path) -> None:
    page.goto("/runs/")
    (tmp_path / "pods.yaml").write_text("kind: Pod")
    page.get_by_label("File").set_input_files(tmp_path / "pods.yaml")
    page.get_by_role("button", name="Open", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This is not a run saved by kviz")
    expect(alert).to_contain_text("upload it as a cluster")


# ---------------------------------------------------------------- the page for offline


@pytest.fixture
def offline(context: BrowserContext) -> Iterator[Page]:
    """A page that fails whatever it asks the network for, and remembers that it did."""
    context.set_offline(True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_a_run_is_stepped_from_a_disk(
    page: Page, offline: Page, preemption: str, tmp_path: Path
) -> None:
    offline.context.set_offline(False)
    page.goto(f"/runs/{preemption}")
    file = saved(page, "Page for offline", tmp_path)
    explore(page, preemption, "?c=3&tab=preempt")
    expect(inspector(page)).to_contain_text("Nominated")
    online = story(page).inner_text(), inspector(page).inner_text()
    offline.context.set_offline(True)

    offline.goto(f"{file.as_uri()}#c=3&tab=preempt")
    expect(inspector(offline)).to_contain_text("Nominated")
    assert (story(offline).inner_text(), inspector(offline).inner_text()) == online

    offline.keyboard.press("Home")
    n_cycles = int(offline.get_by_text(re.compile(r"^/ \d+$")).inner_text().removeprefix("/ "))
    for cycle in range(1, n_cycles + 1):
        expect(offline.get_by_label("Go to cycle")).to_have_value(str(cycle))
        offline.keyboard.press("2")
        expect(inspector(offline).get_by_role("table")).to_be_visible()
        offline.keyboard.press("ArrowRight")
    expect(offline).to_have_url(re.compile(rf"#c={n_cycles}&tab=filter$"))
    offline.keyboard.press("n")
    offline.get_by_label("Go to cycle").fill("4")
    offline.keyboard.press("Enter")
    offline.get_by_role("tab", name="Score").click()
    expect(inspector(offline)).to_contain_text("the only node that fits, so scoring was skipped")
    offline.go_back()
    expect(offline).not_to_have_url(re.compile("c=4"))


def test_a_page_from_a_disk_leads_nowhere_else(
    page: Page, offline: Page, clinic: str, tmp_path: Path
) -> None:
    offline.context.set_offline(False)
    page.goto(f"/runs/{clinic}")
    file = saved(page, "Page for offline", tmp_path)
    offline.context.set_offline(True)
    offline.goto(f"{file.as_uri()}#c=6&tab=score")
    expect(inspector(offline)).to_contain_text("2 of 2 nodes share the highest total")
    for tab in ("Why", "Filter", "Score", "Preempt", "Cache", "CycleState", "Log"):
        offline.get_by_role("tab", name=tab).click()
        expect(offline.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        assert offline.get_by_role("link").count() == 0
    expect(offline.get_by_role("button", name="Share")).to_have_count(0)
    offline.get_by_role("tab", name="Filter").click()
    expect(offline.get_by_label("would also fail")).to_have_count(0)
    assert serious_findings(offline) == []
