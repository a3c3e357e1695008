"""Pods placed by hand in a browser: tapped, by keyboard, on a narrow screen, refused, compared."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import serious_findings

SMALL, LARGE = "default/small", "default/large"


def begin(page: Page, title: str = "Size trap") -> None:
    page.goto("/by-hand/")
    page.get_by_role("button", name=f"Place the pods: {title}").click()
    expect(page.get_by_text("Placed: 0 of 2")).to_be_visible()


def pod_button(page: Page, pod: str) -> Locator:
    """A waiting pod's own button, not one of those that place it."""
    return page.get_by_role("button", name=pod).and_(page.locator(".board__pod"))


def choose(page: Page, pod: str) -> None:
    pod_button(page, pod).click()


def test_whoever_beats_the_scheduler_sees_both_and_the_best(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    begin(page)
    choose(page, SMALL)
    page.get_by_role("button", name=f"Place {SMALL} on n1").click()
    choose(page, LARGE)
    expect(page.get_by_text("NodeResourcesFit: needs 4 cpu, 2 free of 4").first).to_be_visible()
    expect(page.get_by_role("button", name=f"Place {LARGE}")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    choose(page, LARGE)
    expect(page.locator(".map__node--feasible")).to_have_count(1)
    page.locator(".map__node--feasible").click()
    choose(page, SMALL)
    page.get_by_role("button", name=f"Place {SMALL} on n2").click()
    expect(page.get_by_text("Placed: 2 of 2")).to_be_visible()
    expect(page.get_by_text("kube-scheduler", exact=True)).to_have_count(0)
    page.get_by_role("button", name="I am done").click()
    expect(page.get_by_text("You beat the scheduler, and no placement is better")).to_be_visible()
    rows = page.locator(".board table").first.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("2 of 2")
    expect(rows.nth(1)).to_contain_text("1 of 2")
    expect(rows.nth(2)).to_contain_text("The best there is, which is proved")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert serious_findings(page) == []


def test_a_board_is_played_with_the_keyboard_alone(page: Page) -> None:
    begin(page)
    for pod, node in ((LARGE, "n1"), (SMALL, "n2")):
        chosen = pod_button(page, pod)
        chosen.press("Enter")
        put = page.get_by_role("button", name=f"Place {pod} on {node}")
        expect(put).to_be_visible()
        expect(chosen).to_be_focused()
        for _ in range(20):
            if put.count() and put.evaluate("each => each === document.activeElement"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("[data-live]")).to_contain_text(f"{pod} is on {node}, total")
    assert serious_findings(page) == []
    page.reload()
    expect(page.get_by_text("Placed: 2 of 2")).to_be_visible()
