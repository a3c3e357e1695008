"""The tab Model lights its sets on the map, and yesterday's names stand beside today's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector, queues
from tests.waiting import eventually


@pytest.fixture(scope="module")
def gpu_pool(api: Api) -> str:
    return api.finished_run(api.sample("gpu-pool"))


@pytest.fixture
def model(page: Page, gpu_pool: str) -> Locator:
    """The tab at a cycle with 15 possible, 9 feasible and 3 viable nodes; the pointer elsewhere."""
    page.emulate_media(reduced_motion="reduce")
    explore(page, gpu_pool, "?c=8&tab=model")
    panel = inspector(page).get_by_role("tabpanel", name="Model")
    expect(panel).to_contain_text("9 of 15 nodes are feasible, 3 of these viable")
    page.get_by_label("Go to cycle").hover()
    return panel


def picture(page: Page) -> Callable[[], bytes]:
    return lambda: page.locator("#cluster-map canvas").screenshot()


def settled(look: Callable[[], bytes]) -> bytes:
    """What the map shows once it no longer changes."""
    return eventually(lambda: found if (found := look()) == look() else None)


def changed(look: Callable[[], bytes], before: bytes) -> bytes:
    eventually(lambda: look() != before)
    return settled(look)


def symbol(panel: Locator, name: str) -> Locator:
    return panel.locator(".nest__head, dt").get_by_text(name, exact=True)


def test_sets_light_up_and_what_is_chosen_stays_lit(page: Page, model: Locator) -> None:
    look = picture(page)
    plain = settled(look)
    symbol(model, "Feasible").hover()
    feasible = changed(look, plain)
    symbol(model, "Viable").hover()
    viable = changed(look, feasible)
    assert viable != plain
    page.get_by_label("Go to cycle").hover()
    eventually(lambda: look() == plain)

    symbol(model, "Feasible").focus()
    eventually(lambda: look() == feasible)
    page.keyboard.press("Tab")  # the nodes in the box come next
    eventually(lambda: look() != feasible)
    symbol(model, "Viable").focus()
    eventually(lambda: look() == viable)
    symbol(model, "Viable").blur()
    eventually(lambda: look() == plain)

    fade = model.get_by_label("On the map, fade all that is not")
    fade.select_option("Viable")
    eventually(lambda: look() == viable)
    symbol(model, "Feasible").hover()
    eventually(lambda: look() == feasible)
    page.get_by_label("Go to cycle").hover()
    eventually(lambda: look() == viable)
    fade.select_option("")
    eventually(lambda: look() == plain)
    # Another tab shows the map as it is.
    fade.select_option("Viable")
    eventually(lambda: look() == viable)
    inspector(page).get_by_role("tab", name="Why").click()
    eventually(lambda: look() == plain)


def test_pods_are_lit_in_the_queues_and_where_they_are_drawn(page: Page, model: Locator) -> None:
    waiting = queues(page).get_by_role("button")
    popped = waiting.filter(has_text="report-nightly-0")
    other = waiting.filter(has_text="search-index-0")
    look = picture(page)
    plain = settled(look)
    symbol(model, "The popped pod").focus()
    changed(look, plain)
    expect(popped).to_have_css("opacity", "1")
    expect(other).to_have_css("opacity", "0.35")
    symbol(model, "Unbound").focus()
    expect(other).to_have_css("opacity", "1")
    symbol(model, "Objects").focus()
    eventually(lambda: look() == plain)
    expect(other).to_have_css("opacity", "1")


def test_it_is_read_copied_and_led_on_from(page: Page, model: Locator, gpu_pool: str) -> None:
    model.get_by_text("As text", exact=True).focus()
    moved = page.evaluate(
        "[...document.querySelectorAll('*')].filter((each) => each.scrollTop > 0)"
        ".map((each) => each.getAttribute('role'))"
    )
    assert moved == ["tabpanel"], "what is below scrolls the tab and not the window"

    formulas = model.get_by_role("math")
    expect(formulas).to_have_count(0)
    model.get_by_role("button", name="Formulas").click()
    expect(formulas.first).to_be_visible()
    assert serious_findings(page) == []

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for form, begin in (("As TLA+", "-" * 20), ("As text", "Cycle 8, shop/report-nightly-0")):
        part = model.get_by_role("group").filter(has_text=form)
        part.get_by_text(form, exact=True).click()
        part.get_by_role("button", name="Copy").click()
        expect(part.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(begin)
        assert "Feasible" in copied

    model.get_by_role("link", name="gpu-1", exact=True).click()
    expect(model.get_by_role("heading", name="Feasibility of gpu-1 FALSE")).to_be_visible()
    expect(page.get_by_label("Go to cycle")).to_have_value("8")

    page.goto(f"/runs/{gpu_pool}/cycles/8/model")
    expect(page.get_by_role("math").first).to_be_visible()
    page.get_by_role("link", name="Without formulas").click()
    expect(page.get_by_role("link", name="With formulas")).to_be_visible()
    expect(page.get_by_role("math")).to_have_count(0)


# ---------------------------------------------------------------- yesterday's names


def test_the_classic_switch_is_among_the_commands_and_below_the_keys(
    page: Page, gpu_pool: str
) -> None:
    explore(page, gpu_pool, "?c=8&p=Score&tab=score")
    pipeline = page.get_by_role("region", name="Pipeline")
    expect(pipeline).to_contain_text("NodeResourcesFit")
    expect(pipeline).not_to_contain_text("LeastRequestedPriority")

    page.keyboard.press("Control+k")
    page.get_by_label("Find a pod, node, cycle or command").fill("former names")
    page.keyboard.press("Enter")
    expect(pipeline).to_contain_text("LeastRequestedPriority")
    expect(queues(page)).to_contain_text("unschedulableQ")
    expect(inspector(page)).to_contain_text("LeastRequestedPriority")
    assert serious_findings(page) == []

    page.reload()
    expect(pipeline).to_contain_text("LeastRequestedPriority")
    page.keyboard.press("?")
    page.get_by_label("Former names beside current ones").uncheck()
    page.keyboard.press("Escape")
    expect(pipeline).not_to_contain_text("LeastRequestedPriority")
