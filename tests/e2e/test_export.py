"""What leaves kviz as a file, and what it is good for elsewhere."""

from __future__ import annotations

import csv
import io
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.test_explorer import explore, inspector, told

MATRIX = "Filter: nodes by plugin"


def chosen(page: Page, name: str, folder: Path) -> Path:
    """The file that an item of the menu makes the browser save; a note may follow its name."""
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=re.compile(f"^{re.escape(name)}")).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def table(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))


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


def test_a_run_is_stepped_from_a_disk_which_leads_nowhere_else(
    page: Page, offline: Page, preemption: str, tmp_path: Path
) -> None:
    offline.context.set_offline(False)
    page.goto(f"/runs/{preemption}")
    page.locator("#export summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Offline page").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    explore(page, preemption, "?c=3&tab=preempt")
    expect(inspector(page)).to_contain_text("Nominated")
    online = told(page)
    offline.context.set_offline(True)

    offline.goto(f"{file.as_uri()}#c=3&tab=preempt")
    expect(inspector(offline)).to_contain_text("Nominated")
    assert told(offline) == online

    offline.keyboard.press("Home")
    n_cycles = int(offline.get_by_text(re.compile(r"^/ \d+$")).inner_text().removeprefix("/ "))
    for cycle in range(1, n_cycles + 1):
        expect(offline.get_by_label("Go to cycle")).to_have_value(str(cycle))
        offline.keyboard.press("2")
        expect(inspector(offline).get_by_role("table")).to_be_visible()
        offline.keyboard.press("ArrowRight")
    expect(offline).to_have_url(re.compile(rf"#c={n_cycles}&tab=filter$"))
    offline.get_by_label("Go to cycle").fill("4")
    offline.keyboard.press("Enter")
    offline.get_by_role("tab", name="Score").click()
    expect(inspector(offline)).to_contain_text("the only node that fits, so scoring was skipped")
    offline.go_back()
    expect(offline).to_have_url(re.compile("#c=4&tab=filter$"))
    leads_nowhere(offline, tmp_path)
    assert serious_findings(offline) == []


def leads_nowhere(offline: Page, folder: Path) -> None:
    """No link on any tab, nothing to share, no file that only a server makes."""
    for tab in ("Why", "Filter", "Score", "Preempt", "Node", "More", "State", "Log"):
        offline.get_by_role("tab", name=tab).click()
        expect(offline.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        assert offline.get_by_role("link").count() == 0
    expect(offline.get_by_role("button", name="Share")).to_have_count(0)
    offline.get_by_role("tab", name="Filter").click()
    expect(offline.get_by_label("would also fail")).to_have_count(0)
    said = {row["NodeResourcesFit"] for row in table(chosen(offline, MATRIX, folder))}
    assert said <= {"passed", "rejected", "not evaluated"}
    assert chosen(offline, "Map as SVG", folder).read_text(encoding="utf-8").startswith("<svg")
    offline.get_by_role("button", name="Export").click()
    expect(offline.get_by_role("menuitem", name="Run as a file")).to_have_count(0)
    offline.keyboard.press("Escape")


# ---------------------------------------------------------------- the menu, pictures and tables


def test_the_menu_opens_by_key_and_fits(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=1")
    for width, height in ((1280, 720), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press("e")
        expect(page.get_by_role("menuitem").first).to_be_focused()
        box = page.get_by_role("menu").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
        assert serious_findings(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("menu")).to_have_count(0)
        expect(page.get_by_role("button", name="Export")).to_be_focused()


def test_a_sample_is_watched_from_the_landing_page_and_saved_at_its_end(
    page: Page, tmp_path: Path
) -> None:
    page.goto("/")
    page.get_by_role("button", name="Run: The pending clinic").click()
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}/explore"))
    expect(page).to_have_title(re.compile("The pending clinic"))
    expect(page.get_by_role("button", name="Recorded")).to_be_visible()
    assert chosen(page, "Run as a file (.kviz)", tmp_path).stat().st_size > 0


def test_the_map_leaves_as_vectors_and_as_pixels(page: Page, clinic: str, tmp_path: Path) -> None:
    explore(page, clinic, "?c=6&p=Filter")
    expect(inspector(page)).to_be_visible()
    root = ElementTree.parse(chosen(page, "Map as SVG", tmp_path)).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{svg}svg"
    texts = [element.text for element in root.iter(f"{svg}text")]
    assert any(re.match(r"Cycle 6 . Filter . 00:00:", text or "") for text in texts)
    assert any((text or "").startswith("rejected ") for text in texts)
    assert root.find(f".//{svg}image") is None
    defined = {element.get("id") for element in root.iter()}
    assert {use.get("href", "")[1:] for use in root.iter(f"{svg}use")} <= defined

    png = chosen(page, "Map as PNG", tmp_path).read_bytes()
    width, height = struct.unpack(">II", png[16:24])
    assert [width, height] == [
        2 * round(float(root.get(side, "0"))) for side in ("width", "height")
    ]
    assert chosen(page, "Timeline as SVG", tmp_path).read_text(encoding="utf-8").startswith("<svg")


def test_tables_leave_with_all_their_rows(page: Page, preemption: str, tmp_path: Path) -> None:
    explore(page, preemption, "?c=1")
    nodes = table(chosen(page, "Nodes", tmp_path))
    assert [row["node"] for row in nodes] == [f"node-{n}" for n in range(1, 7)]
    assert nodes[0]["cpu allocatable milli"] == "4000"
    page.get_by_label("Filter nodes").fill("node-4")
    assert [row["node"] for row in table(chosen(page, "Nodes", tmp_path))] == ["node-4"]

    matrix = table(chosen(page, MATRIX, tmp_path))
    assert {row["NodeResourcesFit"] for row in matrix} == {"rejected"}
    runs = table(chosen(page, "Preemption: dry runs", tmp_path))
    choice = table(chosen(page, "Preemption: the choice of a node", tmp_path))
    (nominated,) = [row["node"] for row in choice if row["out by"] == "nominated"]
    (victims,) = [row["victims"] for row in runs if row["node"] == nominated]
    assert victims == "batch/render-1"
    assert len(table(chosen(page, "Cycles", tmp_path))) == 7
    page.get_by_label("Filter nodes").fill("")
    cache = table(chosen(page, "Cache: pods of a node", tmp_path))
    assert {row["node"] for row in cache} == {nominated}
    assert {row["in the cache"] for row in cache} >= {"terminating", "nominated"}
    (event,) = table(chosen(page, "Events of a pod", tmp_path))
    assert event["reason"] == "FailedScheduling"
    log = table(chosen(page, "Log of the cycle", tmp_path))
    assert "PreemptionDecided" in {row["kind"] for row in log}
