"""What the Explorer adds to the scheduler's own account, and its tour."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector
from tests.waiting import eventually

STOPS = (
    "One cycle, one pod",
    "Who is waiting",
    "Every node's answer",
    "The evidence",
    "Forward and back",
    "Find, share, look up",
)


def test_the_server_computes_what_the_scheduler_left_out_or_forgot(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&tab=filter")
    inspector(page).get_by_label("would also fail").check()
    expect(inspector(page)).to_contain_text("beyond what kube-scheduler computes")
    also = inspector(page).get_by_label(re.compile("would also have rejected"))
    expect(also.first).to_be_visible()

    page.get_by_role("tab", name="More").click()
    page.get_by_role("tab", name="State").click()
    panel = page.get_by_role("tabpanel", name="State")
    panel.get_by_role("button", name="Show CycleState").click()
    expect(panel.get_by_role("heading", name="PreFilter", exact=True)).to_be_visible()
    expect(panel.get_by_text("NodeResourcesFit").first).to_be_visible()
    page.get_by_label("Go to cycle").fill("7")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("button", name="Show CycleState")).to_be_visible()


def test_the_tour_is_left_taken_later_and_not_offered_again(page: Page, clinic: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    explore(page, clinic, "?c=3")
    page.get_by_role("button", name="Take the tour").click()
    stop = page.get_by_role("dialog")
    expect(stop).to_contain_text("1 of 6")
    page.keyboard.press("Escape")
    expect(stop).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Go to cycle")).to_have_value("4")
    page.keyboard.press("Control+k")
    page.get_by_label("Find a pod, node, cycle or command").fill("tour")
    page.keyboard.press("Enter")
    for number, title in enumerate(STOPS, start=1):
        expect(stop).to_contain_text(title)
        expect(stop).to_contain_text(f"{number} of 6")
        assert serious_findings(page) == []
        page.keyboard.press("Enter")
    expect(stop).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Go to cycle")).to_have_value("4")
    expect(page.get_by_role("button", name="Take the tour")).to_have_count(0)


def test_a_line_shows_how_much_of_the_optimum_is_in_reach(page: Page, api: Api) -> None:
    run = api.finished_run(api.sample("size-trap"))
    api.call("POST", f"runs/{run}/optimum/", {"mode": "snapshot"})
    eventually(
        lambda: (
            api.call("GET", f"runs/{run}/optimum/?mode=snapshot")["status"] == "finished" or None
        )
    )
    explore(page, run, "?c=2")
    timeline = page.get_by_role("region", name="Timeline")
    line = timeline.get_by_role("img", name="How much of the optimum is still in reach")
    expect(line).to_be_visible()
    expect(timeline).to_contain_text("1 pod worth 436, of 2 pods worth 798")
    from_here = timeline.get_by_role("link", name="The optimum from this cycle on")
    expect(from_here).to_have_attribute("href", f"/runs/{run}/optimum?mode=snapshot&at=2")
    assert serious_findings(page) == []
    # The mark on the line is one more way for a pointer; the link is there for everybody.
    timeline.get_by_role("button", name="Cycle 1 lost the optimum").last.click()
    expect(page).to_have_url(re.compile(r"[?&]c=1\b"))
