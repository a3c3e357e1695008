"""What the Explorer adds to the scheduler's own account, and its tour."""

from __future__ import annotations

import re

import pytest
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
CASCADE = """\
apiVersion: v1
kind: Node
metadata: {name: east, labels: {side: east}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: west, labels: {side: west}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: low-a, namespace: shop}
spec: {priority: 1, nodeName: west, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: low-b, namespace: shop}
spec: {priority: 1, nodeName: west, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: middle-a
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: middle, uid: m, controller: true}]
spec: {priority: 5, nodeName: east, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: shop}
spec:
  priority: 9
  nodeSelector: {side: east}
  containers: [{name: c, resources: {requests: {cpu: "3"}}}]
"""


@pytest.fixture
def cascade(api: Api) -> str:
    """Return a run in which an evicted pod is recreated and evicts two others."""
    snapshot = api.upload(CASCADE)
    return api.finished_run(snapshot, scenario="options: {recreateEvicted: true}\nsteps: []\n")


def test_other_plugins_that_would_also_have_failed(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&tab=filter")
    inspector(page).get_by_label("would also fail").check()
    expect(inspector(page)).to_contain_text("beyond what kube-scheduler computes")
    also = inspector(page).get_by_label(re.compile("would also have rejected"))
    expect(also.first).to_be_visible()


def test_a_cascade_is_followed_from_one_preemption_to_the_next(page: Page, cascade: str) -> None:
    explore(page, cascade, "?c=1&tab=preempt")
    tree = inspector(page).get_by_role("list", name="The cascade")
    expect(tree).to_contain_text("came back and evicts")
    expect(tree).to_contain_text("shop/low-b")
    tree.get_by_role("button", name="Cycle 2").click()
    expect(page.get_by_label("Go to cycle")).to_have_value("2")


def test_victims_are_tried_one_by_one(page: Page, cascade: str) -> None:
    explore(page, cascade, "?c=2&tab=preempt")
    back = inspector(page).get_by_role("button", name="Back", exact=True)
    back.click()
    expect(inspector(page)).to_contain_text("1 of 2 tried")
    back.click()
    expect(inspector(page)).to_contain_text("0 of 2 tried")
    inspector(page).get_by_role("button", name="Try the next").click()
    expect(inspector(page)).to_contain_text("has to go")


# ---------------------------------------------------------------- the first time


def test_a_tour_of_six_stops_by_keyboard(page: Page, clinic: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/runs/{clinic}/explore?c=3")
    page.get_by_role("button", name="Take the tour").click()
    stop = page.get_by_role("dialog")
    for number, title in enumerate(STOPS, start=1):
        expect(stop).to_contain_text(title)
        expect(stop).to_contain_text(f"{number} of 6")
        assert serious_findings(page) == []
        page.keyboard.press("Enter")
    expect(stop).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Go to cycle")).to_have_value("3")
    expect(page.get_by_role("button", name="Take the tour")).to_have_count(0)


def test_the_tour_can_be_declined_left_and_taken_later(page: Page, clinic: str) -> None:
    page.goto(f"/runs/{clinic}/explore?c=3")
    page.get_by_role("button", name="No, thanks").click()
    expect(page.get_by_role("button", name="Take the tour")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_label("Find a pod, node, cycle or command").fill("tour")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("1 of 6")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Go to cycle")).to_have_value("4")


def test_what_plugins_prepared_can_be_looked_into(page: Page, clinic: str) -> None:
    page.goto(f"/runs/{clinic}/explore?c=3&tab=state")
    panel = page.get_by_role("tabpanel", name="State")
    panel.get_by_role("button", name="Show CycleState").click()
    expect(panel.get_by_role("heading", name="PreFilter", exact=True)).to_be_visible()
    expect(panel.get_by_text("NodeResourcesFit").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("button", name="Show CycleState")).to_be_visible()


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
